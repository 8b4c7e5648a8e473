// Batches of small matrices of elements of two bytes on matrix units that load them 8 x 8 at a time: several problems share a
// team, as in small_batch.hpp, and each warp multiplies some of them whole, one after the other. Sums are in f32.
//
// Rows that begin at multiples of 16 bytes are copied 16 bytes at a time, asynchronously; those that begin at multiples of 4
// in words; others by pairs of elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <keramos/backends/interface.hpp>
#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/core/local_memory.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/kernel/small_panel.hpp>

namespace keramos::detail::simt {

template <class Exec, class Types, small_config C, small_access Access, class Batch, class Epilogue>
class small_halves_kernel {
  using E = typename Types::a;
  using T = typename Types::accumulator;
  using mma = backend::mma<Exec>;
  using copier = backend::staging<Exec>;
  static_assert(sizeof(E) == 2 && sizeof(T) == 4 && C.matrix() && !Access.interleaved);
  static_assert(C.threads_of_problem() % 32 == 0 && C.k % 16 == 0 && C.stages == 1);
  static constexpr int threads = C.threads(), turns = C.turns;
  static constexpr int warps = C.threads_of_problem() / 32;  ///< of a problem: each has some rows of C
  /// Fragments of 16 x 8. Of problems of eight rows half of each is not used.
  static constexpr int fm = C.tm / 2, fn = C.tn / 2;
  using panel_a = small_panel<E, C, Access.a, 1, false>;
  using panel_b = small_panel<E, C, Access.b, 1, false>;

 public:
  static constexpr int team_size = threads;
  static constexpr std::size_t local_bytes = sizeof(E) * (panel_a::size + panel_b::size);
  static constexpr int teams_per_unit = backend::traits<Exec>::teams_per_unit(
      Access.vectors ? C.teams : C.teams * 3 / 4, team_size, local_bytes);

  small_halves_kernel(const Batch& batch, const gemm_problem<Types>& largest, const Epilogue& epilogue)
      : batch_(batch),
        epilogue_(epilogue),
        k_tiles_(int(ceil_div(largest.k, C.k))),
        a_in_words_(is_in_words<Access.a>(largest.a)),
        b_in_words_(is_in_words<Access.b>(largest.b)) {}

  /// Groups of problems.
  index_t league() const { return ceil_div(batch_.size(), C.problems); }

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    E* const local =
        static_cast<E*>(team.team_scratch(0).get_shmem_aligned(std::size_t(local_bytes), local_alignment));
    const int thread = int(team.team_rank());
    const index_t first = index_t(team.league_rank()) * C.problems;
    const int problem = thread / 32 / warps * turns, lane = thread % 32;
    const int row0 = thread / 32 % warps * (16 * fm);

