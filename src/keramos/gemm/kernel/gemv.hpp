// A matrix times a vector on a GPU: no tile can use what it reads twice, so threads multiply the matrix in
// place, with as many loads under way as memory needs, and add up through team scratch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <keramos/backends/simt/tiles.hpp>
#include <keramos/base/error.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/core/local_memory.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/kernel/split_k.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::simt {

/// How the threads of a team are laid over the matrix: `along_k` of them share their rows, each with a part of
/// k; the others have rows of their own.
struct gemv_shape {
  static constexpr int team_size = 256;
  static constexpr int rows = 4;  ///< of a thread
  /// Parts of k are multiples of that, to begin in A's lines of memory where the first does; and the sums that a team adds
  /// at once.
  static constexpr int k_multiple = 32, fan_in = 32;

  int along_k;  ///< a power of two

  KERAMOS_FORCEINLINE_FUNCTION int rows_of_team() const { return team_size / along_k * rows; }
  /// Teams for m rows.
  index_t teams(index_t m) const { return ceil_div(m, rows_of_team()); }
  /// The shape whose teams have `rows_of_team` rows.
  static gemv_shape of_rows(int rows_of_team) { return {team_size * rows / rows_of_team}; }
};

/// c(i) = epilogue(Σ_k a(i, k)·x(k)). `Along` is the direction in which A's memory runs, `Vector` the elements
/// that are loaded at once.
template <class Types, tiling::direction Along, int Vector, class Epilogue>
struct gemv_kernel {
  using A = typename Types::a;
  using T = typename Types::accumulator;

  gemm_problem<Types> p;
  Epilogue epilogue;
  gemv_shape shape;
  split_k<T> split;  ///< of blocks of rows

  static constexpr bool along_k = Along == tiling::direction::k;
  static constexpr int rows = gemv_shape::rows;
  static constexpr int team_size = gemv_shape::team_size;
  static constexpr std::size_t bytes = sizeof(T) * team_size * rows;

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int rank = int(team.league_rank()), part = split.part_of(rank), block = split.tile_of(rank, part);
    const int thread = int(team.team_rank()), apart = team_size / shape.along_k;
    // Neighbours have neighbouring elements: of k, or of the rows.
    const int k_lane = along_k ? thread % shape.along_k : thread / apart;
    const int row_lane = along_k ? thread / shape.along_k : thread % apart;
    const index_t row0 = index_t(block) * shape.rows_of_team();
    const index_t k0 = part * split.k_per_part;
    const index_t k1 = p.k - k0 < split.k_per_part ? p.k : k0 + split.k_per_part;

    sums s;
    KERAMOS_UNROLL
    for (int r = 0; r < rows; ++r) s.row[r] = row0 + row_of(row_lane, apart, r);
    if constexpr (along_k)
      multiply_along_k(s, k0, k1, k_lane);
    else
      multiply_along_rows(s, k0, k1, k_lane);

    T* local = static_cast<T*>(team.team_scratch(0).get_shmem_aligned(std::size_t(bytes), local_alignment));
    add_lanes(team, s, local, thread, k_lane, along_k ? 1 : apart);
    s.leads = k_lane == 0;
    if (!split.template add_up<team_size * rows, team_size>(team, block, part, s) || !s.leads) return;
    KERAMOS_UNROLL
    for (int r = 0; r < rows; ++r)
      if (s.row[r] < p.m)
        write_element(epilogue, p.place, conjugate_if(p.a.conjugated, s.at(r)),
                      p.c[s.row[r] * p.c_row_stride], s.row[r], 0);
  }

 private:
  /// A thread's rows and their sums, of which only the first of those that share them keeps any.
  struct sums {
    static constexpr int run = 16 / int(sizeof(T));
    index_t row[rows];
    T value[rows / run][run] = {};
    bool leads = true;

    KERAMOS_FORCEINLINE_FUNCTION T& at(int r) { return value[r / run][r % run]; }
    template <class F>
    KERAMOS_FORCEINLINE_FUNCTION void for_each_vector(const F& f) {
      if (!leads) return;
      KERAMOS_UNROLL
      for (int i = 0; i < rows / run; ++i) f(i, value[i]);
    }
  };

  /// Where one of two complex operands is conjugated, x is: conj(A)·x is the conjugate of A·conj(x).
  KERAMOS_FORCEINLINE_FUNCTION T element_of_b(index_t k) const {
    return conjugate_if(p.a.conjugated != p.b.conjugated, p.b.template number<T>(*p.b.at(0, k)));
  }

  using factor = factor_of<A, T>;
  KERAMOS_FORCEINLINE_FUNCTION factor element_of_a(const A& x) const {
    return p.a.template number<factor>(x);
  }

  KERAMOS_FORCEINLINE_FUNCTION static int row_of(int lane, int lanes, int r) {
    return along_k ? lane * rows + r : (r / Vector * lanes + lane) * Vector + r % Vector;
  }

  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static run<A, Count> load(const A* from) {
    return *reinterpret_cast<const run<A, Count>*>(from);
  }

  /// All rows at once where they are all in the matrix, else one by one. So many loads are on their way before the
  /// first is needed.
  KERAMOS_FORCEINLINE_FUNCTION void multiply_along_k(sums& s, index_t k0, index_t k1, int lane) const {
    if (s.row[rows - 1] >= p.m) return multiply_rows(s, k0 + lane, k1, shape.along_k);
    const A* a[rows];
    KERAMOS_UNROLL
    for (int r = 0; r < rows; ++r) a[r] = p.a.at(s.row[r], 0);
    constexpr int together = Vector > 1 ? 2 : 4;
    const index_t step = index_t(shape.along_k) * Vector;
    index_t k = k0 + lane * Vector;
    for (; k + (together - 1) * step + Vector <= k1; k += together * step) {
      run<A, Vector> v[together][rows];
      KERAMOS_UNROLL
      for (int c = 0; c < together; ++c) KERAMOS_UNROLL
      for (int r = 0; r < rows; ++r) v[c][r] = load<Vector>(a[r] + (k + c * step) * stride_k());
      KERAMOS_UNROLL
      for (int c = 0; c < together; ++c) KERAMOS_UNROLL
      for (int i = 0; i < Vector; ++i) {
        const T x = element_of_b(k + c * step + i);
        KERAMOS_UNROLL
        for (int r = 0; r < rows; ++r) add_product(s.at(r), element_of_a(v[c][r].value[i]), x);
      }
    }
    for (; k < k1; k += step) {
      for (int i = 0; i < Vector && k + i < k1; ++i) {
        const T x = element_of_b(k + i);
        KERAMOS_UNROLL
        for (int r = 0; r < rows; ++r) add_product(s.at(r), element_of_a(a[r][(k + i) * stride_k()]), x);
      }
    }
  }
  KERAMOS_FORCEINLINE_FUNCTION index_t stride_k() const { return Vector > 1 ? 1 : p.a.stride_k; }

  KERAMOS_FORCEINLINE_FUNCTION void multiply_along_rows(sums& s, index_t k0, index_t k1, int lane) const {
    // Vectors behind the last row read the last ones, for nothing; none may reach across the end.
    if (s.row[rows - 1] >= p.m && p.m % Vector != 0) return multiply_rows(s, k0 + lane, k1, shape.along_k);
    constexpr int together = 4;
    const A* a[rows / Vector];
    KERAMOS_UNROLL
    for (int r = 0; r < rows / Vector; ++r)
      a[r] = p.a.at(s.row[r * Vector] < p.m ? s.row[r * Vector] : p.m - Vector, 0);
    const index_t lanes = shape.along_k;
    index_t k = k0 + lane;
    for (; k + (together - 1) * lanes < k1; k += together * lanes) {
      run<A, Vector> v[together][rows / Vector];
      KERAMOS_UNROLL
      for (int c = 0; c < together; ++c) KERAMOS_UNROLL
      for (int r = 0; r < rows / Vector; ++r) v[c][r] = load<Vector>(a[r] + (k + c * lanes) * p.a.stride_k);
      KERAMOS_UNROLL
      for (int c = 0; c < together; ++c) {
        const T x = element_of_b(k + c * lanes);
        KERAMOS_UNROLL
        for (int r = 0; r < rows; ++r)
          add_product(s.at(r), element_of_a(v[c][r / Vector].value[r % Vector]), x);
      }
    }
    for (; k < k1; k += lanes) {
      const T x = element_of_b(k);
      KERAMOS_UNROLL
      for (int r = 0; r < rows; ++r)
        add_product(s.at(r), element_of_a(a[r / Vector][k * p.a.stride_k + r % Vector * p.a.stride_mn]), x);
    }
  }

  KERAMOS_FORCEINLINE_FUNCTION void multiply_rows(sums& s, index_t first, index_t k1, index_t step) const {
    constexpr int together = 8;
    KERAMOS_UNROLL
    for (int r = 0; r < rows; ++r) {
      if (s.row[r] >= p.m) continue;
      index_t k = first;
      for (; k + (together - 1) * step < k1; k += together * step) {
        factor v[together];
        T x[together];
        KERAMOS_UNROLL
        for (int c = 0; c < together; ++c)
          v[c] = element_of_a(*p.a.at(s.row[r], k + c * step)), x[c] = element_of_b(k + c * step);
        KERAMOS_UNROLL
        for (int c = 0; c < together; ++c) add_product(s.at(r), v[c], x[c]);
      }
      for (; k < k1; k += step) add_product(s.at(r), element_of_a(*p.a.at(s.row[r], k)), element_of_b(k));
    }
  }

  /// Adds the sums of the threads that share rows, pairwise, to those of the first; they are `step` apart.
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void add_lanes(const Team& team, sums& s, T* local, int thread, int lane,
                                              int step) const {
    for (int half = shape.along_k / 2; half > 0; half /= 2) {
      if (lane >= half && lane < 2 * half) {
        KERAMOS_UNROLL
        for (int r = 0; r < rows; ++r) local[r * team_size + thread] = s.at(r);
      }
      team.team_barrier();
      if (lane < half) {
        KERAMOS_UNROLL
        for (int r = 0; r < rows; ++r) s.at(r) += local[r * team_size + thread + half * step];
      }
    }
  }
};

