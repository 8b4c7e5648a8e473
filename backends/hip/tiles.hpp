// Tiles of the HIP backend. Unmeasured: no device was at hand.
#pragma once

#include <keramos/backends/hip/traits.hpp>
#include <keramos/backends/hip/units.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/tiles.hpp>

namespace keramos::backend {

namespace hip {

// Rows for matrix units. `efficiency` is 0.8 of the instruction's published rate for large tiles and 0.6 for small ones, a guess
// (FLOPs a clock and multiprocessor, of which 256 are 1.00. By AMD's Matrix Instruction Calculator a compute unit does 256 of f64
// and f32; 1024 of bf16, f16 and i8 on gfx90a and of tf32 on gfx942; 2048 of bf16 and f16 there and 4096 of i8; 512 of all on
// RDNA3, whose multiprocessors have two: multiprocessor.hpp). gfx950's rates of short elements are twice gfx942's. Only the rows
// with ping_pong count that; the others have gfx942's. f8 uses gfx942's instructions, so it has gfx942's rate of i8, in all rows.
//
// Large tiles have one stage and two teams: with copies that are held in registers a second stage saves a barrier and nothing
// else, and while one team waits the other multiplies. The largest have eight wavefronts that take turns (ping_pong.hpp) and two
// stages, which fill most of the local memory; 0.9 of the rate is a guess.
//
// Rows for FMA units: gfx90a, LLVM 21, Kokkos 4.6.99, over the layouts of A and B; no scratch is used, SGPRs that spill go to
// VGPRs:
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
#if KERAMOS_HIP_UNITS == 1
    {     0, simt::f64,  {{128, 128,  8}, { 64,  64}, {16, 16,  4},   1,    2, tiling::math_unit::matrix, false}, 0.80},
    {     0, simt::f64,  {{ 64,  64,  8}, { 32,  32}, {16, 16,  4},   2,    3, tiling::math_unit::matrix, true},  0.60},
    {     0, simt::f32,  {{128, 128, 16}, { 64,  64}, {16, 16,  4},   1,    2, tiling::math_unit::matrix, false}, 0.80},
    {     0, simt::f32,  {{ 64,  64, 16}, { 32,  32}, {16, 16,  4},   2,    3, tiling::math_unit::matrix, true},  0.60},
    {     0, simt::f16,  {{128, 128, 32}, { 64,  64}, {16, 16,  4},   1,    2, tiling::math_unit::matrix, false}, 0.80},
    {     0, simt::f16,  {{ 64,  64, 32}, { 32,  32}, {16, 16,  4},   2,    3, tiling::math_unit::matrix, true},  0.60},
    {     0, simt::bf16, {{128, 128, 32}, { 64,  64}, {16, 16, 16},   1,    2, tiling::math_unit::matrix, false}, 3.20},
    {     0, simt::bf16, {{ 64,  64, 32}, { 32,  32}, {16, 16, 16},   2,    3, tiling::math_unit::matrix, true},  2.40},
    {     0, simt::i8,   {{128,  64, 64}, { 64,  32}, {16, 16, 16},   1,    2, tiling::math_unit::matrix, false}, 3.20},
    {     0, simt::i8,   {{ 64,  64, 64}, { 32,  32}, {16, 16, 16},   2,    2, tiling::math_unit::matrix, true},  2.40},
#elif KERAMOS_HIP_UNITS == 2
    {     0, simt::f64,  {{128, 128,  8}, { 64,  64}, {16, 16,  4},   1,    2, tiling::math_unit::matrix, false}, 0.80},
    {     0, simt::f64,  {{ 64,  64,  8}, { 32,  32}, {16, 16,  4},   2,    3, tiling::math_unit::matrix, true},  0.60},
    {     0, simt::f32,  {{128, 128, 16}, { 64,  64}, {16, 16,  4},   1,    2, tiling::math_unit::matrix, false}, 0.80},
    {     0, simt::f32,  {{ 64,  64, 16}, { 32,  32}, {16, 16,  4},   2,    3, tiling::math_unit::matrix, true},  0.60},
#if defined(KERAMOS_HIP_F8_UNITS)
    {     0, simt::f16,  {{256, 256, 64}, {128,  64}, {16, 16, 32},   2,    1, tiling::math_unit::matrix, false, true}, 14.4, simt::serves::single},
    {     0, simt::bf16, {{256, 256, 64}, {128,  64}, {16, 16, 32},   2,    1, tiling::math_unit::matrix, false, true}, 14.4, simt::serves::single},
    {     0, simt::i8,   {{256, 128,128}, { 64,  64}, {16, 16, 64},   2,    1, tiling::math_unit::matrix, false, true}, 28.8, simt::serves::single},
    {     0, simt::f8,   {{256, 256,128}, {128,  64}, {16, 16, 32},   2,    1, tiling::math_unit::matrix, false, true}, 14.4, simt::serves::single},
#else
    {     0, simt::tf32, {{128, 128, 16}, { 64,  64}, {16, 16,  8},   1,    2, tiling::math_unit::matrix, false}, 3.20},
    {     0, simt::tf32, {{ 64,  64, 16}, { 32,  32}, {16, 16,  8},   2,    3, tiling::math_unit::matrix, true},  2.40},
    {     0, simt::f16,  {{256, 128, 32}, { 64,  64}, {16, 16, 16},   2,    1, tiling::math_unit::matrix, false, true}, 7.20, simt::serves::single},
    {     0, simt::bf16, {{256, 128, 32}, { 64,  64}, {16, 16, 16},   2,    1, tiling::math_unit::matrix, false, true}, 7.20, simt::serves::single},
    {     0, simt::i8,   {{256, 128, 64}, { 64,  64}, {16, 16, 32},   2,    1, tiling::math_unit::matrix, false, true}, 14.4, simt::serves::single},
#endif
    {     0, simt::f16,  {{128, 128, 32}, { 64,  64}, {16, 16, 16},   1,    2, tiling::math_unit::matrix, false}, 6.40},
    {     0, simt::f16,  {{ 64,  64, 32}, { 32,  32}, {16, 16, 16},   2,    3, tiling::math_unit::matrix, true},  4.80},
    {     0, simt::bf16, {{128, 128, 32}, { 64,  64}, {16, 16, 16},   1,    2, tiling::math_unit::matrix, false}, 6.40},
    {     0, simt::bf16, {{ 64,  64, 32}, { 32,  32}, {16, 16, 16},   2,    3, tiling::math_unit::matrix, true},  4.80},
    {     0, simt::i8,   {{128,  64, 64}, { 64,  32}, {16, 16, 32},   1,    2, tiling::math_unit::matrix, false}, 12.8},
    {     0, simt::i8,   {{ 64,  64, 64}, { 32,  32}, {16, 16, 32},   2,    2, tiling::math_unit::matrix, true},  9.60},
#if defined(KERAMOS_HIP_F8_UNITS)
    {     0, simt::f8,   {{128,  64, 64}, { 64,  32}, {16, 16, 32},   1,    2, tiling::math_unit::matrix, false}, 12.8},
    {     0, simt::f8,   {{ 64,  64, 64}, { 32,  32}, {16, 16, 32},   2,    2, tiling::math_unit::matrix, true},  9.60},
#endif
#elif KERAMOS_HIP_UNITS == 3
    {     0, simt::f16,  {{128,  64, 32}, { 64,  32}, {16, 16, 16},   1,    2, tiling::math_unit::matrix, false}, 3.20},
    {     0, simt::f16,  {{ 64,  64, 32}, { 32,  32}, {16, 16, 16},   2,    3, tiling::math_unit::matrix, true},  2.40},
    {     0, simt::bf16, {{128,  64, 32}, { 64,  32}, {16, 16, 16},   1,    2, tiling::math_unit::matrix, false}, 3.20},
    {     0, simt::bf16, {{ 64,  64, 32}, { 32,  32}, {16, 16, 16},   2,    3, tiling::math_unit::matrix, true},  2.40},
    {     0, simt::i8,   {{128,  64, 64}, { 64,  32}, {16, 16, 16},   1,    2, tiling::math_unit::matrix, false}, 3.20},
    {     0, simt::i8,   {{ 64,  64, 64}, { 32,  32}, {16, 16, 16},   2,    2, tiling::math_unit::matrix, true},  2.40},
#endif
#if KERAMOS_HIP_UNITS != 1 && KERAMOS_HIP_UNITS != 2
    {     0, simt::f32,  {{128, 128,  8}, { 64,  64}, { 8,  8,  1},   2,    2, tiling::math_unit::fma, false},    1.00},
    {     0, simt::f32,  {{ 64,  64, 16}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.60},
    {     0, simt::f64,  {{128,  64,  8}, { 64,  32}, { 8,  4,  1},   2,    2, tiling::math_unit::fma, false},    1.00},
    {     0, simt::f64,  {{ 64,  64,  8}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.80},
#endif
#if !defined(KERAMOS_HIP_F8_UNITS)
    {     0, simt::f8,   {{ 64,  64, 16}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.50},
#endif
    {     0, simt::i32,  {{128,  64,  8}, { 64,  32}, { 8,  4,  1},   2,    2, tiling::math_unit::fma, false},    1.00},
    {     0, simt::i32,  {{ 64,  64, 16}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.80},
    {     0, simt::c32,  {{128,  64,  8}, { 64,  32}, { 8,  4,  1},   2,    2, tiling::math_unit::fma, false},    0.25},
    {     0, simt::c32,  {{ 64,  64,  8}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.15},
    {     0, simt::c64,  {{ 64,  64,  8}, { 32,  32}, { 4,  4,  1},   2,    2, tiling::math_unit::fma, true},     0.25},
    {     0, simt::f16xf32, {{64,64, 16}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.60},
    {     0, simt::bf16xf32,{{64,64, 16}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.60},
    {     0, simt::f32xc32, {{64,64,  8}, { 32,  32}, { 4,  4,  1},   2,    3, tiling::math_unit::fma, true},     0.30},
    {     0, simt::f64xc64, {{64,64,  8}, { 32,  32}, { 4,  4,  1},   2,    2, tiling::math_unit::fma, true},     0.50},
};
// clang-format on

/// Bytes of operands a clock and compute unit, from the L2 cache: 128 of each of its 32 channels for 110 units of a die (AMD
/// CDNA 2 white paper; 104 on an MI210), 2048 for 38 units of one (AMD CDNA 3 white paper); else those of the model.
constexpr double cache_bytes() {
  return units == matrix_units::cdna2   ? 37
         : units == matrix_units::cdna3 ? 54
                                        : simt::device_model{}.memory_bytes;
}

/// Dies (XCDs) of so many compute units: each has 38 of MI300X and MI300A (AMD CDNA 3 white paper) and 32 of MI350X (AMD CDNA 4
/// white paper), whole or in partitions. HIP does not tell
/// (https://rocm.docs.amd.com/projects/HIP/en/develop/how-to/hipDeviceProperties.html); other numbers count as one die.
constexpr int dies([[maybe_unused]] int compute_units) {
#if defined(KOKKOS_ARCH_AMD_GFX950)
  constexpr int of_die = 32;
#else
  constexpr int of_die = 38;
#endif
  return units == matrix_units::cdna3 && compute_units % of_die == 0 ? compute_units / of_die : 1;
}

}  // namespace hip

template <>
struct tiles<Kokkos::HIP> {
  static constexpr const auto& table = simt::with_converted_types<hip::tile_table>.rows;
  static int arch(const Kokkos::HIP&) { return 0; }
  static simt::device_model model(const Kokkos::HIP& exec) {
    const hipDeviceProp_t& device = exec.hip_device_prop();
    // HIP tells what a team can have of local memory, where it should tell what a multiprocessor has.
    simt::device_model model{device.multiProcessorCount, hip::unit.bytes};
    model.memory_bytes = hip::cache_bytes();
    model.dies = hip::dies(device.multiProcessorCount);
    // Copies that pass registers are held there, not in a stage, while another is multiplied. Rows with ping_pong copy to a stage
    // then; for them it is a guess.
    model.stages_in_use = 0;
    return model;
  }
};

}  // namespace keramos::backend
