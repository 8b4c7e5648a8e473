// Which elements of a k-tile a thread copies.
#pragma once

#include <algorithm>

#include <keramos/backends/simt/memory.hpp>
#include <keramos/base/macros.hpp>

namespace keramos::detail::simt {

/// How the threads of a team share out a k-tile: `Fast` elements along the operand's memory, `Slow` across.
/// A thread takes `Vector` neighbours at a time, a warp consecutive vectors of as many rows as that fills;
/// of an operand that is transposed on its way, or taken to pieces, only one sector of memory a row. At once it takes at
/// most `Most` elements of a row.
template <class T, int Fast, int Slow, int Threads, int Vector, bool Transposed, int Most>
struct k_tile_map {
  static constexpr int sector = backend::simt::sector_bytes / int(sizeof(T));
  static constexpr int row = Transposed && sector < Fast ? sector : Most < Fast ? Most : Fast;
  static constexpr int lanes_fast = row / Vector < Threads ? row / Vector : Threads;
  /// How many sectors of a row are taken at a time, in vectors: several where there are more threads than rows.
  static constexpr int sectors = Transposed && Vector > 1
                                     ? std::clamp(Threads / lanes_fast / Slow, 1, Fast / row)
                                     : 1;
  static constexpr int lanes_slow = Threads / lanes_fast / sectors;
  static constexpr int step_fast = lanes_fast * Vector * sectors;
  static constexpr int passes_fast = (Fast + step_fast - 1) / step_fast;
  static constexpr int passes_slow = (Slow + lanes_slow - 1) / lanes_slow;
  static_assert(Fast % step_fast == 0 && Threads % lanes_fast == 0);
  static_assert(Slow % lanes_slow == 0 || passes_slow == 1);
  /// Whether some threads have nothing to do: the k-tile is smaller than the team.
  static constexpr bool partial = lanes_slow > Slow;

  KERAMOS_FORCEINLINE_FUNCTION static int fast(int thread) {
    const int in_sector = thread % lanes_fast * Vector;
    return sectors == 1 ? in_sector : in_sector + thread / (lanes_fast * lanes_slow) * row;
  }
  KERAMOS_FORCEINLINE_FUNCTION static int slow(int thread) {
    return sectors == 1 ? thread / lanes_fast : thread / lanes_fast % lanes_slow;
  }
};

}  // namespace keramos::detail::simt
