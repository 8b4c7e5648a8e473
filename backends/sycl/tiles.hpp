// Tiles of the SYCL backend. Unmeasured: no device was at hand.
#pragma once

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/tiles.hpp>
#include <keramos/backends/sycl/traits.hpp>

namespace keramos::backend {

namespace sycl_backend {

// clang-format off
inline constexpr simt::tile_row tile_table[] = {
    // arch  types        block           warp        fragment    stages teams  math        split  efficiency
    {     0, simt::f32,  {{128, 128,  8}, { 64,  32}, { 8,  8,  1},   2,    1, tiling::math_unit::fma, false},    1.00},
    {     0, simt::f32,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   2,    2, tiling::math_unit::fma, true},     0.60},
    {     0, simt::f64,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   2,    1, tiling::math_unit::fma, true},     1.00},
    {     0, simt::i32,  {{128, 128,  8}, { 64,  32}, { 8,  8,  1},   2,    1, tiling::math_unit::fma, false},    1.00},
    {     0, simt::c32,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   2,    1, tiling::math_unit::fma, true},     0.25},
    {     0, simt::c64,  {{ 64,  32,  8}, { 32,  16}, { 4,  4,  1},   2,    1, tiling::math_unit::fma, true},     0.25},
    {     0, simt::f16xf32, {{64,64,  8}, { 32,  32}, { 8,  4,  1},   2,    2, tiling::math_unit::fma, true},     0.60},
    {     0, simt::f32xc32, {{64,64,  8}, { 32,  32}, { 8,  4,  1},   2,    1, tiling::math_unit::fma, true},     0.50},
    {     0, simt::f64xc64, {{64,32,  8}, { 32,  16}, { 4,  4,  1},   2,    1, tiling::math_unit::fma, true},     0.50},
};
// clang-format on

}  // namespace sycl_backend

template <>
struct tiles<sycl_space> {
  static constexpr const auto& table = simt::with_converted_types<sycl_backend::tile_table>.rows;
  static int arch(const sycl_space&) { return 0; }
  static simt::device_model model(const sycl_space& exec) {
    const auto device = exec.sycl_queue().get_device();
    return {int(device.template get_info<::sycl::info::device::max_compute_units>()),
            std::size_t(device.template get_info<::sycl::info::device::local_mem_size>())};
  }
};

}  // namespace keramos::backend
