// How batches of small matrices are multiplied on a GPU, and the layout of their k-tiles in scratch.
#pragma once

#include <keramos/backends/simt/small_tiles.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

using backend::simt::small_config;

/// How the kernel is specialised for the strides of a batch.
struct small_access {
  tiling::direction a, b;
  bool vectors;      ///< copies of 16 bytes
  bool interleaved;  ///< the batch is the fastest index: a warp's lanes have different problems, not one
  friend constexpr bool operator==(const small_access&, const small_access&) = default;

  /// The access of a number below `numbers`: one bit for A along k, one for B, one for vectors.
  static constexpr int numbers = 8;
  static constexpr small_access of(int number, bool interleaved) {
    const auto along = [](bool k) { return k ? tiling::direction::k : tiling::direction::mn; };
    return {along((number & 1) != 0), along((number & 2) != 0), (number & 4) != 0, interleaved};
  }
  constexpr int number() const {
    return int(a == tiling::direction::k) + 2 * int(b == tiling::direction::k) + 4 * int(vectors);
  }
};

/// A k-tile of one operand of all problems of a team in scratch: element (mn, k) of a problem is at
/// `offset(problem, mn, k)`. Rows along k change the places of their 16-byte runs from row to row, which spreads
/// the same run of many rows over all banks; `Run` rows are read by one thread.
template <class T, small_config C, tiling::direction Rows, int Run, bool Interleaved>
struct small_panel {
  static constexpr int vector = 16 / int(sizeof(T));
  using matrix_panel = panel<T, C.size, C.k, Rows>;
  static constexpr int runs = C.k / vector < 8 ? C.k / vector : 8;
  /// A run more than the k-tile: the same place of different problems is then in different banks.
  static constexpr int of_problem = Interleaved  ? C.size * C.k
                                    : C.matrix() ? matrix_panel::size
                                                 : C.size * C.k + vector;
  static constexpr int size = C.problems * of_problem;
  static_assert(C.k % vector == 0);

  KERAMOS_FORCEINLINE_FUNCTION static int offset(int problem, int mn, int k) {
    if constexpr (Interleaved)
      return (k * C.size + mn) * C.problems + problem;
    else if constexpr (C.matrix())
      return problem * of_problem + matrix_panel::offset(mn, k);
    else if constexpr (Rows == tiling::direction::mn)
      return problem * of_problem + k * C.size + mn;
    else
      return problem * of_problem + mn * C.k + ((k / vector) ^ (mn / Run & (runs - 1))) * vector + k % vector;
  }
};

}  // namespace keramos::detail::simt
