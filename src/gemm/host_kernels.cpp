// Compiled once per instruction set, KERAMOS_HOST_ISA naming it, with the flags that it needs; with KERAMOS_HOST_ALONE
// for the one type of elements, KERAMOS_HOST_BF16 or KERAMOS_HOST_I8, that its instructions are for.
#include <keramos/backends/host/products.hpp>
#include <keramos/base/export.hpp>
#include <keramos/gemm/kernel/host/complex_kernel.hpp>
#include <keramos/gemm/kernel/host/micro_kernel.hpp>

#define KERAMOS_STRING_(x) #x
#define KERAMOS_STRING(x) KERAMOS_STRING_(x)

namespace keramos::detail::host::KERAMOS_HOST_ISA {

template <class Types>
const kernel_table<Types>* compiled_kernels() {
  static constexpr const char* isa = KERAMOS_STRING(KERAMOS_HOST_ISA);
  if constexpr (Types::is_complex) {
    using number = typename Types::accumulator::value_type;
    static constexpr kernel_table<Types> table = complex_kernel<number>::template table<Types>(isa);
    return &table;
  } else {
    using T = typename Types::accumulator;
    using product = typename product_of<Types::operands, T>::type;
    static constexpr kernel_table<Types> table = micro_kernel<T, product>::template table<Types>(isa);
    return &table;
  }
}
#define KERAMOS_COMPILE(Types) template KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels<Types>();
#ifndef KERAMOS_HOST_ALONE
KERAMOS_COMPILE(types::f32)
KERAMOS_COMPILE(types::f64)
KERAMOS_COMPILE(types::i32)
KERAMOS_COMPILE(types::c32)
KERAMOS_COMPILE(types::c64)
KERAMOS_COMPILE(types::f16)
KERAMOS_COMPILE(types::f16_f32)
#endif
#if !defined(KERAMOS_HOST_ALONE) || defined(KERAMOS_HOST_BF16)
KERAMOS_COMPILE(types::bf16)
KERAMOS_COMPILE(types::bf16_f32)
#endif
#if !defined(KERAMOS_HOST_ALONE) || defined(KERAMOS_HOST_I8)
KERAMOS_COMPILE(types::i8_i32)
#endif

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA
