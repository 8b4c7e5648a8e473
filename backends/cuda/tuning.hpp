// Tiles of the CUDA backend.
#pragma once

#include <optional>

#include <keramos/backends/cuda/copy.hpp>
#include <keramos/backends/cuda/mma.hpp>
#include <keramos/backends/cuda/traits.hpp>
#include <keramos/backends/simt/tuning.hpp>

namespace keramos::backend {

namespace cuda {

// `arch` is the lowest compute capability (times 10) that a row serves.
// clang-format off
inline constexpr simt::tuning_row tuning_table[] = {
    // arch  type bytes    block           warp        fragment    stages teams  unit                efficiency
    {    50, 'f', 4,  {{128, 128, 16}, { 64,  32}, { 8,  8,  1},   2,    2, tile::unit::fma},    1.00},
    {    50, 'f', 4,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   4,    4, tile::unit::fma},    0.78},
    {    90, 'f', 8,  {{128,  64,  8}, { 64,  32}, {16,  8,  8},   3,    2, tile::unit::matrix}, 1.00},
    {    80, 'f', 8,  {{ 64,  64,  8}, { 32,  32}, {16,  8,  8},   3,    3, tile::unit::matrix}, 0.95},
    {    50, 'f', 8,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   3,    2, tile::unit::fma},    0.45},
    {    50, 'i', 4,  {{128, 128, 16}, { 64,  32}, { 8,  8,  1},   2,    2, tile::unit::fma},    1.00},
    {    50, 'i', 4,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   4,    4, tile::unit::fma},    0.78},
};
// clang-format on

}  // namespace cuda

template <>
struct tuning<Kokkos::Cuda> : simt::table_tuning<Kokkos::Cuda, cuda::tuning_table> {
  template <class T, class Launch>
  static void choose(const Kokkos::Cuda& exec, const gemm_problem<T>& p,
                     const std::optional<tile::shape>& requested, const Launch& launch) {
    const cudaDeviceProp& device = exec.cuda_device_prop();
    choose_row<T>(exec, p, device.major * 10 + device.minor, device.multiProcessorCount, requested,
                  launch);
  }
};

}  // namespace keramos::backend
