// Split-K: several teams share a tile of C, each with a part of k; their sums are added in a fixed order.
#pragma once

#include <cstddef>

#include <Kokkos_Core.hpp>

#include <keramos/base/macros.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail {

/// A plan, and where the parts of a tile meet.
///
/// Of up to `fan_in` neighbouring parts the team that arrives last adds all, in their order, and goes on as
/// the first of them, until one team holds the tile: no team ever waits for another, none launches again,
/// and which one adds does not change a bit of the sum. (Stream-K's "fixup", Osama et al., PPoPP 2023, with
/// the last team instead of a waiting one, and a tree so that no team adds hundreds of parts.)
///
/// An accumulator takes part by `for_each_vector(f)`, which calls `f(number, T (&run)[N])` for its elements in runs of
/// 8 or 16 bytes, numbered alike in every team.
template <class T>
struct split_k : split_plan {
  T* sums = nullptr;        ///< (tile, part, run, thread, element of the run)
  int* arrivals = nullptr;  ///< (tile, part), zero between kernels

  /// Where the part of a team of this rank begins and ends. Teams of one part of k follow each other, so
  /// that those which run at the same time read the same k-tiles.
  KERAMOS_FORCEINLINE_FUNCTION void narrow(tiling::position& at, int part) const {
    at.k0 = part * k_per_part;
    at.k1 = at.k1 - at.k0 < k_per_part ? at.k1 : at.k0 + k_per_part;
  }

  /// True for the one team that then holds the sum of all parts of `tile` in `acc`.
  template <int TileSize, int TeamSize, class Team, class Accumulator>
  KERAMOS_FORCEINLINE_FUNCTION bool add_up(const Team& team, int tile, int part, Accumulator& acc) const {
    const int thread = int(team.team_rank());
    const auto run_of = [&](int of_part, int number, int size) {
      return sums + (index_t(tile) * parts + of_part) * TileSize + (number * TeamSize + thread) * size;
    };
    for (int stride = 1; stride < parts; stride *= fan_in) {
      const int first = part - part % (stride * fan_in);
      const int behind = (parts - first + stride - 1) / stride;
      const int count = behind < fan_in ? behind : fan_in;
      if (count > 1) {
        acc.for_each_vector([&](int number, auto& run) { store(run_of(part, number, size_of(run)), run); });
        // The second of the parts that meet here is the second of no other meeting.
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
  struct alignas(sizeof(T) * Count) block {
    T value[Count];
  };
  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int size_of(const T (&)[Count]) {
    return Count;
  }
  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void store(T* to, const T (&run)[Count]) {
    block<Count> b;
    KERAMOS_UNROLL
    for (int v = 0; v < Count; ++v) b.value[v] = run[v];
    *reinterpret_cast<block<Count>*>(to) = b;
  }
  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void load(T (&run)[Count], const T* from) {
    const auto b = *reinterpret_cast<const block<Count>*>(from);
    KERAMOS_UNROLL
    for (int v = 0; v < Count; ++v) run[v] = b.value[v];
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

/// Elements of sums that a plan for so many tiles needs.
inline std::size_t sums_of(const split_plan& plan, int tiles, int tile_size) {
  return plan.parts > 1 ? std::size_t(tiles) * plan.parts * tile_size : 0;
}

/// Takes the memory that a plan for so many tiles needs from the queue's, behind so many bytes that are in use. A captured
/// graph that is run again uses the same: one run at a time.
template <class T, class Exec>
split_k<T> make_split(const Exec& exec, workspace<Exec>& memory, const split_plan& plan, index_t k, int tiles,
                      int tile_size, std::size_t in_use = 0) {
  split_k<T> split{plan};
  if (plan.parts == 1) split.k_per_part = k;
  if (split.fan_in > plan.parts) split.fan_in = plan.parts;
  if (plan.parts > 1) {
    split.sums = memory.template reserve<T>(exec, sums_of(plan, tiles, tile_size), in_use);
    split.arrivals = memory.counters(exec, sums_of(plan, tiles, 1));
  }
  return split;
}

}  // namespace keramos::detail
