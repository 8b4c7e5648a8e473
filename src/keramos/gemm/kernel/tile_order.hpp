// In which order teams take the block tiles of C.
#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <keramos/backends/interface.hpp>
#include <keramos/base/divisor.hpp>
#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// Which rank a team has in the order of tiles. A device of `Several` dies deals teams out to them in turn, and each die has a
/// last-level cache of its own: so that teams of one die share rows of A and columns of B there, they get ranks that follow
/// each other (XCDs of AMD's MI300: https://github.com/ROCm/composable_kernel/pull/3652).
template <bool Several>
struct dealt_teams {
  KERAMOS_FORCEINLINE_FUNCTION static int rank_of(int team, int /*teams*/) { return team; }
};
template <>
struct dealt_teams<true> {
  int dies;

  KERAMOS_FORCEINLINE_FUNCTION int rank_of(int team, int teams) const {
    const int die = team % dies, each = teams / dies,
              longer = teams % dies;  // `longer` dies have one team more
    return die * each + (die < longer ? die : longer) + team / dies;
  }
};

/// Those of a collective whose device says so.
template <class Collective>
inline constexpr bool on_several_dies = requires {
  requires Collective::on_several_dies;
};
template <class Collective>
using dealt_teams_of = dealt_teams<on_several_dies<Collective>>;
template <class Collective, class Exec>
dealt_teams_of<Collective> deal_teams([[maybe_unused]] const Exec& exec) {
  if constexpr (on_several_dies<Collective>)
    return {backend::tiles<Exec>::model(exec).dies};
  else
    return {};
}

/// Tiles that teams draw, but for the first of each. A draw takes a while, so that a team looks later at what it drew.
struct drawn_tiles {
  int* count;  ///< of those drawn; zero between kernels
  int teams, tiles;

  KERAMOS_FORCEINLINE_FUNCTION int draw() const { return Kokkos::atomic_fetch_add(count, 1); }
  /// The rank of the tile drawn by that number, or a negative one behind the last tile.
  KERAMOS_FORCEINLINE_FUNCTION int rank(int number) const {
    // Each team draws once in vain. The last to do so leaves the count as it was.
    if (number == tiles - 1) *count = 0;
    return number < tiles - teams ? teams + number : -1;
  }
};

/// Bands of `band` tile rows, walked column by column: teams that run at the same time then share
/// rows of A and columns of B in the last-level cache (threadblock swizzle of CUTLASS, "Efficient
/// GEMM in CUDA").
class tile_order {
 public:
  /// Tile rows of a band if C has so many. No device's figure: n tiles that are done at once are 8 x n / 8 then, of which a
  /// square reads the fewest rows and columns. For n from 16 to 256 they read at most a quarter more. Not measured.
  static constexpr int usual_band = 8;

  /// `band` is from 1 to 255. This divides, and so is for the host.
  KERAMOS_INLINE_FUNCTION tile_order(int tiles_m, int tiles_n, int band)
      : tiles_m_(tiles_m), tiles_n_(tiles_n), band_(std::uint8_t(band)) {
    const int by[divisors] = {product(band, tiles_n), band, tiles_m % band > 0 ? tiles_m % band : band};
    for (int d = 0; d < divisors; ++d) {
      const divisor made(by[d]);
      multipliers_[d] = made.multiplier, shifts_[d] = std::uint8_t(made.shift);
    }
  }

  KERAMOS_FORCEINLINE_FUNCTION int count() const { return product(tiles_m_, tiles_n_); }

  KERAMOS_FORCEINLINE_FUNCTION tiling::position at(int rank, const tiling::shape& block, index_t m, index_t n,
                                                   index_t k) const {
    return at(rank, tiles_m_, tiles_n_, band_, block, m, n, k, [this](int which, int number, int) {
      return divisor(multipliers_[which], shifts_[which]).quotient(number);
    });
  }
  /// The same without an object, by real divisions: for lists.
  KERAMOS_FORCEINLINE_FUNCTION static tiling::position at(int rank, int tiles_m, int tiles_n,
                                                          const tiling::shape& block, index_t m, index_t n,
                                                          index_t k) {
    return at(rank, tiles_m, tiles_n, usual_band, block, m, n, k,
              [](int, int number, int by) { return number / by; });
  }

 private:
  /// What is divided by: the tiles of a band, its rows, and the rows of the last band.
  static constexpr int divisors = 3;

