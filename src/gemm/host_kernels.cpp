// Compiled once per instruction set, KERAMOS_HOST_ISA naming it, with the flags that it needs; with KERAMOS_HOST_ALONE
// for the elements, KERAMOS_HOST_BF16 and KERAMOS_HOST_I8, that its instructions are for, and KERAMOS_HOST_MATRIX where
// these use matrix registers.
#include <type_traits>

#include <keramos/backends/host/products.hpp>
#include <keramos/base/export.hpp>
#include <keramos/gemm/host/complex_kernel.hpp>
#include <keramos/gemm/host/matrix_tile.hpp>
#include <keramos/gemm/host/micro_kernel.hpp>
#include <keramos/gemm/host/real_complex_kernel.hpp>
#include <keramos/gemm/host/vector_tile.hpp>
#include <keramos/products.hpp>

#define KERAMOS_STRING_(x) #x
#define KERAMOS_STRING(x) KERAMOS_STRING_(x)

namespace keramos::detail::host::KERAMOS_HOST_ISA {

/// The register tile for elements of such types, with sums of type T.
template <tiling::operand_types Operands, class T, class Matrix = typename matrix_product_of<Operands>::type>
struct tile_of {
  using type = matrix_tile<Matrix>;
};
template <tiling::operand_types Operands, class T>
struct tile_of<Operands, T, void> {
  using type = vector_tile<T, typename product_of<Operands, T>::type>;
};

/// Whether this instruction set has kernels of its own for a product.
template <class Types>
constexpr bool is_compiled_here() {
  if (Types::needs_matrix_units) return false;
#ifdef KERAMOS_HOST_ALONE
  bool here = false;
#ifdef KERAMOS_HOST_BF16
  here = here || multiplies_as_bf16<Types>;
#endif
#ifdef KERAMOS_HOST_I8
  here = here || multiplies_bytes<Types>;
#endif
  return here;
#else
  return true;
#endif
}

template <class Types>
const kernel_table<Types>* compiled_kernels() {
  static constexpr const char* isa = KERAMOS_STRING(KERAMOS_HOST_ISA);
  if constexpr (!is_compiled_here<Types>()) {
    return nullptr;
  } else if constexpr (is_complex<typename Types::a>) {
    using number = typename Types::accumulator::value_type;
    static constexpr kernel_table<Types> table = complex_kernel<number>::template table<Types>(isa);
    return &table;
  } else if constexpr (Types::is_complex) {
    static constexpr kernel_table<Types> table =
        real_complex_kernel<typename Types::a>::template table<Types>(isa);
    return &table;
  } else {
#ifdef KERAMOS_HOST_MATRIX
    static_assert(
        !std::is_void_v<typename matrix_product_of<Types::operands>::type>,
        "backends/host/amx.hpp does not know this compiler's macros: vectors would bear the name of AMX");
#endif
    using tile = typename tile_of<Types::operands, typename Types::accumulator>::type;
    static constexpr kernel_table<Types> table =
        micro_kernel<tile, !Types::transposable>::template table<Types>(isa);
    return &table;
  }
}
#define KERAMOS_COMPILE(Name, None) \
  template KERAMOS_EXPORT const kernel_table<types::Name>* compiled_kernels<types::Name>();
KERAMOS_FOR_EACH_PRODUCT(KERAMOS_COMPILE, )

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA
