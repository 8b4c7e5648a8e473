// Tiles of the SYCL backend. Unmeasured: no device was at hand.
#pragma once

#include <optional>

#include <keramos/backends/simt/tuning.hpp>
#include <keramos/backends/sycl/copy.hpp>
#include <keramos/backends/sycl/mma.hpp>
#include <keramos/backends/sycl/traits.hpp>
#include <keramos/core/workspace.hpp>

namespace keramos::backend {

namespace sycl {

// clang-format off
inline constexpr simt::tuning_row tuning_table[] = {
    // arch  type bytes    block           warp        fragment    stages teams  unit        split  efficiency
    {     0, 'f', 4,  {{128, 128,  8}, { 64,  32}, { 8,  8,  1},   2,    1, tiling::unit::fma, false},    1.00},
    {     0, 'f', 4,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   2,    2, tiling::unit::fma, true},     0.60},
    {     0, 'f', 8,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   2,    1, tiling::unit::fma, true},     1.00},
    {     0, 'i', 4,  {{128, 128,  8}, { 64,  32}, { 8,  8,  1},   2,    1, tiling::unit::fma, false},    1.00},
};
// clang-format on

}  // namespace sycl

template <>
struct tuning<sycl_space> : simt::table_tuning<sycl_space, sycl::tuning_table> {
  static int arch(const sycl_space&) { return 0; }
  static simt::device_size size(const sycl_space& exec) {
    const auto device = exec.sycl_queue().get_device();
    return {int(device.template get_info<sycl::info::device::max_compute_units>()),
            std::size_t(device.template get_info<sycl::info::device::local_mem_size>())};
  }
  template <class T, class Launch>
  static void choose(const sycl_space& exec, detail::workspace<sycl_space>& memory, const gemm_problem<T>& p,
                     const std::optional<tiling::shape>& requested, const Launch& launch) {
    choose_row<T>(exec, memory, p, requested, launch);
  }
};

}  // namespace keramos::backend
