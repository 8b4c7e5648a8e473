// Which products can be asked for.
#pragma once

#include <type_traits>

#include <keramos/gemm/types.hpp>
#include <keramos/products.hpp>

namespace keramos::detail {

/// Whether the library was compiled for a product: KERAMOS_TYPES may leave some out.
template <class Types>
inline constexpr bool is_compiled = false;
#define KERAMOS_IS_COMPILED(Types, Space) \
  template <>                             \
  inline constexpr bool is_compiled<types::Types> = true;
KERAMOS_FOR_EACH_PRODUCT(KERAMOS_IS_COMPILED, )
#undef KERAMOS_IS_COMPILED

#define KERAMOS_NAME_OF(Types) " " #Types
/// True, or the one error that says what there is.
template <class A, class B, class C>
constexpr bool is_known_product() {
  using found = types_of<A, B, C>;
  constexpr bool known = !std::is_void_v<found>;
  static_assert(
      known,
      "keramos: no product of these element types is known; there are those of (A and B, then C if it has "
      "another):" KERAMOS_FOR_EACH_TYPES(KERAMOS_NAME_OF) "; docs/api.md says which C++ types these are");
  if constexpr (known)
    static_assert(
        is_compiled<found>,
        "keramos: KERAMOS_TYPES left the product of these element types out when the library was configured");
  return known;
}
#undef KERAMOS_NAME_OF

}  // namespace keramos::detail
