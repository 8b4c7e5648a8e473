// Copies from global to local memory of GPUs that have no asynchronous ones.
#pragma once

#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>

namespace keramos::backend::simt {

/// Copies by registers; a barrier makes them visible.
struct plain_copier {
  /// Whether a tile should load several single elements before it stores them.
  template <class T>
  static constexpr bool by_registers = true;
  /// Whether rows that begin anywhere are copied 16 bytes at a time all the same.
  template <class T>
  static constexpr bool shifts = false;
  /// Registers of 4 bytes in which a thread may hold what it copies of a k-tile of an operand while another is multiplied.
  static constexpr int most_words_ahead = 0;
  /// The most groups, of about eight single elements each, that are loaded by unrolled code.
  template <class T>
  static constexpr int most_groups_unrolled = 4;

  /// Of several elements in one access, to which both sides are aligned.
  template <int Count, class T>
  KERAMOS_FORCEINLINE_FUNCTION static void copy(T* local, const T* global) {
    struct alignas(sizeof(T) * Count) vector {
      T value[Count];
    };
    *reinterpret_cast<vector*>(local) = *reinterpret_cast<const vector*>(global);
  }
  /// Copies `valid` of `Count` elements and fills the rest with zeros.
  template <int Count, class T>
  KERAMOS_FORCEINLINE_FUNCTION static void copy(T* local, const T* global, int valid) {
    if constexpr (Count == 1) {
      *local = valid > 0 ? *global : T(0);
    } else {
      KERAMOS_UNROLL
      for (int i = 0; i < Count; ++i) local[i] = i < valid ? global[i] : T(0);
    }
  }
  /// Behind it all threads of a team see what they stored in local memory before, and none reads what it held before.
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION static void barrier(const Team& team) {
    team.team_barrier();
  }
  KERAMOS_FORCEINLINE_FUNCTION static void commit() {}
  template <int Pending>
  KERAMOS_FORCEINLINE_FUNCTION static void wait() {}
  KERAMOS_FORCEINLINE_FUNCTION static int recompute(int x) { return x; }
  /// A thread's number in its team, for tiles of matrix units.
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION static int thread_of(const Team& team) {
    return int(team.team_rank());
  }
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION static const T* advance(const T* p, index_t bytes) {
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(p) + bytes);
  }
};

}  // namespace keramos::backend::simt
