// Chooses the compiled kernels for the processor that runs.
#pragma once

#include <algorithm>
#include <cstddef>

#include <keramos/backends/host/caches.hpp>
#include <keramos/base/export.hpp>
#include <keramos/config.hpp>
#include <keramos/gemm/kernel/host/kernel_table.hpp>

namespace keramos::detail::host {

namespace baseline {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace avx2 {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace avx512 {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}

/// The kernels with no more rows in a block than half of a second-level cache of so many bytes holds.
template <class Types>
kernel_table<Types> fitted(kernel_table<Types> kernels, std::size_t cache_bytes) {
  const std::size_t panels =
      cache_bytes / 2 / (sizeof(typename Types::accumulator) * kernels.kc * kernels.mr);
  kernels.mc = kernels.mr * int(std::clamp<std::size_t>(panels, 1, kernels.mc / kernels.mr));
  return kernels;
}

/// The kernels of the widest vectors that both this library and this processor have.
template <class Types>
const kernel_table<Types>& widest_kernels() {
#ifdef KERAMOS_HAS_HOST_AVX512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return *avx512::compiled_kernels<Types>();
#endif
#ifdef KERAMOS_HAS_HOST_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return *avx2::compiled_kernels<Types>();
#endif
  return *baseline::compiled_kernels<Types>();
}

/// Those that GEMM uses on this machine.
template <class Types>
const kernel_table<Types>& kernels() {
  static const kernel_table<Types> chosen =
      fitted(widest_kernels<Types>(), backend::host::second_level_cache_bytes());
  return chosen;
}

}  // namespace keramos::detail::host
