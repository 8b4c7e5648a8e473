// Collective operations of a work-group on a GPU: shuffles within 32 lanes, then one exchange of the
// lanes' totals through scratch with one barrier (Harris and Garland, "Optimizing Parallel Prefix
// Operations for the Fermi Architecture", GPU Computing Gems 2012, is the scheme).
#pragma once

#include <cstddef>

#include <keramos/base/macros.hpp>

namespace keramos::backend::simt {

/// `Size` items on `Team` threads; thread r holds items r, r + Team, ... as v[0], v[1], ...
///
/// `Lanes` gives the machine's part: shuffle(member, x, lane), shuffle_up, shuffle_down (the own value at
/// the border) over 32 lanes, and scratch<bytes>(), which all threads of the team share.
///
/// Scratch is used twice in turn, so that one barrier an operation is enough: before a part is written
/// again, all threads have passed the barrier of the operation between, after they read it.
template <class Lanes, int Size, int Team>
struct collectives {
  static constexpr int sub_group_size = 32;
  static constexpr int slices = (Size + Team - 1) / Team;
  static constexpr int sub_groups = Team / sub_group_size;
  static constexpr bool all_exist = Size % Team == 0;
  static_assert(Team % sub_group_size == 0 && sub_groups <= sub_group_size);

  struct state {
    int turn = 0;
  };

  template <class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static T reduce(const Member& member, state& st, const T (&v)[slices],
                                               const Op& op) {
    const int rank = int(member.team_rank());
    T x = v[0];
    KERAMOS_UNROLL
    for (int s = 1; s < slices; ++s)
      if (exists(rank, s)) x = op(x, v[s]);
    x = reduce_lanes<(Size < Team ? Size : Team)>(member, x, rank, op);
    if constexpr (sub_groups > 1) {
      constexpr int totals = ((Size < Team ? Size : Team) + sub_group_size - 1) / sub_group_size;
      const int lane = rank % sub_group_size;
      T* shared = scratch<T, totals>(st);
      if (lane == 0 && rank < Size) shared[rank / sub_group_size] = x;
      member.team_barrier();
      if constexpr (totals <= 8) {
        x = shared[0];
        KERAMOS_UNROLL
        for (int t = 1; t < totals; ++t) x = op(x, shared[t]);
        return x;
      } else {
        x = shared[lane < totals ? lane : 0];
        x = reduce_lanes<totals>(member, x, lane, op);
      }
    }
    return Lanes::shuffle(member, x, 0);
  }

  template <class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static void inclusive_scan(const Member& member, state& st,
                                                          const T (&v)[slices], T (&out)[slices],
                                                          const Op& op) {
    KERAMOS_UNROLL
    for (int s = 0; s < slices; ++s) out[s] = v[s];
    scan<false>(member, st, out, v[0], op);
  }

  /// Item 0 gets init; the return value is the total, init included, if that is asked for.
  template <bool Total, class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static T exclusive_scan(const Member& member, state& st, const T (&v)[slices],
                                                       T (&out)[slices], const T& init, const Op& op) {
    KERAMOS_UNROLL
    for (int s = 0; s < slices; ++s) out[s] = v[s];
    const T all = scan<true>(member, st, out, init, op);
    if constexpr (all_exist) {
      return all;
    } else if constexpr (Total) {  // which the last item knows
      T total[slices];
      KERAMOS_UNROLL
      for (int s = 0; s < slices; ++s) total[s] = op(out[s], v[s]);
      return broadcast(member, st, total, Size - 1);
    } else {
      return init;
    }
  }

  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T broadcast(const Member& member, state& st, const T (&v)[slices],
                                                  int item) {
    T x = v[0];
    KERAMOS_UNROLL
    for (int s = 1; s < slices; ++s)
      if (item / Team == s) x = v[s];
    if constexpr (sub_groups == 1) {
      return Lanes::shuffle(member, x, item % Team);
    } else {
      T* shared = scratch<T, 1>(st);
      if (int(member.team_rank()) == item % Team) shared[0] = x;
      member.team_barrier();
      return shared[0];
    }
  }

  /// out = the value of lane `source(lane)` of the own sub-group, or the own one where that does not exist.
  template <class Member, class T, class Source>
  KERAMOS_FORCEINLINE_FUNCTION static void shuffle(const Member& member, state&, const T (&v)[slices],
                                                   T (&out)[slices], const Source& source) {
    const int rank = int(member.team_rank());
    const int lane = rank % sub_group_size;
    KERAMOS_UNROLL
    for (int s = 0; s < slices; ++s) {
      const int from = source(s, lane);
      const bool there =
          0 <= from && from < sub_group_size && (all_exist || rank - lane + from + s * Team < Size);
      out[s] = Lanes::shuffle(member, v[s], there ? from : lane);
    }
  }

