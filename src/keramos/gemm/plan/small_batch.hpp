// Which kernel of small_batch.hpp a batch gets: a row of the tables of backends/simt/small_tiles.hpp; and its launch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <keramos/backends/simt/small_tiles.hpp>
#include <keramos/base/error.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/collective/simt_rows.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/gemm/kernel/small_batch.hpp>
#include <keramos/gemm/kernel/small_halves.hpp>
#include <keramos/gemm/kernel/with_kernel.hpp>
#include <keramos/gemm/plan.hpp>

namespace keramos::detail::simt {

using backend::simt::interleaved_table;
using backend::simt::largest_small;
using backend::simt::small_table;

/// Rows of both tables are numbered through.
inline constexpr int small_rows = int(std::size(small_table) + std::size(interleaved_table));
constexpr bool is_interleaved_row(int row) { return row >= int(std::size(small_table)); }
constexpr small_config small_row(int row) {
  return is_interleaved_row(row) ? interleaved_table[row - int(std::size(small_table))] : small_table[row];
}

/// Whether elements have two bytes and are summed in f32: f16 and bf16, with C in them or in f32.
template <class Types>
inline constexpr bool sums_halves =
    sizeof(typename Types::a) == 2 && Types::operands == tiling::halves(Types::operands.a);

/// What rows for a product's types are found by. Integers take as many bytes and registers as f32, and its rows; all halves
/// have the same.
template <class Types>
inline constexpr scalar_type small_type = sums_halves<Types>                      ? scalar_type::f16
                                          : Types::operands.a == scalar_type::i32 ? scalar_type::f32
                                                                                  : Types::operands.a;

/// Whether the tables are for these types at all. Halves need matrix units that load them.
template <class Exec, class Types>
inline constexpr bool has_small_rows =
    sums_halves<Types>
        ? backend::mma<Exec>::template multiplies_short<typename Types::a>
        : Types::uniform&& std::any_of(std::begin(small_table), std::end(small_table),
                                       [](const small_config& c) { return c.type == small_type<Types>; });

/// Whether a row has kernels for such types and such an access: that of f64 on matrix units for 16 spills where elements are
/// copied one by one.
template <class Exec, class Types>
constexpr bool small_row_serves(int row, const small_access& access) {
  const small_config c = small_row(row);
  if (c.type != small_type<Types> || is_interleaved_row(row) != access.interleaved) return false;
  return !c.matrix() || sums_halves<Types> ||
         (backend::mma<Exec>::template has_matrix_unit<typename Types::accumulator> &&
          (access.vectors || c.size > 16));
}
/// The same on the device at hand.
template <class Exec, class Types>
bool small_row_works(const Exec& exec, int row, const small_access& access) {
  return small_row_serves<Exec, Types>(row, access) &&
         (!small_row(row).matrix() || backend::mma<Exec>::matrix_unit_works(exec));
}

/// The row for C of `extent` rows and columns: of the smallest size that holds it, on matrix units where there are some.
/// -1 if there is none.
template <class Exec, class Types>
int choose_small_row(const Exec& exec, index_t extent, const small_access& access) {
  const auto is_better = [](const small_config& x, const small_config& y) {
    return x.size < y.size || (x.size == y.size && x.matrix());
  };
  int best = -1;
  for (int row = 0; row < small_rows; ++row)
    if (small_row(row).size >= std::min<index_t>(extent, largest_small) &&
        (best < 0 || is_better(small_row(row), small_row(best))) &&
        small_row_works<Exec, Types>(exec, row, access))
      best = row;
  return best;
}

/// The rows for elements of such a type, whatever the access (kernel/with_kernel.hpp).
template <class Types>
struct rows_of_type {
  static constexpr int rows = small_rows, accesses = 1;
  static constexpr bool exists(int row, int /*access*/) { return small_row(row).type == small_type<Types>; }
};
/// Makes a choice that of a row.
template <class Types>
void set_small_row(int row, gemm_batch_choice& choice) {
  const small_config c = small_row(row);
  choice.row = row, choice.block = {c.size, c.size, c.k}, choice.stages = c.stages, choice.math = c.math;
  choice.team_size = c.threads(), choice.team_problems = c.problems;
  with_kernel<rows_of_type<Types>>(row, 0, [&](auto r, auto) {
    using T = typename Types::a;
    constexpr int of_mn =
        small_panel<T, small_row(r()), tiling::direction::mn, 1, is_interleaved_row(r())>::size;
    constexpr int of_k =
        small_panel<T, small_row(r()), tiling::direction::k, 1, is_interleaved_row(r())>::size;
    choice.local_bytes = sizeof(T) * std::size_t(c.stages) * 2 * std::max(of_mn, of_k);
  });
}

/// The kernel of small_batch.hpp or small_halves.hpp for such a row and access.
template <class Exec, class Types, small_config C, small_access Access, class Batch, class Epilogue>
struct small_kernel_for : std::type_identity<small_batch_kernel<Exec, Types, C, Access, Batch, Epilogue>> {};
template <class Exec, class Types, small_config C, small_access Access, class Batch, class Epilogue>
requires sums_halves<Types>
struct small_kernel_for<Exec, Types, C, Access, Batch, Epilogue>
    : std::type_identity<small_halves_kernel<Exec, Types, C, Access, Batch, Epilogue>> {
};

/// That kernel as it is launched. Its name has two numbers in place of all fields of the row and of the access, since each
/// character costs time at a launch (core/detail/launch.hpp).
template <class Exec, class Types, int Row, int Access, class Batch, class Epilogue>
struct small_kernel
    : small_kernel_for<Exec, Types, small_row(Row), small_access::of(Access, is_interleaved_row(Row)), Batch,
                       Epilogue>::type {
  using base =
      typename small_kernel_for<Exec, Types, small_row(Row),
                                small_access::of(Access, is_interleaved_row(Row)), Batch, Epilogue>::type;
  using base::base;
};

template <class Exec, class Types, int Row, int Access, class Batch, class Epilogue>
void launch_small_batch(const Exec& exec, const Batch& batch, const gemm_problem<Types>& largest,
                        const Epilogue& epilogue) {
  using kernel = small_kernel<Exec, Types, Row, Access, Batch, Epilogue>;
  const kernel k(batch, largest, epilogue);
  if (k.league() > std::numeric_limits<int>::max())
    throw launch_error("keramos::gemm_batched: " + std::to_string(batch.size()) +
                       " problems need more than 2^31 - 1 teams; split the batch");
  team_launch<kernel::team_size, kernel::teams_per_unit>("keramos::gemm_batched", exec, int(k.league()),
                                                         kernel::local_bytes, k);
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

/// How kernels read a batch of one shape, whose representative is `shape`.
template <class Types>
small_access access_of(const uniform_batch<Types>& batch, const gemm_problem<Types>& shape) {
  using T = typename Types::a;
  using tiling::direction;
  // 16 bytes of the same place in neighbouring problems.
  constexpr int vector = 16 / int(sizeof(T));
  const auto across_in_vectors = [](const T* data, index_t batch_stride, index_t s, index_t t) {
    return batch_stride == 1 && s % vector == 0 && t % vector == 0 &&
           reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  };
  const tiling::operand<T>&a = batch.shape.a, &b = batch.shape.b;
  if (is_interleaved(batch))
    return {direction::mn, direction::k,
            across_in_vectors(a.data, batch.a.stride, a.stride_mn, a.stride_k) &&
                across_in_vectors(b.data, batch.b.stride, b.stride_mn, b.stride_k),
            true};
  const operand_layout of_a(shape.a), of_b(shape.b);
  const auto along = [](const operand_layout& x) { return x.along_k ? direction::k : direction::mn; };
  const bool writes_vectors = sums_halves<Types> ||  // whose kernel looks itself
                              can_copy_vectors(shape.c, shape.c_col_stride, shape.c_row_stride);
  return {along(of_a), along(of_b), of_a.vectors() && of_b.vectors() && writes_vectors, false};
}
/// The same of a list: any strides.
inline constexpr small_access access_of_list{tiling::direction::k, tiling::direction::mn, false, false};
template <class List, class Types>
small_access access_of(const List&, const gemm_problem<Types>&) {
  return access_of_list;
}

/// The kernels for small problems of a batch or list (kernel/with_kernel.hpp).
template <class Exec, class Types, class Batch>
struct small_kernels {
  static constexpr int rows = small_rows, accesses = small_access::numbers;

  static constexpr bool exists(int row, int number) {
    const small_access access = small_access::of(number, is_interleaved_row(row));
    const bool possible = Batch::mixed ? access == access_of_list
                                       : !access.interleaved || (access.a == tiling::direction::mn &&
                                                                 access.b == tiling::direction::k);
    return possible && small_row_serves<Exec, Types>(row, access);
  }
};

/// All problems of a batch, or of a list, in the kernel of a row, which works for such an access. `largest` has their most
/// rows, columns and k.
template <class Exec, class Types, class Batch, class Epilogue>
void run_small_batch(const Exec& exec, int row, const small_access& access, const Batch& batch,
                     const gemm_problem<Types>& largest, const Epilogue& epilogue) {
  with_kernel<small_kernels<Exec, Types, Batch>>(
      row, access.number(),
      [&](auto known_row, auto number) {
        launch_small_batch<Exec, Types, known_row(), number()>(exec, batch, largest, epilogue);
      },
      "tables for small problems");
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
