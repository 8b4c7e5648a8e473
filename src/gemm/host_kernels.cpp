// Compiled once per instruction set, KERAMOS_HOST_ISA naming it, with the flags that it needs.
#include <keramos/base/export.hpp>
#include <keramos/gemm/kernel/host/micro_kernel.hpp>

#define KERAMOS_STRING_(x) #x
#define KERAMOS_STRING(x) KERAMOS_STRING_(x)

namespace keramos::detail::host::KERAMOS_HOST_ISA {

template <class T>
const kernel_table<T>* compiled_kernels() {
  static constexpr kernel_table<T> table = micro_kernel<T>::table(KERAMOS_STRING(KERAMOS_HOST_ISA));
  return &table;
}
template KERAMOS_EXPORT const kernel_table<float>* compiled_kernels<float>();
template KERAMOS_EXPORT const kernel_table<double>* compiled_kernels<double>();
template KERAMOS_EXPORT const kernel_table<std::uint32_t>* compiled_kernels<std::uint32_t>();

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA
