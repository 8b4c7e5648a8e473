// Which kernel of small_batch.hpp a batch gets, and its launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <keramos/base/error.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/gemm/kernel/small_batch.hpp>

namespace keramos::detail::simt {

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
inline constexpr int largest_small = 32;

/// The row for a size; one without threads if there is none. Integers take as many bytes and registers as f32, and its
/// rows.
template <class Types>
constexpr small_config small_config_for(int size, bool interleaved,
                                        tiling::math_unit math = tiling::math_unit::fma) {
  const auto* const first = interleaved ? std::begin(interleaved_table) : std::begin(small_table);
  const auto* const last = interleaved ? std::end(interleaved_table) : std::end(small_table);
  constexpr scalar_type type = Types::operands.a == scalar_type::i32 ? scalar_type::f32 : Types::operands.a;
  for (const auto* c = first; c != last; ++c)
    if (c->type == type && c->size == size && c->math == math) return *c;
  return {};
}

/// Whether the tables are for these types at all.
template <class Types>
inline constexpr bool has_small_rows = Types::uniform&& small_config_for<Types>(4, false).size > 0;

template <class Exec, class Types, small_config C, small_access Access, class Batch, class Epilogue>
void launch_small_batch(const Exec& exec, const Batch& batch, const gemm_problem<Types>& largest,
                        const Epilogue& epilogue) {
  using kernel = small_batch_kernel<Exec, Types, C, Access, Batch, Epilogue>;
  static_assert(sizeof(kernel) <= 350,
                "keramos: with more Kokkos would pass the functor through constant memory and wait");
  const kernel k(batch, largest, epilogue);
  if (k.league() > std::numeric_limits<int>::max())
    throw launch_error("keramos::gemm_batched: " + std::to_string(batch.size()) +
                       " problems need more than 2^31 - 1 teams; split the batch");
  team_launch<kernel::team_size, kernel::teams_per_unit>("keramos::gemm_batched", exec, int(k.league()),
                                                         kernel::local_bytes, k);
}

/// On matrix units where there are some, and a row that uses them; that of 16 spills where elements are copied one
/// by one.
template <class Exec, class Types, int Size, small_access Access, class Batch, class Epilogue>
void launch_small_size(const Exec& exec, const Batch& batch, const gemm_problem<Types>& largest,
                       const Epilogue& epilogue) {
  constexpr small_config matrix =
      small_config_for<Types>(Size, Access.interleaved, tiling::math_unit::matrix);
  if constexpr (backend::mma<Exec>::template has_matrix_unit<typename Types::accumulator> &&
                matrix.size > 0 && (Access.vectors || Size > 16)) {
    if (backend::mma<Exec>::matrix_unit_works(exec))
      return launch_small_batch<Exec, Types, matrix, Access>(exec, batch, largest, epilogue);
  }
  launch_small_batch<Exec, Types, small_config_for<Types>(Size, Access.interleaved), Access>(
      exec, batch, largest, epilogue);
}

/// Calls `run(size)` with the smallest size of the tables that holds a C of `extent` columns and rows.
template <class Run>
void with_small_size(index_t extent, const Run& run) {
  if (extent <= 4)
    run(std::integral_constant<int, 4>());
  else if (extent <= 8)
    run(std::integral_constant<int, 8>());
  else if (extent <= 16)
    run(std::integral_constant<int, 16>());
  else
    run(std::integral_constant<int, 32>());
}

/// Whether the batch is the fastest index of what is read or written most.
template <class Types>
bool is_interleaved(const uniform_batch<Types>& batch) {
  const auto across = [](const batch_place& place, index_t s, index_t t) {
    return !place.addresses && place.stride == 1 && s != 1 && t != 1;
  };
  const gemm_problem<Types>& p = batch.shape;
  const bool a = across(batch.a, p.a.stride_mn, p.a.stride_k),
             b = across(batch.b, p.b.stride_mn, p.b.stride_k);
  return across(batch.c, p.c_row_stride, p.c_col_stride) ? a || b || p.k == 1 : a && b;
}

/// All problems of a batch of one shape, if they are small enough. `shape` is its representative.
template <class Exec, class Types, class Epilogue>
bool run_small_batch(const Exec& exec, const uniform_batch<Types>& batch, const gemm_problem<Types>& shape,
                     const Epilogue& epilogue) {
  using T = typename Types::accumulator;
  using tiling::direction;
  const index_t extent = std::max(shape.m, shape.n);
  const bool interleaved = is_interleaved(batch);
  // 16 bytes of the same place in neighbouring problems.
  constexpr int vector = 16 / int(sizeof(T));
  const auto across_in_vectors = [](const T* data, index_t batch_stride, index_t s, index_t t) {
    return batch_stride == 1 && s % vector == 0 && t % vector == 0 &&
           reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  };
  const bool vectors_across =
      interleaved &&
      across_in_vectors(batch.shape.a.data, batch.a.stride, batch.shape.a.stride_mn,
                        batch.shape.a.stride_k) &&
      across_in_vectors(batch.shape.b.data, batch.b.stride, batch.shape.b.stride_mn, batch.shape.b.stride_k);
  if (extent > largest_small && !interleaved) return false;
  const bool a_k = shape.a.stride_k == 1 && shape.a.stride_mn != 1;
  const bool b_k = shape.b.stride_k == 1 && shape.b.stride_mn != 1;
  const auto in_vectors = [](const tiling::operand<T>& x, bool along_k) {
    return along_k ? runs_in_vectors(x.data, x.stride_k, x.stride_mn)
                   : runs_in_vectors(x.data, x.stride_mn, x.stride_k);
  };
  const bool vectors = in_vectors(shape.a, a_k) && in_vectors(shape.b, b_k) &&
                       runs_in_vectors<T>(shape.c, shape.c_col_stride, shape.c_row_stride);
  with_small_size(extent, [&](auto size) {
    const auto run = [&](auto a, auto b, auto in_vectors) {
      launch_small_size<Exec, Types, size(), small_access{a(), b(), in_vectors(), false}>(exec, batch, shape,
                                                                                          epilogue);
    };
    const auto with_vectors = [&](auto a, auto b) {
      vectors ? run(a, b, std::true_type()) : run(a, b, std::false_type());
    };
    using mn = std::integral_constant<direction, direction::mn>;
    using k = std::integral_constant<direction, direction::k>;
    const auto run_across = [&](auto in_vectors) {
      launch_small_size<Exec, Types, size(), small_access{direction::mn, direction::k, in_vectors(), true}>(
          exec, batch, shape, epilogue);
    };
    if (interleaved)
      vectors_across ? run_across(std::true_type()) : run_across(std::false_type());
    else if (a_k)
      b_k ? with_vectors(k(), k()) : with_vectors(k(), mn());
    else
      b_k ? with_vectors(mn(), k()) : with_vectors(mn(), mn());
  });
  return true;
}

/// All problems of a group, which fit (is_small_group): any strides.
template <class Exec, class Types, class Epilogue>
bool run_small_batch(const Exec& exec, const grouped_batch<Types>& batch, const gemm_problem<Types>& largest,
                     const Epilogue& epilogue) {
  with_small_size(std::max(largest.m, largest.n), [&](auto size) {
    launch_small_size<Exec, Types, size(),
                      small_access{tiling::direction::k, tiling::direction::mn, false, false}>(
        exec, batch, largest, epilogue);
  });
  return true;
}

/// Whether all problems of a group may share teams: small, and of not too different k, for a team walks
/// through the longest one's k-tiles.
template <class Types>
bool is_small_group(const std::vector<grouped_problem<Types>>& problems) {
  double sum = 0, most = 0;
  for (const gemm_problem<Types>& p : problems) {
    if (p.m > largest_small || p.n > largest_small) return false;
    sum += double(p.k), most = std::max(most, double(p.k));
  }
  return most <= largest_small || sum >= 0.5 * most * double(problems.size());
}

}  // namespace keramos::detail::simt
