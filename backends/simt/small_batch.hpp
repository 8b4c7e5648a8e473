// Batches of small matrices on a GPU: several problems share a team, so that its threads are all busy and
// neighbouring matrices are copied together. C in tiles of at most 32 x 32 a problem.
//
// A team walks through slabs of k of one group of problems after the other, as the main loop of large
// products does through the slabs of one: copies of the next ones are under way while one is multiplied.
// At these sizes the memory's bandwidth is the limit, and that keeps it busy.
#pragma once

#include <cstddef>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/mma.hpp>
#include <keramos/core/macros.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/epilogue.hpp>

namespace keramos::backend::simt {

/// How a team multiplies small matrices.
struct small_config {
  int element_bytes;
  int size;      ///< C is at most size x size, or tiled so
  int k;         ///< columns of a slab
  int tm, tn;    ///< tile of a thread
  int problems;  ///< in a team at a time
  int stages;    ///< slabs in flight in local memory
  int teams;     ///< per multiprocessor to leave registers for

  constexpr int lanes_m() const { return size / tm; }
  constexpr int lanes_n() const { return size / tn; }
  constexpr int threads_of_problem() const { return lanes_m() * lanes_n(); }
  constexpr int threads() const { return problems * threads_of_problem(); }
};

/// How the kernel is specialised for the strides of a batch.
struct small_access {
  tile::direction a, b;
  bool vectors;      ///< copies of 16 bytes
  bool interleaved;  ///< the batch is the fastest index: a warp lies across problems, not along one
};

/// A slab of one operand of all problems of a team in scratch: element (mn, k) of a problem is at
/// `offset(problem, mn, k)`. Rows along k change the places of their 16-byte runs from row to row, which spreads
/// the same run of many rows over all banks; `Run` rows are read by one thread.
template <class T, small_config C, tile::direction Rows, int Run, bool Interleaved>
struct small_panel {
  static constexpr int vector = 16 / int(sizeof(T));
  static constexpr int runs = C.k / vector < 8 ? C.k / vector : 8;
  /// A run more than the slab: the same place of different problems then lies in different banks.
  static constexpr int of_problem = Interleaved ? C.size * C.k : C.size * C.k + vector;
  static constexpr int size = C.problems * of_problem;
  static_assert(C.k % vector == 0);

  KERAMOS_FORCEINLINE_FUNCTION static int offset(int problem, int mn, int k) {
    if constexpr (Interleaved)
      return (k * C.size + mn) * C.problems + problem;
    else if constexpr (Rows == tile::direction::mn)
      return problem * of_problem + k * C.size + mn;
    else
      return problem * of_problem + mn * C.k + ((k / vector) ^ (mn / Run & (runs - 1))) * vector + k % vector;
  }
};

/// Which problems and which tile of each, and which slab of k: where a team is on its way.
struct small_position {
  index_t first;  ///< problem
  index_t m0, n0;
  int slab;
};

template <class Exec, class T, small_config C, small_access Access, class Batch, class Epilogue>
class small_batch_kernel {
  static constexpr int vector = 16 / int(sizeof(T));
  static constexpr int threads = C.threads(), per_problem = C.threads_of_problem();
  static constexpr int lanes_m = C.lanes_m(), lanes_n = C.lanes_n();
  /// Neighbouring rows and columns of C that a thread takes: what it can read, or write, at once.
  static constexpr bool scalar_m = Access.a == tile::direction::k || Access.interleaved;
  static constexpr bool scalar_n = !Access.vectors || Access.interleaved;
  static constexpr int run_m = scalar_m ? 1 : vector > C.tm ? C.tm : vector;
  static constexpr int run_n = scalar_n ? 1 : vector > C.tn ? C.tn : vector;
  using panel_a = small_panel<T, C, Access.a, run_m, Access.interleaved>;
  using panel_b = small_panel<T, C, Access.b, run_n, Access.interleaved>;
  static constexpr int slot_size = panel_a::size + panel_b::size;
  using copier = backend::staging<Exec>;
  static_assert(C.stages >= 2 && C.tm % run_m == 0 && C.tn % run_n == 0);

 public:
  static constexpr int team_size = threads;
  static constexpr std::size_t local_bytes = sizeof(T) * C.stages * slot_size;

