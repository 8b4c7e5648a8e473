// How the GPU backends multiply batches of small matrices (src/keramos/gemm/kernel/small_batch.hpp): a table by size.
#pragma once

#include <keramos/base/macros.hpp>
#include <keramos/base/scalar_type.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::backend::simt {

/// How a team multiplies small matrices.
struct small_config {
  scalar_type type;  ///< f16 stands for bf16 too: elements of two bytes, whose sums are f32
  int size;          ///< C is at most size x size, or tiled so
  int k;             ///< columns of a k-tile
  int tm, tn;        ///< tile of a thread
  int problems;      ///< in a team
  int stages;        ///< k-tiles in flight in local memory
  int teams;         ///< per multiprocessor to leave registers for, where copies are of 16 bytes
  /// With matrix units a warp has 8 x 4 lanes, of 16 x 8 fragments of C (backend::mma::multiply_16x8).
  tiling::math_unit math = tiling::math_unit::fma;
  int turns = 1;  ///< problems that the same threads multiply one after the other

  /// Copies of elements need more registers.
  constexpr int teams_of(bool vectors) const { return vectors ? teams : (teams + 1) / 2; }
  KERAMOS_FUNCTION constexpr bool matrix() const { return math == tiling::math_unit::matrix; }
  constexpr int lanes_m() const { return matrix() ? 8 : size / tm; }
  constexpr int lanes_n() const { return matrix() ? 4 : size / tn; }
  /// Matrix units that load their elements multiply at least 16 rows, of which 8 may not be used.
  constexpr int rows() const { return type == scalar_type::f16 && size < 16 ? 16 : size; }
  constexpr int threads_of_problem() const { return rows() / tm * (size / tn); }
  constexpr int threads() const { return problems / turns * threads_of_problem(); }
};

// Where the batch is the slowest index, problems are copied along their rows; where it is the fastest, teams
// hold at least a sector of memory (32 bytes) of neighbours, and k-tiles are short. Measured on an H200 only: GB/s
// read and written of square matrices of that size, in 16-byte copies, where c = a + b reaches 4230. Registers 32
// to 96, no spills (interleaved up to 128); with copies of elements the rows of 32 spill up to 310 bytes.
// clang-format off
inline constexpr small_config small_table[] = {
    // type         size  k  tm  tn  problems stages teams   GB/s
    {scalar_type::f32,   4,  4, 1,  4,  16,      2,     24},  // 3748
    {scalar_type::f32,   8,  8, 2,  4,   8,      2,     22},  // 3778
    {scalar_type::f32,  16, 16, 2,  4,   2,      2,     22},  // 3868
    {scalar_type::f32,  32, 32, 4,  4,   1,      1,     16},  // 3871
    {scalar_type::f64,   4,  4, 1,  2,   8,      2,     24},  // 3824
    {scalar_type::f64,   8,  8, 2,  2,   8,      2,     12},  // 3904
    {scalar_type::f64,  16, 16, 2,  2,   2,      1,     14},  // 4047
    {scalar_type::f64,  32, 32, 4,  4,   1,      1,     10},  // 4013
    {scalar_type::f64,  16, 16, 2,  4,   2,      1,     14, tiling::math_unit::matrix},  // 4246
    {scalar_type::f64,  32, 16, 4,  4,   1,      2,     10, tiling::math_unit::matrix},  // 4184
    {scalar_type::f16,   8, 16, 2,  2,  16,      1,      7, tiling::math_unit::matrix, 4},
    {scalar_type::f16,  16, 16, 2,  4,   4,      1,     16, tiling::math_unit::matrix, 2},
    {scalar_type::f16,  32, 32, 2,  8,   2,      1,      8, tiling::math_unit::matrix},
};
inline constexpr small_config interleaved_table[] = {
    {scalar_type::f32,   4,  4, 4,  4, 128,      2,      6},  // 4044
    {scalar_type::f32,   8,  8, 4,  4,  64,      1,      4},  // 3954
    {scalar_type::f32,  16,  4, 4,  4,  16,      3,      4},  // 3094
    {scalar_type::f32,  32,  4, 8,  8,  16,      2,      2},  // 2578
    {scalar_type::f64,   4,  4, 2,  4,  32,      2,     10},  // 4120
    {scalar_type::f64,   8,  4, 2,  4,  32,      2,      3},  // 3962
    {scalar_type::f64,  16,  4, 4,  4,  16,      2,      3},  // 3719
    {scalar_type::f64,  32,  2, 8,  4,   8,      2,      2},  // 2526
};
// clang-format on

/// The most rows and columns of a problem that is small, if the batch is not its fastest index: the largest size above.
inline constexpr int largest_small = 32;

}  // namespace keramos::backend::simt
