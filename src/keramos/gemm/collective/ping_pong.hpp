// The collective of AMD's matrix units whose wavefronts take turns: on each SIMD unit one multiplies while another loads. It is
// the ping-pong of eight waves that HipKittens (https://arxiv.org/abs/2511.08083) found the fastest of several pipelines.
#pragma once

#include <type_traits>
#include <utility>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/core/local_memory.hpp>
#include <keramos/gemm/collective/direct_copy.hpp>
#include <keramos/gemm/collective/simt.hpp>
#include <keramos/gemm/collective/wave_mma.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Where all wavefronts of a team meet. Between two meetings a wavefront either loads or multiplies.
enum class meeting { start, apart, loaded, multiplied, together };

/// The copies of a k-tile, of which each is read by some of `Clusters` turns.
template <int Clusters>
struct copy_counts {
  int of[Clusters]
        [Clusters];  ///< copies that a wavefront makes, by the first and the last cluster that reads them

  /// How many are begun with the loads of a cluster: they go to where the cluster before was the last to read.
  constexpr int begun(int cluster) const {
    int n = 0;
    for (int first = 0; first < Clusters; ++first) n += of[first][(cluster + Clusters - 1) % Clusters];
    return n;
  }
  /// How many of the second k-tile are begun before the first is read.
  constexpr int begun_ahead() const {
    int n = 0;
    for (int cluster = 1; cluster < Clusters; ++cluster) n += begun(cluster);
    return n;
  }
  /// How many copies may still be under way when the cluster behind this one loads: those that were begun after the last one that
  /// it is the first to read. -1 if it is that of none.
  constexpr int left(int cluster) const {
    const int first = (cluster + 1) % Clusters;
    for (int last = Clusters - 1; last >= 0; --last) {
      if (of[first][last] == 0) continue;
      int n = 0;
      for (int ago = 0; ago < 2 * (Clusters - 1) + first - last; ++ago)
        n += begun((cluster + 2 * Clusters - ago) % Clusters);
      return n;
    }
    return -1;
  }
};

/// Calls `f(constant)` for each cluster.
template <int Clusters, class F>
KERAMOS_FORCEINLINE_FUNCTION void for_each_cluster(const F& f) {
  [&]<int... C>(std::integer_sequence<int, C...>) KERAMOS_INLINED {
    (f(std::integral_constant<int, C>()), ...);
  }
  (std::make_integer_sequence<int, Clusters>());
}

/// What one wavefront does for `k_tiles` k-tiles, at least one, which pass through two slots of local memory. A k-tile is
/// multiplied in `Clusters` turns.
///
/// The second half of the wavefronts comes one meeting later than the first: so one half loads fragments while the other
/// multiplies. Between two neighbouring meetings the halves do, with x.c for cluster c of k-tile x:
///
///   first    load s.0   multiply s.0     load s.1         multiply s.1     load t.0
///   second   ...        load s.0         multiply s.0     load s.1         multiply s.1      ...
///
/// With `load s.1` a wavefront begins to copy its share of the k-tile behind t to where nobody reads s after s.0: all have read
/// s.0 before the meeting behind the second half's load. So with s.2 and on; what is read until the last cluster of s follows
/// with `load t.0`. Before a meeting a wavefront waits for the copies that the next cluster reads, not for those that were begun
/// after them, and they are read only after both halves have met. So copies of what not all clusters read have the time of a k-tile
/// to arrive in.
template <int Clusters, class Wave>
KERAMOS_FORCEINLINE_FUNCTION void ping_pong(Wave& wave, int k_tiles) {
  static_assert(Clusters > 1, "keramos: a copy needs a turn to arrive in");
  constexpr copy_counts<Clusters> copies = Wave::copies;
  for_each_cluster<Clusters>([&](auto last) KERAMOS_INLINED { wave.copy(last, 0, 0); });
  if (k_tiles > 1) {
    for_each_cluster<Clusters - 1>([&](auto last) KERAMOS_INLINED { wave.copy(last, 1, 1); });
    wave.template wait_for_copies<copies.begun_ahead()>();
  } else {
    wave.template wait_for_copies<0>();
  }
  wave.meet(meeting::start);
  if (wave.is_second()) wave.meet(meeting::apart);
  int slot = 0;
  KERAMOS_NO_UNROLL
  for (int s = 0; s < k_tiles; ++s, slot ^= 1) {
    for_each_cluster<Clusters>([&](auto cluster) KERAMOS_INLINED {
      constexpr int c = cluster;
      wave.load(slot, c);
      if constexpr (c == 0)
        if (s + 1 < k_tiles) wave.copy(Clusters - 1, slot ^ 1, 1);
      constexpr int left = copies.left(c);
      if (s + 2 < k_tiles) {
        if constexpr (c > 0) wave.copy(c - 1, slot, 2);
        if constexpr (left >= 0) wave.template wait_for_copies<left>();
      } else {
        if constexpr (left >= 0) wave.template wait_for_copies<0>();
      }
      wave.meet(meeting::loaded);
      wave.multiply(c);
      wave.meet(meeting::multiplied);
    });
    wave.next_k_tile();
  }
  if (!wave.is_second()) wave.meet(meeting::together);
}