  small_batch_kernel(const Batch& batch, const gemm_problem<T>& largest, const Epilogue& epilogue,
                     index_t chunks_of_team)
      : batch_(batch),
        epilogue_(epilogue),
        tiles_m_(int((largest.m + C.size - 1) / C.size)),
        tiles_n_(int((largest.n + C.size - 1) / C.size)),
        slabs_(largest.k > 0 ? int((largest.k + C.k - 1) / C.k) : 1),  // what is empty is written too
        chunks_of_team_(int(chunks_of_team)) {}

  /// Groups of problems, times tiles of each.
  index_t chunks() const {
    return (batch_.size() + C.problems - 1) / C.problems * index_t(tiles_m_) * tiles_n_;
  }
  index_t league() const { return (chunks() + chunks_of_team_ - 1) / chunks_of_team_; }

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    T* const local = static_cast<T*>(team.team_scratch(0).get_shmem_aligned(std::size_t(local_bytes), 128));
    const unsigned thread = unsigned(team.team_rank());
    const index_t first = index_t(team.league_rank()) * chunks_of_team_;
    const index_t groups = (batch_.size() + C.problems - 1) / C.problems;
    const index_t left = groups * tiles_m_ * tiles_n_ - first;
    const int steps = int(left < chunks_of_team_ ? left : chunks_of_team_) * slabs_;

    index_t chunk = first, chunk_ahead = first;
    small_position at = position(chunk), ahead = at;
    const auto stage = [&](int step, int slot) {
      if (step < steps) {
        stage_operand<Access.a, panel_a, true>(local + slot * slot_size, thread, ahead);
        stage_operand<Access.b, panel_b, false>(local + slot * slot_size + panel_a::size, thread, ahead);
        if (++ahead.slab == slabs_) ahead = position(++chunk_ahead);
      }
      copier::commit();
    };
    KERAMOS_UNROLL
    for (int s = 0; s < C.stages - 1; ++s) stage(s, s);

    // Lanes in quads of 2 x 2, see fma_accumulator; or all problems side by side.
    const int problem = int(Access.interleaved ? thread % C.problems : thread / per_problem);
    const int lane = int(Access.interleaved ? thread / C.problems : thread % per_problem);
    constexpr bool quads = lanes_m % 2 == 0 && lanes_n % 2 == 0;
    const int quad = lane / 4;
    const int lane_m = quads ? quad / (lanes_n / 2) * 2 + lane / 2 % 2 : lane / lanes_n;
    const int lane_n = quads ? quad % (lanes_n / 2) * 2 + lane % 2 : lane % lanes_n;

    T acc[C.tm][C.tn];
    int slot = 0;
    for (int step = 0; step < steps; ++step) {
      copier::template wait<C.stages - 2>();
      team.team_barrier();  // this slab is complete, and everyone has read the one whose slot is next
      stage(step + C.stages - 1, slot == 0 ? C.stages - 1 : slot - 1);
      if (at.slab == 0) {
        KERAMOS_UNROLL
        for (int i = 0; i < C.tm; ++i) KERAMOS_UNROLL
        for (int j = 0; j < C.tn; ++j) acc[i][j] = T(0);
      }
      const T* const slab = local + slot * slot_size;
      multiply(acc, slab, slab + panel_a::size, problem, lane_m, lane_n);
      if (++at.slab == slabs_) {
        write(acc, at, problem, lane_m, lane_n);
        at = position(++chunk);
      }
      slot = slot + 1 == C.stages ? 0 : slot + 1;
    }
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static int row(int i, int lane) {
    return (i / run_m * lanes_m + lane) * run_m + i % run_m;
  }
  KERAMOS_FORCEINLINE_FUNCTION static int col(int j, int lane) {
    return (j / run_n * lanes_n + lane) * run_n + j % run_n;
  }

  KERAMOS_FORCEINLINE_FUNCTION small_position position(index_t chunk) const {
    if (tiles_m_ * tiles_n_ == 1) return {chunk * C.problems, 0, 0, 0};
    const index_t group = chunk / (tiles_m_ * tiles_n_);
    const int tile = int(chunk - group * (tiles_m_ * tiles_n_));
    return {group * C.problems, index_t(tile / tiles_n_) * C.size, index_t(tile % tiles_n_) * C.size, 0};
  }

