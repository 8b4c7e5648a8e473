// In which order teams take the block tiles of C.
#pragma once

#include <algorithm>

#include <keramos/backends/interface.hpp>
#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>
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

/// Bands of `band` tile rows, walked column by column: teams that run at the same time then share
/// rows of A and columns of B in the last-level cache (threadblock swizzle of CUTLASS, "Efficient
/// GEMM in CUDA").
struct tile_order {
  /// Tile rows of a band if C has so many, on all devices. Of some 130 tiles that an H200 does at once 8 x 16 are about square,
  /// and so read few rows and columns. Not measured against others.
  static constexpr int usual_band = 8;

  int tiles_m, tiles_n;
  int band;

  KERAMOS_FORCEINLINE_FUNCTION int count() const { return tiles_m * tiles_n; }

  KERAMOS_FORCEINLINE_FUNCTION tiling::position at(int rank, const tiling::shape& block, index_t m, index_t n,
                                                   index_t k) const {
    const int per_band = band * tiles_n;
    const int first_row = rank / per_band * band;
    const int rows = tiles_m - first_row < band ? tiles_m - first_row : band;
    const int in_band = rank % per_band;
    tiling::position p;
    p.m0 = index_t(first_row + in_band % rows) * block.m;
    p.n0 = index_t(in_band / rows) * block.n;
    p.k0 = 0;
    p.k1 = k;
    p.rows = int(m - p.m0 < block.m ? m - p.m0 : block.m);
    p.cols = int(n - p.n0 < block.n ? n - p.n0 : block.n);
    return p;
  }
};

/// The order of the tiles of C (m x n), which must be fewer than 2^31.
inline tile_order order_of(index_t m, index_t n, const tiling::shape& block) {
  const index_t tiles_m = ceil_div(m, block.m), tiles_n = ceil_div(n, block.n);
  return {int(tiles_m), int(tiles_n), int(std::min<index_t>(tiles_m, tile_order::usual_band))};
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