/// One thread of such a wavefront on a GPU.
template <class Exec, class Team, class Copies, class Accumulator, class... Kinds>
struct ping_pong_wave {
  using copier = backend::staging<Exec>;
  using atom = backend::mma<Exec>;

  static constexpr int clusters = Accumulator::clusters;
  static constexpr copy_counts<clusters> copies = Copies::template counts<copy_counts<clusters>>();

  const Team& team;
  Copies& copying;
  Accumulator& sums;
  int second;  // 1 in the second half

  KERAMOS_FORCEINLINE_FUNCTION bool is_second() const { return second != 0; }
  KERAMOS_FORCEINLINE_FUNCTION void copy(int last, int slot, int ahead) { copying.copy(last, slot, ahead); }
  KERAMOS_FORCEINLINE_FUNCTION void next_k_tile() { copying.next_k_tile(); }
  template <int Left>
  KERAMOS_FORCEINLINE_FUNCTION void wait_for_copies() {
    copier::template wait_for_direct_copies<Left>();
  }
  /// What was read of local memory before is in registers then.
  KERAMOS_FORCEINLINE_FUNCTION void meet(meeting) { copier::barrier(team); }
  KERAMOS_FORCEINLINE_FUNCTION void load(int slot, int cluster) { sums.load(copying.panels(slot), cluster); }
  KERAMOS_FORCEINLINE_FUNCTION void multiply(int cluster) {
    atom::begin_turn();
    sums.multiply_cluster(cluster, Kinds()...);
    atom::end_turn();
  }
};

/// Wavefronts take turns for k-tiles that lie inside of the operands, which are copied 16 bytes at a time. Other k-tiles are
/// copied through registers with checks, and all wavefronts multiply them together.
template <class Exec, class Types, tiling::config Config, access A, access B, bool ConjugateA>
class ping_pong_collective : public collective<Exec, Types, Config, A, B, ConjugateA> {
  using base = collective<Exec, Types, Config, A, B, ConjugateA>;
  using accumulator = typename base::accumulator;
  using stager = typename base::stager;
  using copier = backend::staging<Exec>;
  using atom = backend::mma<Exec>;
  using copies_type =
      direct_copies<Types, Config, A.along, B.along, base::team_size, Exec, stager, accumulator>;
  static_assert(A.vector > 1 && B.vector > 1, "keramos: is_access() has let through what cannot be copied");
  static_assert(Config.stages == 2 && Config.warps() == 8 && !Config.splits_k);

 public:
  template <class Team, class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void run(const Team& team, const gemm_problem<Types>& p, const Tile& tile,
                                        const Epilogue& epilogue) const {
    auto at = tile.position();
    char* local =
        static_cast<char*>(team.team_scratch(0).get_shmem_aligned(base::local_bytes(), local_alignment));
    const int thread = atom::opaque(copier::thread_of(team));
    accumulator sums(thread);
    const int k_tiles = int((at.k1 - at.k0 + Config.block.k - 1) / Config.block.k);
    with_kinds<accumulator>(stager::panels_of(p, local, 0), [&](auto... kinds) KERAMOS_INLINED {
      int done = 0;
      if (copies_type::reaches(p) && at.rows == Config.block.m && at.cols == Config.block.n)
        done = int((at.k1 - at.k0) / Config.block.k);
      if (done > 0) take_turns<decltype(kinds)...>(team, p, at, local, thread, sums, done);
      at.k0 += index_t(done) * Config.block.k;
      stager rest(p, at, local, atom::opaque(thread));
      KERAMOS_NO_UNROLL
      for (int s = done; s < k_tiles; ++s) {
        rest.template stage<false>(s - done, 0);
        copier::barrier(team);
        sums.refresh();
        KERAMOS_UNROLL
        for (int c = 0; c < accumulator::clusters; ++c) {
          sums.load(rest.panels(0), c);
          atom::begin_turn();  // else loads of several clusters fill the registers
          sums.multiply_cluster(c, kinds...);
          atom::end_turn();
        }
        copier::barrier(team);
      }
      if constexpr (accumulator::takes_kinds)
        sums.correct(unsigned(k_tiles) * unsigned(Config.block.k), kinds...);
    });
    sums.refresh();
    sums.write(p, tile.position(), epilogue);
  }

 private:
  template <class... Kinds, class Team>
  KERAMOS_FORCEINLINE_FUNCTION static void take_turns(const Team& team, const gemm_problem<Types>& p,
                                                      const tiling::position& at, char* local, int thread,
                                                      accumulator& sums, int k_tiles) {
    copies_type copies(p, at, local, thread);
    ping_pong_wave<Exec, Team, copies_type, accumulator, Kinds...> wave{
        team, copies, sums, atom::of_wave(thread / (base::team_size / 2))};
    ping_pong<accumulator::clusters>(wave, k_tiles);
  }
};

}  // namespace keramos::detail::simt
