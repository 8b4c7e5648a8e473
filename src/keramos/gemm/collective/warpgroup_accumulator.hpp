// The sums that a warpgroup has in its threads' registers: how a k-tile is added to them, and how they become C.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/float8.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/collective/warpgroup_c_writer.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Sums of a warpgroup, 64 x N.
template <class Types, int N, class Exec, bool LoadsA>
class warpgroup_accumulator {
  using T = typename Types::accumulator;
  using E = typename Types::a;
  using atom = backend::warpgroups<Exec>;
  using rows = warpgroup_rows<LoadsA>;
  using writer = warpgroup_c_writer<Types, N, Exec, LoadsA>;
  static constexpr int fragments = N / 8;  ///< of 64 x 8

 public:
  /// Whether the units' sums are not good enough, of fewer bits than T has or not rounded: then those of each k-tile are
  /// formed by themselves, at most 128 columns at a time, and added to the rest here.
  static constexpr bool adds_k_tiles = std::is_same_v<E, float8> || Types::splits_elements;
  static constexpr int part_columns = adds_k_tiles && N > 128 ? 128 : N;
  static constexpr int parts = N / part_columns;  ///< of the columns
  static_assert(N % part_columns == 0);
  /// Of sums, and of what is loaded of A: two k-tiles.
  static constexpr int registers = N / 2 + (adds_k_tiles ? part_columns / 2 : 0) + (LoadsA ? 2 * 16 : 0);

  KERAMOS_FORCEINLINE_FUNCTION explicit warpgroup_accumulator(int thread) : thread_(thread) {
    if constexpr (adds_k_tiles) {
      KERAMOS_UNROLL
      for (int i = 0; i < N / 2; ++i) sums_[i] = T(0);
    }
  }

  /// Between begin and commit of the units: begins to multiply a k-tile of 128 bytes, for one part of the columns. `Operands` are
  /// its panels, a and b their descriptions. With `add` products are added to the sums so far, or where k-tiles are added
  /// afterwards to this k-tile's; without it they overwrite them.
  template <class Operands>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(std::uint64_t a, std::uint64_t b, [[maybe_unused]] int part,
                                             [[maybe_unused]] bool add) {
    using panel_a = typename Operands::a;
    using panel_b = typename Operands::b;
    constexpr bool kind_a = Operands::kind_a, kind_b = Operands::kind_b;
    KERAMOS_UNROLL
    for (int step = 0; step < 4; ++step) {
      const std::uint64_t a_step = atom::advance(a, panel_a::bytes_to(0, step)),
                          b_step = atom::advance(b, panel_b::bytes_to(part * part_columns, step));
      if constexpr (Types::splits_elements)
        atom::template multiply<E, false, false>(of_k_tile_, a_step, b_step, add || step > 0);
      else if constexpr (adds_k_tiles)
        atom::template multiply_bytes<kind_a, kind_b>(of_k_tile_, a_step, b_step, add || step > 0);
      else if constexpr (sizeof(E) == 1)
        atom::template multiply_bytes<kind_a, kind_b>(sums_, a_step, b_step, add || step > 0);
      else
        atom::template multiply<E, panel_a::along_mn, panel_b::along_mn>(sums_, a_step, b_step,
                                                                         add || step > 0);
    }
  }

  /// What a thread has of a k-tile of A that lies along m.
  struct loaded_a {
    unsigned of_step[4][4];

    /// `panel` is the first k-tile of A, `bytes` how far behind it the one meant is.
    template <class PanelA>
    KERAMOS_FORCEINLINE_FUNCTION void load(const char* panel, int bytes, int thread) {
      using two = run<unsigned, 2>;
      const int row = rows::first(thread), k = thread % 4;
      KERAMOS_UNROLL
      for (int half = 0; half < 2; ++half) {
        const char* const at = panel + PanelA::offset(row, k + 4 * half) * int(sizeof(E)) + bytes;
        KERAMOS_UNROLL
        for (int step = 0; step < 4; ++step) {
          const two x = *reinterpret_cast<const two*>(at + step * PanelA::bytes_to(0, 1));
          of_step[step][2 * half] = x.value[0], of_step[step][2 * half + 1] = x.value[1];
        }
      }
    }
    /// The products that read it are done.
    KERAMOS_FORCEINLINE_FUNCTION void settle() {
      KERAMOS_UNROLL
      for (int step = 0; step < 4; ++step) KERAMOS_UNROLL
      for (int i = 0; i < 4; ++i) atom::settle(of_step[step][i]);
    }
  };