    T acc[turns][fm][fn][2][2];  // (problem, fragment row, fragment column, half of its rows, column)
    KERAMOS_UNROLL
    for (int t = 0; t < turns; ++t) KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int v = 0; v < 4; ++v) acc[t][i][j][v / 2][v % 2] = 0;
    KERAMOS_NO_UNROLL
    for (int k_tile = 0; k_tile < k_tiles_; ++k_tile) {
      if (k_tile > 0) team.team_barrier();  // everyone has read the one before
      stage_operand<Access.a, panel_a, true>(local, thread, first, index_t(k_tile) * C.k);
      stage_operand<Access.b, panel_b, false>(local + panel_a::size, thread, first, index_t(k_tile) * C.k);
      copier::commit();
      copier::template wait<0>();
      team.team_barrier();  // this one is complete
      KERAMOS_UNROLL
      for (int t = 0; t < turns; ++t) multiply(acc[t], local, local + panel_a::size, problem + t, row0, lane);
    }
    KERAMOS_UNROLL
    for (int t = 0; t < turns; ++t)
      if (first + problem + t < batch_.size()) write(acc[t], first + problem + t, row0, lane);
  }

 private:
  /// Whether rows along `Along` begin at multiples of 4 bytes in all problems.
  template <tiling::direction Along>
  static bool is_in_words(const tiling::operand<E>& x) {
    const bool along_k = Along == tiling::direction::k;
    return (along_k ? x.stride_k : x.stride_mn) == 1 && (along_k ? x.stride_mn : x.stride_k) % 2 == 0 &&
           reinterpret_cast<std::uintptr_t>(x.data) % 4 == 0;
  }

  /// Neighbouring elements that a thread copies at once.
  struct piece {
    E* to;
    const E* from;
    index_t stride;
    int valid;  ///< how many of them exist
  };
  /// How the threads of a team share a k-tile of an operand of all its problems in pieces of `Width` elements, which are
  /// neighbours in memory if `Unit` says so. In each pass they take consecutive pieces, row by row, problem by problem.
  template <tiling::direction Along, class Panel, bool IsA, int Width, bool Unit>
  struct pieces {
    static constexpr bool along_k = Along == tiling::direction::k;
    static constexpr int width = Width;
    static constexpr int row = (along_k ? C.k : C.size) / Width, rows = along_k ? C.size : C.k;
    static constexpr int rows_at_once = threads / row;
    static constexpr int passes = C.problems * rows / rows_at_once;
    static_assert(threads % row == 0 && C.problems * rows % rows_at_once == 0);

    const Batch& batch;
    E* local;
    int thread;
    index_t first, k0;

    KERAMOS_FORCEINLINE_FUNCTION piece operator()(int pass) const {
      const int begin = pass * rows_at_once, at = thread / row;  // in rows
      const int problem = begin / rows + at / rows, slow = begin % rows + at % rows;
      const int fast = thread % row * Width, mn = along_k ? slow : fast, k = along_k ? fast : slow;
      const bool exists = first + problem < batch.size();
      const index_t b = exists ? first + problem : batch.size() - 1;
      const tiling::operand<E> x = operand(b);
      const int mn_left = int(IsA ? batch.m(b) : batch.n(b)) - mn;
      const index_t k_from_here = batch.k(b) - k0;
      const int k_left = int(k_from_here < 0 ? 0 : k_from_here < C.k ? k_from_here : C.k) - k;
      const int left = along_k ? k_left : mn_left;
      const bool inside = exists && mn_left > 0 && k_left > 0;
      const index_t along = Unit ? 1 : along_k ? x.stride_k : x.stride_mn;
      const index_t across = along_k ? x.stride_mn : x.stride_k;
      const E* const from = x.data + k0 * (along_k ? along : across) + (at % rows * across + fast * along) +
                            begin % rows * across;
      return {local + Panel::offset(problem, mn, k), inside ? from : x.data, along,
              !inside        ? 0
              : left < Width ? left
                             : Width};
    }
    KERAMOS_FORCEINLINE_FUNCTION tiling::operand<E> operand(index_t b) const {
      if constexpr (IsA)
        return batch.a_of(b);
      else
        return batch.b_of(b);
    }
  };

  /// Copies a k-tile of A or B of all problems of the team; zeros where there is none.
  template <tiling::direction Along, class Panel, bool IsA>
  KERAMOS_FORCEINLINE_FUNCTION void stage_operand(E* local, int team_thread, index_t first,
                                                  index_t k0) const {
    const int thread = copier::recompute(team_thread);  // addresses need not be kept

    if constexpr (Access.vectors)
      copy_pieces(pieces<Along, Panel, IsA, 8, true>{batch_, local, thread, first, k0});
    else if (IsA ? a_in_words_ : b_in_words_)
      copy_pieces(pieces<Along, Panel, IsA, 2, true>{batch_, local, thread, first, k0});
    else
      copy_elements(pieces<Along, Panel, IsA, 2, false>{batch_, local, thread, first, k0});
  }
  template <class Pieces>
  KERAMOS_FORCEINLINE_FUNCTION static void copy_pieces(const Pieces& piece_of) {
    KERAMOS_UNROLL
    for (int pass = 0; pass < Pieces::passes; ++pass) {
      const piece x = piece_of(pass);
      copier::template copy<Pieces::width>(x.to, x.from, x.valid);
    }
  }
  /// Elements that begin anywhere, by registers: some are on their way before the first is stored.
  template <class Pieces>
  KERAMOS_FORCEINLINE_FUNCTION static void copy_elements(Pieces piece_of) {
    constexpr int at_once = 8;
    static_assert(Pieces::width == 2 && Pieces::passes % at_once == 0);
    KERAMOS_UNROLL
    for (int begin = 0; begin < Pieces::passes; begin += at_once) {
      piece_of.thread = copier::recompute(piece_of.thread);
      E* to[at_once];
      unsigned element[at_once][2];
      KERAMOS_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const piece x = piece_of(begin + i);
        to[i] = x.to;
        KERAMOS_UNROLL
        for (int v = 0; v < 2; ++v) element[i][v] = v < x.valid ? bits_of(x.from[v * x.stride]) : 0;
      }
      KERAMOS_UNROLL
      for (int i = 0; i < at_once; ++i)
        *reinterpret_cast<unsigned*>(to[i]) = element[i][0] | element[i][1] << 16;
    }
  }
  KERAMOS_FORCEINLINE_FUNCTION static unsigned bits_of(const E& x) {
    std::uint16_t bits;
    ::memcpy(&bits, &x, sizeof(bits));
    return bits;
  }

  /// A k-tile of one problem. Each lane says where a row of 16 bytes begins: lanes 0 to 7 those of the first 8 x 8 matrix, and
  /// so on.
  KERAMOS_FORCEINLINE_FUNCTION static void multiply(T (&acc)[fm][fn][2][2], const E* a_local,
                                                    const E* b_local, int problem, int row0, int lane) {
    const int row = lane % 8, second = lane / 8 % 2, upper = lane / 16;
    constexpr bool wide = C.size >= 16;  // else there are no second eight rows, nor columns
    KERAMOS_UNROLL
    for (int k = 0; k < C.k; k += 16) {
      unsigned a[fm][4], b[fn + fn % 2][2];
      KERAMOS_UNROLL
      for (int i = 0; i < fm; ++i) {  // (half of m, half of k): (0, 0), (1, 0), (0, 1), (1, 1)
        const int m = row0 + i * 16 + (wide ? second * 8 : 0);
        load<Access.a, panel_a>(a[i], a_local, problem, m, k + upper * 8, row);
      }
      KERAMOS_UNROLL
      for (int j = 0; j < fn; j += 2) {  // (half of n, half of k): (0, 0), (0, 1), (1, 0), (1, 1)
        const int n = j * 8 + (wide ? upper * 8 : 0);
        unsigned both[4];
        load<Access.b, panel_b>(both, b_local, problem, n, k + second * 8, row);
        KERAMOS_UNROLL
        for (int v = 0; v < 4; ++v) b[j + v / 2][v % 2] = both[v];
      }
      KERAMOS_UNROLL
      for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j) mma::template multiply_short<E>(acc[i][j], a[i], b[j]);
    }
  }
  /// Row `row` of the 8 x 8 matrix at (mn, k), which is transposed if its rows run along m or n.
  template <tiling::direction Along, class Panel>
  KERAMOS_FORCEINLINE_FUNCTION static void load(unsigned (&to)[4], const E* local, int problem, int mn, int k,
                                                int row) {
    constexpr bool along_k = Along == tiling::direction::k;
    mma::template load_8x8x4<!along_k>(
        to, local + Panel::offset(problem, along_k ? mn + row : mn, along_k ? k : k + row));
  }

  /// Rows of C of problem b from row0 on, by all lanes of a warp.
  KERAMOS_FORCEINLINE_FUNCTION void write(const T (&acc)[fm][fn][2][2], index_t b, int row0, int lane) const {
    using element = typename Types::c;
    const gemm_problem<Types> p = batch_[b];
    const Epilogue epilogue = Batch::mixed && p.k == 0 ? without_terms(epilogue_) : epilogue_;
    const tiling::position at{0, 0, 0, p.k, int(p.m), int(p.n)};
    const c_writer<Types, 2, tiling::position> writer(p, at);
    const int row = row0 + lane / 4, col = lane % 4 * 2;
    constexpr int halves = C.size >= 16 ? 2 : 1;
    if constexpr (sizeof(element) == 2) {
      if (p.c_col_stride == 1 && !writer.writes_vectors() && !reads_c<T>(epilogue)) {
        KERAMOS_UNROLL
        for (int i = 0; i < fm; ++i) {
          const int m = i * 16 + row;
          element* const c = p.c + m * p.c_row_stride;
          element* const of_rows[] = {c, c + 8 * p.c_row_stride};
          const bool there[] = {m < at.rows, halves == 2 && m + 8 < at.rows};
          write_in_words<mma, fn>(of_rows, there, lane, at.cols, [&](int half, int j, int v) {
            const int n = j * 8 + col + v;
            if (!there[half] || n >= at.cols) return element(0.0f);
            return element_without_c<element>(epilogue, p.place, acc[i][j][half][v], m + 8 * half, n);
          });
        }
        return;
      }
    }
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int half = 0; half < halves; ++half) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j)
      writer.write(i * 16 + half * 8 + row, j * 8 + col, acc[i][j][half], epilogue);
  }

  Batch batch_;
  Epilogue epilogue_;
  int k_tiles_;
  bool a_in_words_, b_in_words_;
};

}  // namespace keramos::detail::simt