  /// Copies a slab of A or B of all problems of the team; zeros where there is none.
  template <tile::direction Along, class Panel, bool IsA>
  KERAMOS_FORCEINLINE_FUNCTION void stage_operand(T* local, unsigned thread, const small_position& at) const {
    const index_t mn0 = IsA ? at.m0 : at.n0, k0 = index_t(at.slab) * C.k;
    if constexpr (!Batch::mixed) {
      const index_t mn_left = (IsA ? batch_.m(0) : batch_.n(0)) - mn0;
      if (mn_left >= C.size && batch_.k(0) - k0 >= C.k && batch_.size() - at.first >= C.problems)
        return stage_pieces<Along, Panel, IsA, true>(local, thread, at.first, mn0, k0);
    }
    stage_pieces<Along, Panel, IsA, false>(local, thread, at.first, mn0, k0);
  }

  /// `Whole` promises that all of the slab exists.
  template <tile::direction Along, class Panel, bool IsA, bool Whole>
  KERAMOS_FORCEINLINE_FUNCTION void stage_pieces(T* local, unsigned thread, index_t first, index_t mn0,
                                                 index_t k0) const {
    constexpr bool along_k = Along == tile::direction::k;
    constexpr unsigned width = Access.vectors ? vector : 1;
    constexpr unsigned fast_width = Access.interleaved ? 1 : width;  // what a piece is wide of the slab
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
      const tile::operand<T> x = IsA ? batch_.a_of(b) : batch_.b_of(b);
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
                                                    int problem, int lane_m, int lane_n) {
    constexpr int depth = Access.interleaved ? 1 : vector;  // columns of k that one load brings
    for (int k0 = 0; k0 < C.k; k0 += depth) {
      T a[C.tm][depth], b[C.tn][depth];  // (tm, k), (tn, k)
      load_fragments<Access.a, panel_a, run_m>(a, a_local, problem, k0,
                                               [&](int i) { return row(i, lane_m); });
      load_fragments<Access.b, panel_b, run_n>(b, b_local, problem, k0,
                                               [&](int j) { return col(j, lane_n); });
      KERAMOS_UNROLL
      for (int k = 0; k < depth; ++k) KERAMOS_UNROLL
      for (int j = 0; j < C.tn; ++j) KERAMOS_UNROLL
      for (int i = 0; i < C.tm; ++i) acc[i][j] += a[i][k] * b[j][k];
    }
  }
  template <tile::direction Along, class Panel, int Run, int Count, int Depth, class Index>
  KERAMOS_FORCEINLINE_FUNCTION static void load_fragments(T (&frag)[Count][Depth], const T* local,
                                                          int problem, int k0, const Index& index) {
    if constexpr (Along == tile::direction::k) {
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
                                          int lane_m, int lane_n) const {
    const index_t b = at.first + problem;
    if (b >= batch_.size()) return;
    const gemm_problem<T> p = batch_[b];
    // A sum without terms is alpha·0, but of no use: infinite alphas and signed zeros.
    const Epilogue epilogue = Batch::mixed && p.k == 0 ? Epilogue{T(0), epilogue_.beta} : epilogue_;
    KERAMOS_UNROLL
    for (int i = 0; i < C.tm; ++i) {
      const index_t gi = at.m0 + row(i, lane_m);
      if (gi >= p.m) continue;
      KERAMOS_UNROLL
      for (int j = 0; j < C.tn; j += run_n) {
        const index_t gj = at.n0 + col(j, lane_n);
        T* const c = p.c + gi * p.c_row_stride + gj * (run_n > 1 ? 1 : p.c_col_stride);
        if (run_n > 1 && gj + run_n <= p.n) {
          using row_run = run<T, run_n>;
          row_run out;
          if (epilogue.reads_c()) {
            const row_run old = *reinterpret_cast<const row_run*>(c);
            KERAMOS_UNROLL
            for (int v = 0; v < run_n; ++v) out.value[v] = epilogue(acc[i][j + v], old.value[v], gi, gj + v);
          } else {
            KERAMOS_UNROLL
            for (int v = 0; v < run_n; ++v) out.value[v] = epilogue(acc[i][j + v], gi, gj + v);
          }
          *reinterpret_cast<row_run*>(c) = out;
        } else {
          KERAMOS_UNROLL
          for (int v = 0; v < run_n; ++v) {
            if (gj + v >= p.n) break;
            T& to = c[v];  // run_n is 1 where the stride is not
            to = epilogue.reads_c() ? epilogue(acc[i][j + v], to, gi, gj + v)
                                    : epilogue(acc[i][j + v], gi, gj + v);
          }
        }
      }
    }
  }

  Batch batch_;
  Epilogue epilogue_;
  int tiles_m_, tiles_n_, slabs_;
  int chunks_of_team_;
};

}  // namespace keramos::backend::simt
