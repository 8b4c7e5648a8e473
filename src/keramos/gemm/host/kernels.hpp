// Chooses the compiled kernels for the processor that runs.
#pragma once

#include <algorithm>
#include <cstddef>

#include <keramos/backends/host/caches.hpp>
#include <keramos/backends/host/versions.hpp>
#include <keramos/base/export.hpp>
#include <keramos/gemm/host/kernel_table.hpp>

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
namespace avx512_vnni {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace avx512_bf16 {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace amx {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace neon_dot {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace sve256 {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}
namespace sve512 {
template <class Types>
KERAMOS_EXPORT const kernel_table<Types>* compiled_kernels();
}

/// The kernels with no more rows in a block than half of a second-level cache of `cache_bytes` holds.
template <class Types>
kernel_table<Types> fitted(kernel_table<Types> kernels, std::size_t cache_bytes) {
  const std::size_t panel = sizeof(typename Types::accumulator) * kernels.packed(kernels.kc) * kernels.mr;
  const std::size_t panels = cache_bytes / 2 / panel;
  kernels.mc = kernels.mr * int(std::clamp<std::size_t>(panels, 1, kernels.mc / kernels.mr));
  return kernels;
}

/// What backend::host::for_each_version takes.
template <class Types>
struct compiled_tables {
  auto baseline() const { return baseline::compiled_kernels<Types>(); }
  auto avx2() const { return avx2::compiled_kernels<Types>(); }
  auto avx512() const { return avx512::compiled_kernels<Types>(); }
  auto avx512_vnni() const requires(multiplies_bytes<Types>) {
    return avx512_vnni::compiled_kernels<Types>();
  }
  auto avx512_bf16() const requires(multiplies_as_bf16<Types>) {
    return avx512_bf16::compiled_kernels<Types>();
  }
  auto amx() const requires(multiplies_bytes<Types> || multiplies_as_bf16<Types>) {
    return amx::compiled_kernels<Types>();
  }
  auto neon_dot() const requires(multiplies_bytes<Types>) { return neon_dot::compiled_kernels<Types>(); }
  auto sve256() const { return sve256::compiled_kernels<Types>(); }
  auto sve512() const { return sve512::compiled_kernels<Types>(); }
};

/// Those that GEMM uses on this machine.
template <class Types>
const kernel_table<Types>& kernels() {
  static const kernel_table<Types> chosen = fitted(*backend::host::best_version(compiled_tables<Types>()),
                                                   backend::host::second_level_cache_bytes());
  return chosen;
}

}  // namespace keramos::detail::host
