// Tiles of the CUDA backend.
#pragma once

#include <optional>

#include <keramos/backends/cuda/copy.hpp>
#include <keramos/backends/cuda/mma.hpp>
#include <keramos/backends/cuda/traits.hpp>
#include <keramos/backends/simt/tuning.hpp>
#include <keramos/core/workspace.hpp>

namespace keramos::backend {

namespace cuda {

// `arch` is the lowest compute capability (times 10) that a row serves. Measured on sm_90 only.
//
// H200, CUDA 13.0, TFLOP/s, NN NT TN TT (cuBLAS 13.1: f32 pedantic 51.3 50.4 51.8 49.3, f64 62.9 62.6 61.5
// 61.5 at n = 4096); registers by -Xptxas -v, none spill; SASS of one slab in the main loop:
//   f32 128x128x16  126-128 registers; 1024 FFMA, 64 LDS.128, 4 LDGSTS.128 (TN) to 16 LDGSTS.32 (NT), 45 to
//                   65 others; n = 8192: 51.8 49.1 52.7 52.0. Issue slots 87 % busy: FMAs share them with
//                   all else, and each copy of an operand that runs along k moves one element.
//   f64 128x64x8    38,400 bytes of scratch; n = 4096: 56.4 53.3 56.6 55.6
//   f64 64x64x8     122-125 registers; 8 DMMA.16x8x8, 16 LDS.64, 4 LDGSTS.128, 57 others; n = 4096: 56.2
//                   52.1 53.9 54.4. Tensor cores 91 % busy in one launch alone; 7.4 TB/s from the L2 cache.
// clang-format off
inline constexpr simt::tuning_row tuning_table[] = {
    // arch  type bytes    block           warp        fragment    stages teams  unit                efficiency
    {    50, 'f', 4,  {{128, 128, 16}, { 64,  32}, { 8,  8,  1},   2,    2, tile::unit::fma},    1.00},
    {    50, 'f', 4,  {{ 64,  64, 16}, { 32,  32}, { 8,  4,  1},   2,    4, tile::unit::fma},    0.80},
    {    90, 'f', 8,  {{128,  64,  8}, { 64,  32}, {16,  8,  8},   3,    2, tile::unit::matrix}, 1.00},
    {    80, 'f', 8,  {{ 64,  64,  8}, { 32,  32}, {16,  8,  8},   3,    4, tile::unit::matrix}, 0.97},
    {    50, 'f', 8,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   3,    2, tile::unit::fma},    0.45},
    {    50, 'i', 4,  {{128, 128, 16}, { 64,  32}, { 8,  8,  1},   2,    2, tile::unit::fma},    1.00},
    {    50, 'i', 4,  {{ 64,  64, 16}, { 32,  32}, { 8,  4,  1},   2,    4, tile::unit::fma},    0.80},
};
// clang-format on

}  // namespace cuda

template <>
struct tuning<Kokkos::Cuda> : simt::table_tuning<Kokkos::Cuda, cuda::tuning_table> {
  static int arch(const Kokkos::Cuda& exec) {
    return exec.cuda_device_prop().major * 10 + exec.cuda_device_prop().minor;
  }
  static int units(const Kokkos::Cuda& exec) { return exec.cuda_device_prop().multiProcessorCount; }

  template <class T, class Launch>
  static void choose(const Kokkos::Cuda& exec, detail::workspace<Kokkos::Cuda>& /*memory*/,
                     const gemm_problem<T>& p, const std::optional<tile::shape>& requested,
                     const Launch& launch) {
    choose_row<T>(exec, p, arch(exec), units(exec), requested, launch);
  }
};

}  // namespace keramos::backend
