// Chooses the compiled kernels for the processor that runs.
#pragma once

#include <keramos/backends/host/kernel_table.hpp>
#include <keramos/config.hpp>

namespace keramos::backend::host {

namespace baseline {
template <class T>
const kernel_table<T>* compiled_kernels();
}
namespace avx2 {
template <class T>
const kernel_table<T>* compiled_kernels();
}
namespace avx512 {
template <class T>
const kernel_table<T>* compiled_kernels();
}

/// The kernels of the widest vectors that both this library and this processor have.
template <class T>
const kernel_table<T>& kernels() {
  static const kernel_table<T>* const best = [] {
#ifdef KERAMOS_HAS_HOST_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
      return avx512::compiled_kernels<T>();
#endif
#ifdef KERAMOS_HAS_HOST_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::compiled_kernels<T>();
#endif
    return baseline::compiled_kernels<T>();
  }();
  return *best;
}

}  // namespace keramos::backend::host
