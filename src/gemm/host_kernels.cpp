// Compiled once per instruction set, KERAMOS_HOST_ISA naming it, with the flags that it needs.
#include <keramos/base/export.hpp>
#include <keramos/gemm/kernel/host/micro_kernel.hpp>

#define KERAMOS_STRING_(x) #x
#define KERAMOS_STRING(x) KERAMOS_STRING_(x)

namespace keramos::detail::host::KERAMOS_HOST_ISA {

template <class Types>
const kernel_table<Types>* compiled_kernels() {
  static constexpr kernel_table<Types> table =
      micro_kernel<typename Types::accumulator>::template table<Types>(KERAMOS_STRING(KERAMOS_HOST_ISA));
  return &table;
}
template KERAMOS_EXPORT const kernel_table<types::f32>* compiled_kernels<types::f32>();
template KERAMOS_EXPORT const kernel_table<types::f64>* compiled_kernels<types::f64>();
template KERAMOS_EXPORT const kernel_table<types::i32>* compiled_kernels<types::i32>();

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA
