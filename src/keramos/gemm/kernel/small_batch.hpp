// Batches of small matrices on a GPU: several problems share a team, so that its threads are all busy and
// neighbouring matrices are copied together. C in tiles of at most 32 x 32 a problem.
//
// A team takes one group of problems, and has all of them under way at once if their k is short: at these sizes
// the memory's bandwidth is the limit. Many teams keep it busier than few that go on to the next group while
// copies run ahead (on an H200 4187 GB/s to 3708 of f64, 32 x 32).
#pragma once

#include <cstddef>

#include <keramos/backends/interface.hpp>
#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/core/local_memory.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/kernel/small_panel.hpp>

namespace keramos::detail::simt {

/// Which problems and which tile of each.
struct small_position {
  index_t first;  ///< problem
  index_t m0, n0;
};

template <class Exec, class Types, small_config C, small_access Access, class Batch, class Epilogue>
class small_batch_kernel {
  static_assert(Types::uniform, "keramos: small batches are multiplied in the type of their elements");
  using T = typename Types::accumulator;
  static constexpr int vector = 16 / int(sizeof(T));
  static constexpr int threads = C.threads(), per_problem = C.threads_of_problem();
  static constexpr int lanes_m = C.lanes_m(), lanes_n = C.lanes_n();
  /// Neighbouring rows and columns of C that a thread takes: what it can read, or write, at once.
  static constexpr bool scalar_m = Access.a == tiling::direction::k || Access.interleaved || C.matrix();
  static constexpr bool scalar_n = !Access.vectors || Access.interleaved;
  static constexpr int run_m = scalar_m ? 1 : vector > C.tm ? C.tm : vector;
  static constexpr int run_n = C.matrix() ? 2 : scalar_n ? 1 : vector > C.tn ? C.tn : vector;
  using panel_a = small_panel<T, C, Access.a, run_m, Access.interleaved>;
  using panel_b = small_panel<T, C, Access.b, run_n, Access.interleaved>;
  static constexpr int slot_size = panel_a::size + panel_b::size;
  using copier = backend::staging<Exec>;
  static_assert(C.tm % run_m == 0 && C.tn % run_n == 0);

 public:
  static constexpr int team_size = threads;
  static constexpr std::size_t local_bytes = sizeof(T) * C.stages * slot_size;
  static constexpr int teams_per_unit =
      backend::traits<Exec>::teams_per_unit(C.teams_of(Access.vectors), team_size, local_bytes);

  small_batch_kernel(const Batch& batch, const gemm_problem<Types>& largest, const Epilogue& epilogue)
      : batch_(batch),
        epilogue_(epilogue),
        tiles_m_(int(ceil_div(largest.m, C.size))),
        tiles_n_(int(ceil_div(largest.n, C.size))),
        k_tiles_(int(ceil_div(largest.k, C.k))) {}

  /// Groups of problems, times tiles of each.
  index_t league() const { return ceil_div(batch_.size(), C.problems) * tiles_m_ * tiles_n_; }

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    T* const local =
        static_cast<T*>(team.team_scratch(0).get_shmem_aligned(std::size_t(local_bytes), local_alignment));
    const unsigned thread = unsigned(team.team_rank());
    const small_position at = position(team.league_rank());
    const auto stage = [&](int k_tile, int slot) {
      if (k_tile < k_tiles_) {
        stage_operand<Access.a, panel_a, true>(local + slot * slot_size, thread, at, k_tile);
        stage_operand<Access.b, panel_b, false>(local + slot * slot_size + panel_a::size, thread, at, k_tile);
      }
      copier::commit();
    };
    KERAMOS_UNROLL
    for (int s = 0; s < C.stages; ++s) stage(s, s);

    const int problem = int(Access.interleaved ? thread % C.problems : thread / per_problem);
    const int lane = int(Access.interleaved ? thread / C.problems : thread % per_problem);
    const small_place to = place(lane);

    T acc[C.tm][C.tn];
    KERAMOS_UNROLL
    for (int i = 0; i < C.tm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < C.tn; ++j) acc[i][j] = T(0);
    int slot = 0;
    for (int k_tile = 0; k_tile < k_tiles_; ++k_tile) {
      copier::template wait<C.stages - 1>();
      team.team_barrier();  // this k-tile is complete
      const T* const now = local + slot * slot_size;
      multiply(acc, now, now + panel_a::size, problem, to);
      if (k_tile + C.stages < k_tiles_) team.team_barrier();  // everyone has read it
      stage(k_tile + C.stages, slot);
      slot = slot + 1 == C.stages ? 0 : slot + 1;
    }
    write(acc, at, problem, to);
  }

 private:
  /// Where the elements of a lane are in the tile.
  struct small_place {
    int m, n;                ///< lane
    int row0 = 0, col0 = 0;  ///< of its warp, if a warp has a part of the tile

    KERAMOS_FORCEINLINE_FUNCTION int row(int i) const {
      return row0 + (i / run_m * lanes_m + m) * run_m + i % run_m;
    }
    KERAMOS_FORCEINLINE_FUNCTION int col(int j) const {
      return col0 + (j / run_n * lanes_n + n) * run_n + j % run_n;
    }
  };
  KERAMOS_FORCEINLINE_FUNCTION static small_place place(int lane) {
    if constexpr (C.matrix()) {
      constexpr int warps_n = C.size / (lanes_n * C.tn);
      const int warp = lane / 32;
      return {lane % 32 / 4, lane % 4, warp / warps_n * (lanes_m * C.tm), warp % warps_n * (lanes_n * C.tn)};
    } else if constexpr (lanes_m % 2 == 0 && lanes_n % 2 == 0) {  // in quads of 2 x 2, see fma_accumulator
      const int quad = lane / 4;
      return {quad / (lanes_n / 2) * 2 + lane / 2 % 2, quad % (lanes_n / 2) * 2 + lane % 2};
    } else {
      return {lane / lanes_n, lane % lanes_n};
    }
  }

  KERAMOS_FORCEINLINE_FUNCTION small_position position(int rank) const {
    if (tiles_m_ * tiles_n_ == 1) return {index_t(rank) * C.problems, 0, 0};
    const int group = rank / (tiles_m_ * tiles_n_), tile = rank - group * (tiles_m_ * tiles_n_);
    return {index_t(group) * C.problems, index_t(tile / tiles_n_) * C.size,
            index_t(tile % tiles_n_) * C.size};
  }

  /// Copies a k-tile of A or B of all problems of the team; zeros where there is none.
  template <tiling::direction Along, class Panel, bool IsA>
  KERAMOS_FORCEINLINE_FUNCTION void stage_operand(T* local, unsigned thread, const small_position& at,
                                                  int k_tile) const {
    const index_t mn0 = IsA ? at.m0 : at.n0, k0 = index_t(k_tile) * C.k;
    if constexpr (!Batch::mixed) {
      const index_t mn_left = (IsA ? batch_.m(0) : batch_.n(0)) - mn0;
      if (mn_left >= C.size && batch_.k(0) - k0 >= C.k && batch_.size() - at.first >= C.problems)
        return stage_pieces<Along, Panel, IsA, true>(local, thread, at.first, mn0, k0);
    }
    stage_pieces<Along, Panel, IsA, false>(local, thread, at.first, mn0, k0);
  }

  /// `Whole` promises that all of the k-tile exists.
  template <tiling::direction Along, class Panel, bool IsA, bool Whole>
  KERAMOS_FORCEINLINE_FUNCTION void stage_pieces(T* local, unsigned thread, index_t first, index_t mn0,
                                                 index_t k0) const {
    constexpr bool along_k = Along == tiling::direction::k;
    constexpr unsigned width = Access.vectors ? vector : 1;
    constexpr unsigned fast_width = Access.interleaved ? 1 : width;  // what a piece is wide of the k-tile
    constexpr unsigned rows = (along_k ? C.k : C.size) / fast_width;
    constexpr unsigned of_problem = rows * (along_k ? C.size : C.k);
    constexpr unsigned across = C.problems / (Access.interleaved ? width : 1);
    constexpr unsigned all = of_problem * across;
    KERAMOS_UNROLL
    for (unsigned done = 0; done < all; done += threads) {
      const unsigned e = done + thread;
      if (all % threads != 0 && e >= all) break;
      const unsigned problem = Access.interleaved ? e % across * width : e / of_problem;
      const unsigned place = Access.interleaved ? e / across : e % of_problem;
      const int fast = int(place % rows * fast_width), slow = int(place / rows);
      const int mn = along_k ? slow : fast, k = along_k ? fast : slow;
      T* const to = local + Panel::offset(int(problem), mn, k);
      // The last problem stands for those that do not exist.
      const index_t b = Whole || first + problem < batch_.size() ? first + problem : batch_.size() - 1;
      const tiling::operand<T> x = IsA ? batch_.a_of(b) : batch_.b_of(b);
      // Vectors promise a unit stride; otherwise strides are what they are.
      constexpr bool unit = Access.vectors && !Access.interleaved;
      const T* const from = x.data + (mn0 + mn) * (unit && !along_k ? 1 : x.stride_mn) +
                            (k0 + k) * (unit && along_k ? 1 : x.stride_k);
      if constexpr (Whole) {
        copier::template copy<int(width)>(to, from, int(width));
      } else {
        const index_t mn_left = (IsA ? batch_.m(b) : batch_.n(b)) - mn0 - mn, k_left = batch_.k(b) - k0 - k;
        const index_t left = Access.interleaved ? batch_.size() - b : along_k ? k_left : mn_left;
        const bool inside = mn_left > 0 && k_left > 0 && first + problem < batch_.size();
        const int valid = !inside ? 0 : left < index_t(width) ? int(left) : int(width);
        copier::template copy<int(width)>(to, inside ? from : x.data, valid);
      }
    }
  }

  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void load(T* frag, const T* local) {
    const auto v = *reinterpret_cast<const run<T, Count>*>(local);
    KERAMOS_UNROLL
    for (int i = 0; i < Count; ++i) frag[i] = v.value[i];
  }