  /// `quotient(which, number, by)` divides by `by`, the divisor `which`.
  template <class Quotient>
  KERAMOS_FORCEINLINE_FUNCTION static tiling::position at(int rank, int tiles_m, int tiles_n, int band,
                                                          const tiling::shape& block, index_t m, index_t n,
                                                          index_t k, const Quotient& quotient) {
    const int first_row = quotient(0, rank, band * tiles_n) * band;
    const int in_band = rank - first_row * tiles_n;
    const bool last = tiles_m - first_row < band;
    const int rows = last ? tiles_m - first_row : band;
    const int column = quotient(last ? 2 : 1, in_band, rows);
    tiling::position p;
    p.m0 = index_t(first_row + in_band - column * rows) * block.m;
    p.n0 = index_t(column) * block.n;
    p.k0 = 0;
    p.k1 = k;
    p.rows = int(m - p.m0 < block.m ? m - p.m0 : block.m);
    p.cols = int(n - p.n0 < block.n ? n - p.n0 : block.n);
    return p;
  }

  /// May wrap: launches refuse so many tiles, after an order was made.
  KERAMOS_FORCEINLINE_FUNCTION static int product(int x, int y) { return int(unsigned(x) * unsigned(y)); }

  // Packed: kernels are passed by value, and epilogues want room in them too (traits::most_kernel_bytes).
  int tiles_m_, tiles_n_;
  std::uint32_t multipliers_[divisors];
  std::uint8_t shifts_[divisors], band_;
};

/// The last tiles of an order, if they are a rectangle: the last columns of the last band.
struct corner_of_tiles {
  index_t m, n;              ///< its rows and columns of C
  index_t tiles_m, tiles_n;  ///< rows and columns of tiles

  int tiles() const { return int(tiles_m * tiles_n); }
  friend bool operator==(const corner_of_tiles&, const corner_of_tiles&) = default;
};
inline int rows_of_last_band(index_t tiles_m) {
  const index_t band = std::clamp<index_t>(tiles_m, 1, tile_order::usual_band);
  return int(tiles_m % band > 0 ? tiles_m % band : band);
}
/// The last `columns` columns of tiles of C (m x n), which has more.
inline corner_of_tiles corner_of(index_t m, index_t n, const tiling::shape& block, index_t columns) {
  const index_t tiles_m = ceil_div(m, block.m), tiles_n = ceil_div(n, block.n);
  const index_t rows = rows_of_last_band(tiles_m);
  return {m - (tiles_m - rows) * block.m, n - (tiles_n - columns) * block.n, rows, columns};
}
/// That which a part leaves to another, if it does: a plan has its extents alone.
inline corner_of_tiles corner_of(const gemm_part& part) {
  if (part.corner_n == 0) return {};
  return {part.corner_m, part.corner_n, ceil_div(part.corner_m, part.block.m),
          ceil_div(part.corner_n, part.block.n)};
}

/// A launch has no more tiles and parts of k: a team counts on by the number of teams, which is far below 65536, until it is past
/// the last.
inline constexpr index_t most_tiles = (index_t(1) << 31) - 65536;

/// The order of the tiles of C (m x n), of which there must be no more.
inline tile_order order_of(index_t m, index_t n, const tiling::shape& block) {
  const index_t tiles_m = ceil_div(m, block.m), tiles_n = ceil_div(n, block.n);
  return tile_order(int(tiles_m), int(tiles_n), int(std::clamp<index_t>(tiles_m, 1, tile_order::usual_band)));
}

/// The same, but the last tiles along m, and along n, begin early, so that they are whole: then they take no
/// longer than others. They compute what their neighbours do as well, and leave it to them to write it.
struct shifting_order : tile_order {
  bool shift_m = false, shift_n = false;

  KERAMOS_FORCEINLINE_FUNCTION tiling::shifted_position at(int rank, const tiling::shape& block, index_t m,
                                                           index_t n, index_t k) const {
    tiling::shifted_position p{tile_order::at(rank, block, m, n, k)};
    if (shift_m) shift(p.m0, p.rows, p.skip_m, block.m);
    if (shift_n) shift(p.n0, p.cols, p.skip_n, block.n);
    return p;
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static void shift(index_t& first, int& extent, int& skip, int whole) {
    skip = whole - extent;
    first -= skip;
    extent = whole;
  }
};

}  // namespace keramos::detail
