// Tiles of the SYCL backend. Unmeasured: no device was at hand.
//
// Rows for matrix units: `efficiency` is half of the published rate for large tiles and 0.4 of it for small ones, a guess (a
// Xe core of the Data Center GPU Max does 256 FLOPs of f32 a clock, which are 1.00, 2048 of tf32, 4096 of f16 and bf16, and
// 8192 of i8: "Intel Data Center GPU Max Series Technical Overview"). A sub-group has 32 x 32 or 16 x 32 sums: 64 or 32 of its
// 128 registers.
#pragma once

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/tiles.hpp>
#include <keramos/backends/sycl/traits.hpp>
#include <keramos/backends/sycl/units.hpp>

namespace keramos::backend {

namespace sycl_backend {

// clang-format off
inline constexpr simt::tile_row tile_table[] = {
    // arch  types        block           warp        fragment    stages teams  math        split  efficiency
#if KERAMOS_SYCL_UNITS
    {     0, simt::f16,  {{128, 128, 32}, { 64,  32}, { 8, 16, 16},   2,    1, tiling::math_unit::joint, false},  8.00},
    {     0, simt::f16,  {{ 64,  64, 32}, { 32,  32}, { 8, 16, 16},   2,    2, tiling::math_unit::joint, true},   6.40},
    {     0, simt::bf16, {{128, 128, 32}, { 64,  32}, { 8, 16, 16},   2,    1, tiling::math_unit::joint, false},  8.00},
    {     0, simt::bf16, {{ 64,  64, 32}, { 32,  32}, { 8, 16, 16},   2,    2, tiling::math_unit::joint, true},   6.40},
    {     0, simt::i8,   {{128, 128, 64}, { 64,  32}, { 8, 16, 32},   2,    1, tiling::math_unit::joint, false},  16.0},
    {     0, simt::i8,   {{ 64,  64, 64}, { 32,  32}, { 8, 16, 32},   2,    2, tiling::math_unit::joint, true},   12.8},
    {     0, simt::tf32, {{128, 128, 16}, { 64,  32}, { 8, 16,  8},   2,    1, tiling::math_unit::joint, false},  4.00},
    {     0, simt::tf32, {{ 64,  64, 16}, { 32,  32}, { 8, 16,  8},   2,    2, tiling::math_unit::joint, true},   3.20},
#endif
    {     0, simt::f32,  {{128, 128,  8}, { 64,  32}, { 8,  8,  1},   2,    1, tiling::math_unit::fma, false},    1.00},
    {     0, simt::f32,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   2,    2, tiling::math_unit::fma, true},     0.60},
    {     0, simt::f64,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   2,    1, tiling::math_unit::fma, true},     1.00},
    {     0, simt::i32,  {{128, 128,  8}, { 64,  32}, { 8,  8,  1},   2,    1, tiling::math_unit::fma, false},    1.00},
    {     0, simt::c32,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   2,    1, tiling::math_unit::fma, true},     0.25},
    {     0, simt::c64,  {{ 64,  32,  8}, { 32,  16}, { 4,  4,  1},   2,    1, tiling::math_unit::fma, true},     0.25},
    {     0, simt::f16xf32, {{64,64,  8}, { 32,  32}, { 8,  4,  1},   2,    2, tiling::math_unit::fma, true},     0.60},
    {     0, simt::bf16xf32,{{64,64,  8}, { 32,  32}, { 8,  4,  1},   2,    2, tiling::math_unit::fma, true},     0.60},
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
    return {sycl_backend::units_of(device),
            std::size_t(device.get_info<::sycl::info::device::local_mem_size>())};
  }
};

}  // namespace keramos::backend