  KERAMOS_FORCEINLINE_FUNCTION static void multiply(T (&acc)[C.tm][C.tn], const T* a_local, const T* b_local,
                                                    int problem, const small_place& at) {
    if constexpr (C.matrix()) {
      multiply_fragments(acc, a_local, b_local, problem, at);
    } else {
      constexpr int depth = Access.interleaved ? 1 : vector;  // columns of k that one load brings
      for (int k0 = 0; k0 < C.k; k0 += depth) {
        T a[C.tm][depth], b[C.tn][depth];  // (tm, k), (tn, k)
        load_fragments<Access.a, panel_a, run_m>(a, a_local, problem, k0, [&](int i) { return at.row(i); });
        load_fragments<Access.b, panel_b, run_n>(b, b_local, problem, k0, [&](int j) { return at.col(j); });
        KERAMOS_UNROLL
        for (int k = 0; k < depth; ++k) KERAMOS_UNROLL
        for (int j = 0; j < C.tn; ++j) KERAMOS_UNROLL
        for (int i = 0; i < C.tm; ++i) acc[i][j] += a[i][k] * b[j][k];
        KERAMOS_UNROLL
        for (int i = 0; i < C.tm; ++i) backend::mma<Exec>::settle(acc[i]);
      }
    }
  }
  /// The same on matrix units, 16 x 8 x 8 at a time.
  KERAMOS_FORCEINLINE_FUNCTION static void multiply_fragments(T (&acc)[C.tm][C.tn], const T* a_local,
                                                              const T* b_local, int problem,
                                                              const small_place& at) {
    KERAMOS_UNROLL
    for (int k0 = 0; k0 < C.k; k0 += 8) {
      T a[C.tm / 2][4], b[C.tn / 2][2];
      KERAMOS_UNROLL
      for (int i = 0; i < C.tm; ++i) KERAMOS_UNROLL
      for (int v = 0; v < 2; ++v)
        a[i / 2][i % 2 + 2 * v] = a_local[panel_a::offset(problem, at.row(i), k0 + at.n + 4 * v)];
      KERAMOS_UNROLL
      for (int j = 0; j < C.tn / 2; ++j) KERAMOS_UNROLL
      for (int v = 0; v < 2; ++v)
        b[j][v] = b_local[panel_b::offset(problem, at.col0 + 8 * j + at.m, k0 + at.n + 4 * v)];
      KERAMOS_UNROLL
      for (int i = 0; i < C.tm; i += 2) KERAMOS_UNROLL
      for (int j = 0; j < C.tn; j += 2) {
        T d[2][2] = {{acc[i][j], acc[i][j + 1]}, {acc[i + 1][j], acc[i + 1][j + 1]}};
        backend::mma<Exec>::multiply_16x8(d, a[i / 2], b[j / 2]);
        KERAMOS_UNROLL
        for (int v = 0; v < 4; ++v) acc[i + v / 2][j + v % 2] = d[v / 2][v % 2];
      }
    }
  }
  template <tiling::direction Along, class Panel, int Run, int Count, int Depth, class Index>
  KERAMOS_FORCEINLINE_FUNCTION static void load_fragments(T (&frag)[Count][Depth], const T* local,
                                                          int problem, int k0, const Index& index) {
    if constexpr (Along == tiling::direction::k) {
      KERAMOS_UNROLL
      for (int i = 0; i < Count; ++i) load<Depth>(frag[i], local + Panel::offset(problem, index(i), k0));
    } else {
      KERAMOS_UNROLL
      for (int k = 0; k < Depth; ++k) KERAMOS_UNROLL
      for (int i = 0; i < Count; i += Run) {
        T run_of_k[Run];
        load<Run>(run_of_k, local + Panel::offset(problem, index(i), k0 + k));
        KERAMOS_UNROLL
        for (int v = 0; v < Run; ++v) frag[i + v][k] = run_of_k[v];
      }
    }
  }

  KERAMOS_FORCEINLINE_FUNCTION void write(const T (&acc)[C.tm][C.tn], const small_position& at, int problem,
                                          const small_place& to_write) const {
    const index_t b = at.first + problem;
    if (b >= batch_.size()) return;
    const gemm_problem<Types> p = batch_[b];
    const Epilogue epilogue = Batch::mixed && p.k == 0 ? without_terms(epilogue_) : epilogue_;
    KERAMOS_UNROLL
    for (int i = 0; i < C.tm; ++i) {
      const index_t gi = at.m0 + to_write.row(i);
      if (gi >= p.m) continue;
      KERAMOS_UNROLL
      for (int j = 0; j < C.tn; j += run_n) {
        const index_t gj = at.n0 + to_write.col(j);
        const index_t stride = scalar_n ? p.c_col_stride : 1;
        T* const c = p.c + gi * p.c_row_stride + gj * stride;
        if (!scalar_n && run_n > 1 && gj + run_n <= p.n) {
          using row_run = run<T, run_n>;
          row_run out;
          if (reads_c<T>(epilogue)) {
            const row_run old = *reinterpret_cast<const row_run*>(c);
            KERAMOS_UNROLL
            for (int v = 0; v < run_n; ++v)
              out.value[v] = element_with_c(epilogue, p.place, acc[i][j + v], old.value[v], gi, gj + v);
          } else {
            KERAMOS_UNROLL
            for (int v = 0; v < run_n; ++v)
              out.value[v] = element_without_c<T>(epilogue, p.place, acc[i][j + v], gi, gj + v);
          }
          *reinterpret_cast<row_run*>(c) = out;
        } else {
          KERAMOS_UNROLL
          for (int v = 0; v < run_n; ++v) {
            if (gj + v >= p.n) break;
            write_element(epilogue, p.place, acc[i][j + v], c[v * stride], gi, gj + v);
          }
        }
      }
    }
  }

  Batch batch_;
  Epilogue epilogue_;
  int tiles_m_, tiles_n_, k_tiles_;
};

}  // namespace keramos::detail::simt
