// Collective operations of a work-group on a host: one thread holds the values of all items, so that a
// reduction is a loop and a shuffle a permutation. Sub-groups are cut as on a GPU.
#pragma once

#include <keramos/base/macros.hpp>

namespace keramos::backend::host {

/// `Size` items on one thread; v[i] is item i's value.
template <int Size>
struct collectives {
  static constexpr int sub_group_size = 32;

  /// What the operations need of the team: nothing.
  struct state {};

  template <class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static T reduce(const Member&, state&, const T (&v)[Size], const Op& op) {
    constexpr int lanes = 16;  // independent chains, which the compiler can make vectors of
    if constexpr (Size < 2 * lanes) {
      T x = v[0];
      for (int i = 1; i < Size; ++i) x = op(x, v[i]);
      return x;
    } else {
      T x[lanes];
      for (int l = 0; l < lanes; ++l) x[l] = v[l];
      constexpr int whole = Size / lanes * lanes;
      for (int i = lanes; i < whole; i += lanes)
        for (int l = 0; l < lanes; ++l) x[l] = op(x[l], v[i + l]);
      for (int i = whole; i < Size; ++i) x[i - whole] = op(x[i - whole], v[i]);
      for (int half = lanes / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) x[l] = op(x[l], x[l + half]);
      return x[0];
    }
  }

  template <class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static void inclusive_scan(const Member&, state&, const T (&v)[Size],
                                                          T (&out)[Size], const Op& op) {
    out[0] = v[0];
    for (int i = 1; i < Size; ++i) out[i] = op(out[i - 1], v[i]);
  }

  /// Item 0 gets init; the return value is the total, init included.
  template <bool Total, class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static T exclusive_scan(const Member&, state&, const T (&v)[Size],
                                                       T (&out)[Size], const T& init, const Op& op) {
    T sum = init;
    for (int i = 0; i < Size; ++i) {
      const T next = op(sum, v[i]);
      out[i] = sum;
      sum = next;
    }
    return sum;
  }

  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T broadcast(const Member&, state&, const T (&v)[Size], int item) {
    return v[item];
  }

  /// out = the value of lane `source(lane)` of the own sub-group, or the own one where that does not exist.
  template <class Member, class T, class Source>
  KERAMOS_FORCEINLINE_FUNCTION static void shuffle(const Member&, state&, const T (&v)[Size], T (&out)[Size],
                                                   const Source& source) {
    for (int i = 0; i < Size; ++i) {
      const int lane = i % sub_group_size;
      const int from = source(i, lane);
      out[i] = 0 <= from && from < sub_group_size && i - lane + from < Size ? v[i - lane + from] : v[i];
    }
  }

  template <class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static void sub_group_reduce(const Member&, state&, const T (&v)[Size],
                                                            T (&out)[Size], const Op& op) {
    for (int first = 0; first < Size; first += sub_group_size) {
      const int last = first + sub_group_size < Size ? first + sub_group_size : Size;
      T x = v[first];
      for (int i = first + 1; i < last; ++i) x = op(x, v[i]);
      for (int i = first; i < last; ++i) out[i] = x;
    }
  }

  template <class Member, class T, class Op>
  KERAMOS_FORCEINLINE_FUNCTION static void sub_group_inclusive_scan(const Member&, state&, const T (&v)[Size],
                                                                    T (&out)[Size], const Op& op) {
    for (int i = 0; i < Size; ++i) out[i] = i % sub_group_size == 0 ? v[i] : op(out[i - 1], v[i]);
  }
};

}  // namespace keramos::backend::host
