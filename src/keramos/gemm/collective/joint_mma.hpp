// Accumulators on matrix units whose fragments a sub-group loads and holds together: joint_matrix of SYCL.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/joint_fragment.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Calls `f(i)` with constants i = 0 ... Count - 1. Fragments are numbered by constants alone: where a loop is unrolled late, or
/// not at all, compilers keep them in memory.
template <int Count, class F>
KERAMOS_FORCEINLINE_FUNCTION void for_constants(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) KERAMOS_INLINED {
    (f(std::integral_constant<int, I>()), ...);
  }
  (std::make_integer_sequence<int, Count>());
}

/// A warp's tile of accumulators, which its sub-groups halve along m (or share, if there are more). Panels are fragment_panels.
///
/// Which lane holds which sum, fragments do not tell. So `collect` follows the last k-tile: sums pass through local memory into
/// registers of lanes, from which they are added to others (split_k) and written like any.
template <class Types, tiling::config Config, class Exec>
class joint_mma_accumulator {
  using E = typename Types::a;
  using T = typename Types::accumulator;
  using atom = backend::mma<Exec>;
  static constexpr backend::simt::joint_fragment layout = atom::template fragment<E>;
  static constexpr int warp_size = backend::traits<Exec>::warp_size, sub_groups = warp_size / layout.lanes;
  static constexpr int sub_m = Config.warp.m / sub_groups;
  static constexpr int fm = sub_m / layout.m, fn = Config.warp.n / layout.n;
  static constexpr int warps_n = Config.block.n / Config.warp.n;
  static constexpr int steps = Config.block.k / layout.k;
  static_assert(std::is_same_v<E, typename Types::b>);
  static_assert(warp_size % layout.lanes == 0 && sub_m % layout.m == 0 && Config.warp.n % layout.n == 0 &&
                    Config.block.k % layout.k == 0,
                "keramos: warp tiles are multiples of the fragment");

  // A fragment in runs of 16 bytes: those of its first rows are the lanes' first ones.
  static constexpr int vector = 16 / int(sizeof(T)), runs_of_row = layout.n / vector;
  static constexpr int runs = layout.m * layout.n / vector / layout.lanes;
  static_assert(layout.lanes % runs_of_row == 0 && layout.m * layout.n % (vector * layout.lanes) == 0);
  static constexpr std::size_t piece_bytes = layout.m * layout.n * sizeof(T);

 public:
  static constexpr bool reads_either = true, takes_kinds = tiling::reading<E>::has_kinds;
  /// Bytes of local memory that collect takes.
  static constexpr std::size_t collecting_bytes = Config.warps() * sub_groups * piece_bytes;

  KERAMOS_FORCEINLINE_FUNCTION explicit joint_mma_accumulator(int thread)
      : sub_group_(atom::same_for_lanes(thread / layout.lanes)), lane_(thread % layout.lanes) {
    const int warp = sub_group_ / sub_groups;
    m_ = warp / warps_n * Config.warp.m + sub_group_ % sub_groups * sub_m;
    n_ = warp % warps_n * Config.warp.n;
    for_fragments([&](auto i, auto j) KERAMOS_INLINED { atom::clear(fragments_[i][j]); });
  }

  /// Fragments are loaded where they are multiplied: of which type they are depends on the kinds of elements.
  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void start(const Panels&) {}

  /// `KindB` and `KindA` are whether elements of B and of A are signed, if they are integers.
  template <class Panels, class Next, class KindB = std::true_type, class KindA = std::true_type>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const Panels& now, const Next& next, KindB = {}, KindA = {}) {
    for_constants<steps>([&](auto s) KERAMOS_INLINED {
      typename atom::template b_fragment<E, KindB::value> b[fn];
      for_constants<fn>([&](auto j) KERAMOS_INLINED {
        atom::load(b[j], now.b.at(n_ + j * layout.n, s * layout.k), decltype(now.b)::pitch);
      });
      for_constants<fm>([&](auto i) KERAMOS_INLINED {
        typename atom::template a_fragment<E, KindA::value> a;
        atom::load(a, now.a.at(m_ + i * layout.m, s * layout.k), decltype(now.a)::pitch);
        // Its copies are on their way while the last fragments multiply.
        if constexpr (s + 1 == steps && i + 1 == fm) next();
        for_constants<fn>([&](auto j) KERAMOS_INLINED { atom::multiply(fragments_[i][j], a, b[j]); });
      });
    });
  }

  /// The units know both kinds of integers.
  template <class KindB, class KindA>
  KERAMOS_FORCEINLINE_FUNCTION void correct(unsigned, KindB, KindA) {}

  /// By all threads of the team, once nothing in `local` is of use any more.
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void collect(const Team& team, char* local) {
    T* const piece = reinterpret_cast<T*>(local + sub_group_ * piece_bytes);
    team.team_barrier();
    for_fragments([&](auto i, auto j) KERAMOS_INLINED {
      atom::store(piece, fragments_[i][j], layout.n);
      atom::meet_lanes();
      for_constants<runs>([&](auto v) KERAMOS_INLINED {
        const auto r =
            *reinterpret_cast<const run<T, vector>*>(piece + row_of(v) * layout.n + column_of_lane());
        KERAMOS_UNROLL
        for (int e = 0; e < vector; ++e) sums_[i][j][v][e] = r.value[e];
      });
      atom::meet_lanes();
    });
  }

  /// `f(number, run)` for the accumulators in runs of 16 bytes.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_vector(const F& f) {
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int v = 0; v < runs; ++v) f((i * fn + j) * runs + v, sums_[i][j][v]);
  }

  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<Types>& p, const Position& at,
                                          const Epilogue& epilogue) const {
    const c_writer<Types, vector, Position> writer(p, at);
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int v = 0; v < runs; ++v) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j)
      writer.write(m_ + i * layout.m + row_of(v), n_ + j * layout.n + column_of_lane(), sums_[i][j][v],
                   epilogue);
  }

 private:
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION static void for_fragments(const F& f) {
    for_constants<fm>([&](auto i)
                          KERAMOS_INLINED { for_constants<fn>([&](auto j) KERAMOS_INLINED { f(i, j); }); });
  }

  /// Of this lane's run v of a fragment.
  KERAMOS_FORCEINLINE_FUNCTION int row_of(int v) const {
    return v * (layout.lanes / runs_of_row) + lane_ / runs_of_row;
  }
  KERAMOS_FORCEINLINE_FUNCTION int column_of_lane() const { return lane_ % runs_of_row * vector; }

  int sub_group_, lane_, m_, n_;                          // first row and column of the sub-group's tile
  typename atom::template sums<E, T> fragments_[fm][fn];  // (fragment row, fragment column)
  T sums_[fm][fn][runs][vector];                          // once they are collected
};

}  // namespace keramos::detail::simt