/// Which way A's memory runs, and how many elements of it can be loaded at once.
struct vector_access {
  tiling::direction along;
  int width;
};

/// Vectors have as many elements as accumulators have room in 16 bytes: a thread has as many rows.
template <class Types>
vector_access vector_access_of(const gemm_problem<Types>& p) {
  constexpr int vector = 16 / int(sizeof(typename Types::accumulator));
  const tiling::operand<typename Types::a>& a = p.a;
  const bool aligned = reinterpret_cast<std::uintptr_t>(a.data) % (vector * sizeof(typename Types::a)) == 0;
  const auto length = [](index_t s) { return s < 0 ? -s : s; };
  if (a.stride_mn == 1 && aligned && a.stride_k % vector == 0) return {tiling::direction::mn, vector};
  if (a.stride_k == 1 && aligned && a.stride_mn % vector == 0) return {tiling::direction::k, vector};
  return {length(a.stride_mn) < length(a.stride_k) ? tiling::direction::mn : tiling::direction::k, 1};
}

/// Teams and parts of k for C (m x 1): enough to fill the device, by dividing k if rows are few.
inline void choose_vector(const vector_access& access, index_t m, index_t k,
                          const backend::simt::device_model& device, gemm_part& part) {
  const bool along_k = access.along == tiling::direction::k;
  const index_t enough = index_t(device.units) * device.vector_teams;
  // Threads along k: where A's memory runs along k, no more than have work there; elsewhere as many as leave none without a row.
  // Then more, until there are enough teams.
  gemv_shape shape{along_k ? 32 : 8};
  const auto teams = [&] { return shape.teams(m); };
  const auto reach = [&] {
    return index_t(shape.along_k) * (along_k ? access.width : 1) * device.vector_steps;
  };
  if (along_k)
    while (shape.along_k > 4 && reach() >= 2 * k) shape.along_k /= 2;
  else
    while (shape.along_k < 64 && shape.rows_of_team() >= 2 * m) shape.along_k *= 2;
  while (shape.along_k < (along_k ? 256 : 32) && teams() < enough && reach() < k) shape.along_k *= 2;
  const index_t parts = std::clamp<index_t>(enough / teams(), 1, std::max<index_t>(k / reach(), 1));
  part.path = gemm_path::vector;
  part.block = {shape.rows_of_team(), 1, 0};
  part.team_size = gemv_shape::team_size;
  if (parts == 1) return;
  constexpr int multiple = gemv_shape::k_multiple;
  const index_t k_per_part = ceil_div(ceil_div(k, parts), multiple) * multiple;
  part.split = {int(ceil_div(k, k_per_part)), gemv_shape::fan_in, k_per_part};
}

/// Launches C (m x 1) = epilogue(A·B) as planned.
template <class Exec, class Types, class Epilogue>
void multiply_vector(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
                     const gemm_part& part, const Epilogue& epilogue) {
  using T = typename Types::accumulator;
  const gemv_shape shape = gemv_shape::of_rows(part.block.m);
  const index_t teams = shape.teams(p.m);
  if (teams > std::numeric_limits<int>::max() / part.split.parts)
    throw launch_error("keramos::gemm: C has " + std::to_string(p.m) +
                       " rows, too many for one call; split it into several");
  const auto split = make_split<T>(exec, memory, part.split, p.k, int(teams), shape.team_size * shape.rows);
  const auto run = [&](auto along, auto width) {
    using kernel = gemv_kernel<Types, along(), width(), Epilogue>;
    team_launch<gemv_shape::team_size,
                backend::traits<Exec>::template vector_teams_per_unit<typename Types::a>>(
        "keramos::gemm_vector", exec, split.ranks(), kernel::bytes, kernel{p, epilogue, shape, split});
  };
  using mn = std::integral_constant<tiling::direction, tiling::direction::mn>;
  using k = std::integral_constant<tiling::direction, tiling::direction::k>;
  using one = std::integral_constant<int, 1>;
  using vector = std::integral_constant<int, 16 / int(sizeof(T))>;
  const vector_access access = vector_access_of(p);
  if (access.along == tiling::direction::mn)
    access.width > 1 ? run(mn(), vector()) : run(mn(), one());
  else
    access.width > 1 ? run(k(), vector()) : run(k(), one());
}

}  // namespace keramos::detail::simt
