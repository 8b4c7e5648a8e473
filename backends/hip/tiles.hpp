// Tiles of the HIP backend. Unmeasured: no device was at hand.
#pragma once

#include <keramos/backends/hip/traits.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/tiles.hpp>

namespace keramos::backend {

namespace hip {

// gfx90a, LLVM 21, Kokkos 4.6.99, over the layouts of A and B; no scratch is used, SGPRs that spill go to VGPRs:
//   f32 128x128x8  161-173 VGPRs, 17 KB of LDS
//   f32 64x64x16   75-89 VGPRs, 17 KB
//   f64 128x64x8   164-168 VGPRs, 26 KB
//   f64 64x64x8    113-115 VGPRs, 17 KB
//   i32 128x64x8   131-138 VGPRs, 13 KB
//   i32 64x64x16   95 VGPRs, 17 KB
// A SIMD unit holds two wavefronts of up to 256 VGPRs, three of 168 and four of 128; a team has one on each of four,
// and three teams are as many as 64 KB of LDS hold of most rows.
// clang-format off
inline constexpr simt::tile_row tile_table[] = {
    // arch  types        block           warp        fragment    stages teams  math        split  efficiency
    {     0, simt::f32,  {{128, 128,  8}, { 64,  64}, { 8,  8,  1},   2,    2, tiling::math_unit::fma, false},    1.00},
    {     0, simt::f32,  {{ 64,  64, 16}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.60},
    {     0, simt::f64,  {{128,  64,  8}, { 64,  32}, { 8,  4,  1},   2,    2, tiling::math_unit::fma, false},    1.00},
    {     0, simt::f64,  {{ 64,  64,  8}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.80},
    {     0, simt::i32,  {{128,  64,  8}, { 64,  32}, { 8,  4,  1},   2,    2, tiling::math_unit::fma, false},    1.00},
    {     0, simt::i32,  {{ 64,  64, 16}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.80},
    {     0, simt::c32,  {{128,  64,  8}, { 64,  32}, { 8,  4,  1},   2,    2, tiling::math_unit::fma, false},    0.25},
    {     0, simt::c32,  {{ 64,  64,  8}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.15},
    {     0, simt::c64,  {{ 64,  64,  8}, { 32,  32}, { 4,  4,  1},   2,    2, tiling::math_unit::fma, true},     0.25},
    {     0, simt::f16xf32, {{64,64, 16}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.60},
    {     0, simt::f32xc32, {{64,64,  8}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.30},
    {     0, simt::f64xc64, {{64,64,  8}, { 32,  32}, { 4,  4,  1},   2,    2, tiling::math_unit::fma, true},     0.50},
};
// clang-format on

}  // namespace hip

template <>
struct tiles<Kokkos::HIP> {
  static constexpr const auto& table = simt::with_converted_types<hip::tile_table>.rows;
  static int arch(const Kokkos::HIP&) { return 0; }
  static simt::device_model model(const Kokkos::HIP& exec) {
    const hipDeviceProp_t& device = exec.hip_device_prop();
    return {device.multiProcessorCount, device.maxSharedMemoryPerMultiProcessor};
  }
};

}  // namespace keramos::backend