  /// As multiply above, with A loaded.
  template <class PanelB>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const loaded_a& a, std::uint64_t b, bool add) requires(LoadsA) {
    KERAMOS_UNROLL
    for (int step = 0; step < 4; ++step)
      atom::multiply(sums_, a.of_step[step], atom::advance(b, PanelB::bytes_to(0, step)), add || step > 0);
  }

  /// All products are done.
  KERAMOS_FORCEINLINE_FUNCTION void settle() {
    if constexpr (!adds_k_tiles) {
      KERAMOS_UNROLL
      for (int i = 0; i < N / 2; ++i) atom::settle(sums_[i]);
    }
  }

  /// Adds a k-tile's sums of a part, which are done.
  KERAMOS_FORCEINLINE_FUNCTION void add_k_tile(int part) requires(adds_k_tiles) {
    KERAMOS_UNROLL
    for (int i = 0; i < part_columns / 2; ++i) {
      atom::settle(of_k_tile_[i]);
      sums_[part * part_columns / 2 + i] += of_k_tile_[i];
    }
  }

  /// `f(number, run)` for the sums in runs of 16 bytes.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_vector(const F& f) {
    KERAMOS_UNROLL
    for (int i = 0; i < fragments; ++i) {
      T run[4] = {sums_[4 * i], sums_[4 * i + 1], sums_[4 * i + 2], sums_[4 * i + 3]};
      f(i, run);
      KERAMOS_UNROLL
      for (int v = 0; v < 4; ++v) sums_[4 * i + v] = run[v];
    }
  }

  /// Whether read_c() reads what write() will read first of C, while the last products are formed.
  template <class Epilogue>
  static constexpr bool reads_early = writer::template exchanges_vectors<Epilogue>;
  template <class Position>
  KERAMOS_FORCEINLINE_FUNCTION void read_c(const gemm_problem<Types>& p, const Position& at, char* local) {
    const tile_window there(p, at);
    writer{p, at, there, sums_, thread_, local}.read(first_of_c_);
  }

  /// Writes the tile through the epilogue. Sums that are not finite may have been formed of parts of elements; those are
  /// formed again first (epilogue/exact_infinities.hpp). C passes through `local`.
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<Types>& p, const Position& at,
                                          const Epilogue& epilogue, char* local) {
    const tile_window there(p, at);
    if constexpr (Types::splits_elements) {
      form_again(at, there, epilogue);
      atom::meet_warp();  // threads may have taken different ways
    }
    writer{p, at, there, sums_, thread_, local}.write(epilogue, first_of_c_);
  }

  /// `f(row, column, sum)` for the thread's sums, in the tile.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_sum(const F& f) {
    const int first_row = rows::first(thread_), first_col = thread_ % 4 * 2;
    KERAMOS_UNROLL
    for (int i = 0; i < N / 2; ++i)
      f(first_row + i / 2 % 2 * rows::second, first_col + i / 4 * 8 + i % 2, sums_[i]);
  }

 private:
  /// The sums that are neither infinite nor NaN stay. In a loop, for code of each sum would be fetched for each tile.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void form_again(const tiling::position& at, const tile_window& there,
                                               const Epilogue& epilogue) {
    static_assert(part_columns == 128);
    KERAMOS_UNROLL
    for (int part = 0; part < parts; ++part) {
      std::uint64_t left = 0;
      KERAMOS_UNROLL
      for (int i = 0; i < 64; ++i) {
        const T sum = sums_[part * 64 + i];
        if (!(sum - sum == 0)) left |= std::uint64_t(1) << i;
      }
      for (int number = 0; left != 0; ++number, left >>= 1) {
        const int row = rows::first(thread_) + number % 4 / 2 * rows::second;
        const int col = part * 128 + number / 4 * 8 + thread_ % 4 * 2 + number % 2;
        if ((left & 1) == 0 || !there.has(row, col)) continue;
        const T sum = epilogue.sum(at.m0 + row, at.n0 + col);
        KERAMOS_UNROLL
        for (int i = 0; i < 64; ++i) sums_[part * 64 + i] = i == number ? sum : sums_[part * 64 + i];
      }
    }
  }

  int thread_;     // of those that multiply
  T sums_[N / 2];  // (fragment, half of its rows, column)
  T of_k_tile_[adds_k_tiles ? part_columns / 2 : 1];
  typename writer::first_blocks first_of_c_;
};

}  // namespace keramos::detail::simt
