// Which products can be asked for.
#pragma once

#include <type_traits>

#include <keramos/config.hpp>
#include <keramos/gemm/types.hpp>

namespace keramos::detail {

/// Whether the library was compiled for a product: KERAMOS_TYPES may leave some out.
template <class Types>
inline constexpr bool is_compiled = false;
#define KERAMOS_IS_COMPILED(Types, Space) \
  template <>                             \
  inline constexpr bool is_compiled<types::Types> = true;
KERAMOS_FOR_EACH_PRODUCT(KERAMOS_IS_COMPILED, )
#undef KERAMOS_IS_COMPILED

/// True, or the one error that says what there is.
template <class A, class B, class C>
constexpr bool is_known_product() {
  using found = types_of<A, B, C>;
  constexpr bool known = !std::is_void_v<found>;
  static_assert(
      known,
      "keramos: no product of these element types is known: A, B and C must be all float, all double, "
      "all std::int32_t, all complex of float or of double, all float16 or all bfloat16, of which "
      "C may be float; or A and B std::int8_t or std::uint8_t and C one of these or std::int32_t; or A and B "
      "float8_e4m3 or "
      "float8_e5m2 and C float16, bfloat16 or float");
  if constexpr (known)
    static_assert(
        is_compiled<found>,
        "keramos: KERAMOS_TYPES left the product of these element types out when the library was configured");
  return known;
}

}  // namespace keramos::detail