  template <class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static void sub_group_reduce(const Member& member, state&,
                                                            const T (&v)[slices], T (&out)[slices],
                                                            const Op& op) {
    KERAMOS_UNROLL
    for (int s = 0; s < slices; ++s)
      out[s] =
          Lanes::shuffle(member, reduce_lanes<Size>(member, v[s], int(member.team_rank()) + s * Team, op), 0);
  }

  template <class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static void sub_group_inclusive_scan(const Member& member, state&,
                                                                    const T (&v)[slices], T (&out)[slices],
                                                                    const Op& op) {
    const int lane = int(member.team_rank()) % sub_group_size;
    KERAMOS_UNROLL
    for (int s = 0; s < slices; ++s) out[s] = scan_lanes(member, v[s], lane, op);
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static bool exists(int rank, int s) {
    return all_exist || rank + s * Team < Size;
  }

  /// Room for `Count` values of T. Sizes are rounded so that types of one size share it.
  template <class T, int Count>
  KERAMOS_FORCEINLINE_FUNCTION static T* scratch(state& st) {
    static_assert(alignof(T) <= 16, "keramos: group algorithms take types aligned to 16 bytes at most");
    constexpr std::size_t part = (sizeof(T) * Count + 127) / 128 * 128;
    std::byte* at = Lanes::template scratch<2 * part>() + st.turn * part;
    st.turn ^= 1;
    return reinterpret_cast<T*>(at);
  }

  /// Lane 0 of each sub-group gets the result; `index` is the value's, of which `Count` exist.
  template <int Count, class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static T reduce_lanes(const Member& member, T x, int index, const Op& op) {
    KERAMOS_UNROLL
    for (int d = 1; d < sub_group_size; d *= 2) {
      const T other = Lanes::shuffle_down(member, x, d);
      if (Count % sub_group_size == 0 || index + d < Count) x = op(x, other);
    }
    return x;
  }

  template <class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static T scan_lanes(const Member& member, T x, int lane, const Op& op) {
    KERAMOS_UNROLL
    for (int d = 1; d < sub_group_size; d *= 2) {
      const T other = Lanes::shuffle_up(member, x, d);
      if (lane >= d) x = op(other, x);
    }
    return x;
  }

  /// Items that do not exist are the last ones, so that what they hold reaches no other; but it does reach the
  /// return value, the total of all threads.
  template <bool Exclusive, class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static T scan(const Member& member, state& st, T (&x)[slices], const T& init,
                                             const Op& op) {
    const int rank = int(member.team_rank());
    const int lane = rank % sub_group_size;
    const int own = rank / sub_group_size;
    KERAMOS_UNROLL
    for (int s = 0; s < slices; ++s) x[s] = scan_lanes(member, x[s], lane, op);

    T* shared = nullptr;
    if constexpr (sub_groups > 1) {
      shared = scratch<T, slices * sub_groups>(st);
      if (lane == sub_group_size - 1) {
        KERAMOS_UNROLL
        for (int s = 0; s < slices; ++s) shared[s * sub_groups + own] = x[s];
      }
      member.team_barrier();
    }
    // `base` is all that comes before the sub-group's first item, if there is anything.
    T carry = init;
    bool carries = Exclusive;
    KERAMOS_UNROLL
    for (int s = 0; s < slices; ++s) {
      T base = carry;
      bool has_base = carries;
      if constexpr (sub_groups > 1) {
        const T totals =
            scan_lanes(member, shared[s * sub_groups + (lane < sub_groups ? lane : 0)], lane, op);
        const T before = Lanes::shuffle(member, totals, own > 0 ? own - 1 : 0);
        const T all = Lanes::shuffle(member, totals, sub_groups - 1);
        if (own > 0) base = carries ? op(carry, before) : before;
        has_base = carries || own > 0;
        carry = carries ? op(carry, all) : all;
      } else {
        const T all = Lanes::shuffle(member, x[s], sub_group_size - 1);
        carry = carries ? op(carry, all) : all;
      }
      carries = true;
      if constexpr (Exclusive) {
        const T left = Lanes::shuffle_up(member, x[s], 1);
        x[s] = lane == 0 ? base : op(base, left);
      } else if (has_base) {
        x[s] = op(base, x[s]);
      }
    }
    return carry;
  }
};

}  // namespace keramos::backend::simt
