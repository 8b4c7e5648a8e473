// Split-K: several teams share a tile of C, each with a part of k; their sums are added in a fixed order. All tiles are shared,
// or only the last ones, which would leave most of the device idle.
#pragma once

#include <cstddef>
#include <cstring>

#include <Kokkos_Core.hpp>

#include <keramos/backends/interface.hpp>
#include <keramos/base/divisor.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/gemm/collective/run.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail {

/// A plan, and where the parts of a tile meet.
///
/// Of up to `fan_in` neighbouring parts the team that arrives last adds all, in their order, and goes on as
/// the first of them, until one team holds the tile: no team ever waits for another, none launches again,
/// and which one adds does not change a bit of the sum. (Stream-K's "fixup", and its hybrid schedule with whole
/// tiles first, Osama et al., PPoPP 2023; with the last team instead of a waiting one, and a tree so that no team
/// adds hundreds of parts.)
///
/// An accumulator takes part by `for_each_vector(f)`, which calls `f(number, T (&run)[N])` for its elements in runs of
/// 8 or 16 bytes, numbered alike in every team.
template <class T>
struct split_k {
  T* sums;             ///< (divided tile, part, run, thread, element of the run)
  int* arrivals;       ///< (divided tile, part), zero between kernels
  index_t k_per_part;  ///< as in split_plan
  int parts, fan_in;
  int whole_tiles, divided_tiles;  ///< all are whole if k is not divided
  divisor by_divided_tiles;

  /// Of a problem of `tiles` tiles.
  KERAMOS_INLINE_FUNCTION split_k(const split_plan& plan, index_t k, int tiles, T* sums_of_parts = nullptr,
                                  int* arrivals_of_parts = nullptr)
      : sums(sums_of_parts),
        arrivals(arrivals_of_parts),
        k_per_part(plan.parts == 1 ? k : plan.k_per_part),
        parts(plan.parts),
        fan_in(plan.fan_in < plan.parts ? plan.fan_in : plan.parts),
        whole_tiles(plan.parts == 1 ? tiles : plan.whole_tiles),
        divided_tiles(tiles - whole_tiles),
        by_divided_tiles(divided_tiles) {}

  /// How many ranks do all tiles. Each is a team, or a turn of a persistent one.
  KERAMOS_FORCEINLINE_FUNCTION int ranks() const { return whole_tiles + divided_tiles * parts; }
  /// The part of k of a rank. Behind the whole tiles the ranks of one part of k follow each other, so that those which run
  /// at the same time read the same k-tiles.
  KERAMOS_FORCEINLINE_FUNCTION int part_of(int rank) const {
    const int behind = rank - whole_tiles;
    return by_divided_tiles.quotient(behind < 0 ? 0 : behind);
  }
  /// The tile of a rank that has this part.
  KERAMOS_FORCEINLINE_FUNCTION int tile_of(int rank, int part) const { return rank - part * divided_tiles; }

  /// Where a part of a tile begins and ends.
  KERAMOS_FORCEINLINE_FUNCTION void narrow(tiling::position& at, int tile, int part) const {
    const index_t k = at.k1, most = tile < whole_tiles ? k : k_per_part;
    at.k0 = part * k_per_part;
    at.k1 = k - at.k0 < most ? k : at.k0 + most;
  }

  /// True for the one team that then holds the sum of all parts of `tile` in `acc`.
  template <int TileSize, int TeamSize, class Team, class Accumulator>
  KERAMOS_FORCEINLINE_FUNCTION bool add_up(const Team& team, int tile, int part, Accumulator& acc) const {
    if (tile < whole_tiles) return true;
    tile -= whole_tiles;
    const int thread = int(team.team_rank());
    const auto run_of = [&](int of_part, int number, int size) {
      return sums + (index_t(tile) * parts + of_part) * TileSize + (number * TeamSize + thread) * size;
    };
    for (int stride = 1; stride < parts; stride *= fan_in) {
      const int first = part - part % (stride * fan_in);
      const int behind = (parts - first + stride - 1) / stride;
      const int count = behind < fan_in ? behind : fan_in;
      if (count > 1) {
        acc.for_each_vector([&](int number, auto& run) {
          store<typename Team::execution_space>(run_of(part, number, size_of(run)), run);
        });
        // Counted at the second of the parts that meet here: it is the second in no other meeting.
        if (!arrives_last(team, arrivals + index_t(tile) * parts + first + stride, count)) return false;
        acc.for_each_vector([&](int number, auto& run) { load(run, run_of(first, number, size_of(run))); });
        for (int i = 1; i < count; ++i)
          acc.for_each_vector([&](int number, auto& run) {
            T other[sizeof(run) / sizeof(T)];
            load(other, run_of(first + i * stride, number, size_of(run)));
            KERAMOS_UNROLL
            for (int v = 0; v < size_of(run); ++v) run[v] += other[v];
          });
      }
      part = first;
    }
    return true;
  }

 private:
  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int size_of(const T (&)[Count]) {
    return Count;
  }
  /// Stores a run in one access. Elsewhere compilers do so; nvcc makes a store of each element.
  template <class Exec, int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void store(T* to, const T (&sums)[Count]) {
    unsigned words[4];
    if constexpr (sizeof(sums) == sizeof(words) &&
                  requires { backend::mma<Exec>::write_16_bytes(to, words); }) {
      ::memcpy(words, sums, sizeof(words));
      backend::mma<Exec>::write_16_bytes(to, words);
    } else {
      simt::run<T, Count> x;
      KERAMOS_UNROLL
      for (int v = 0; v < Count; ++v) x.value[v] = sums[v];
      simt::store_at_once(to, x);
    }
  }
  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void load(T (&sums)[Count], const T* from) {
    const auto x = simt::load_at_once(reinterpret_cast<const simt::run<T, Count>*>(from));
    KERAMOS_UNROLL
    for (int v = 0; v < Count; ++v) sums[v] = x.value[v];
  }

  /// Whether this team is the last of `count` to come here; what the others stored before, it sees.
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION static bool arrives_last(const Team& team, int* arrivals_here, int count) {
    if constexpr (!backend::traits<typename Team::execution_space>::fence_covers_team) Kokkos::memory_fence();
    team.team_barrier();
    int arrived = 0;
    if (team.team_rank() == 0) {
      // Where fences are cumulative, this one covers what the barrier ordered before it; and all it will order after.
      Kokkos::memory_fence();
      arrived = Kokkos::atomic_fetch_add(arrivals_here, 1);
      if (arrived == count - 1) *arrivals_here = 0;  // for the next kernel
      Kokkos::memory_fence();
    }
    team.team_broadcast(arrived, 0);
    return arrived == count - 1;
  }
};

/// Elements of sums that a plan needs for `tiles` tiles.
inline std::size_t sums_of(const split_plan& plan, int tiles, int tile_size) {
  return plan.parts > 1 ? std::size_t(tiles - plan.whole_tiles) * plan.parts * tile_size : 0;
}

/// Takes the memory that a plan needs for `tiles` tiles from the queue's, behind its first `in_use` bytes, which are taken. A
/// captured graph uses the same memory in each run: one run at a time.
template <class T, class Exec>
split_k<T> make_split(const Exec& exec, workspace<Exec>& memory, const split_plan& plan, index_t k, int tiles,
                      int tile_size, std::size_t in_use = 0) {
  if (plan.parts == 1) return {plan, k, tiles};
  T* const sums = memory.template reserve<T>(exec, sums_of(plan, tiles, tile_size), in_use);
  return {plan, k, tiles, sums, memory.counters(exec, sums_of(plan, tiles, 1))};
}

}  // namespace keramos::detail
