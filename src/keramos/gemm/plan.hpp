// How a product, or a batch of them, is done, as a value: plan_gemm and plan_gemm_batched choose it, to_string prints it,
// gemm_options::plan and gemm_batched_options::plan take it.
//
//   keramos::gemm_plan plan = keramos::plan_gemm(q, a, b, c);
//   keramos::gemm(q, 1.0, a, b, 0.0, c, {.plan = plan});        // the same plan gives the same bits
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <keramos/base/export.hpp>
#include <keramos/base/index.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos {

/// The kernels that multiply.
enum class gemm_path {
  tiled,     ///< block tiles of C; k-tiles of A and B are staged or packed in local memory
  unpacked,  ///< hosts: blocks of C, from A and B in place
  dots,      ///< hosts: the same as dot products along k
  vector,    ///< GPUs: a matrix times a vector, in place
  residues,  ///< GPUs: emulated, as products of integers of eight bits; block tiles and bands are those of them
};

/// How k is divided.
struct split_plan {
  int parts = 1;           ///< each is summed alone, then all are added in a fixed order
  int fan_in = 1;          ///< sums that one team adds at once
  index_t k_per_part = 0;  ///< the last part may have less
  /// GPUs: tiles of C whose k is not divided. They come first, equally many for each multiprocessor. Those that are left are
  /// few, and each is shared by several teams.
  int whole_tiles = 0;
  friend constexpr bool operator==(const split_plan&, const split_plan&) = default;
};

/// What a team computes at once, and with which collective.
struct gemm_tile {
  int row = -1;         ///< GPUs: of the backend's tile table
  tiling::shape block;  ///< elements of C that a team takes (m x n), and its k-tile
  int stages = 1;       ///< k-tiles in flight
  /// GPUs: what multiplies, which names the collective.
  tiling::math_unit math = tiling::math_unit::fma;
  int team_size = 1;            ///< threads of a team
  std::size_t local_bytes = 0;  ///< local memory that a team asks for, at most
  friend bool operator==(const gemm_tile&, const gemm_tile&) = default;
};

/// One rectangle of C, and how it is computed.
struct gemm_part : gemm_tile {
  index_t m0 = 0, n0 = 0;  ///< first row and column of the caller's C
  index_t m = 0, n = 0;    ///< rows and columns
  gemm_path path = gemm_path::tiled;
  /// Whether Cᵀ = op(B)ᵀ·op(A)ᵀ is computed: what follows is in terms of that product.
  bool transposed = false;
  /// Whether an operand is copied into panels for all tiles. (Hosts always pack A tile by tile, and B too if this is
  /// not set.)
  bool pack_a = false, pack_b = false;
  index_t band_m = 0;  ///< most rows of C for which A is packed at once
  index_t band_n = 0;  ///< most columns of C for which B is packed at once
  split_plan split;
  /// GPUs: rows and columns of the last corner of C, which is left to another part; 0 x 0 if none is. Its tiles are the last
  /// ones, which would be alone on the device.
  index_t corner_m = 0, corner_n = 0;
  friend bool operator==(const gemm_part&, const gemm_part&) = default;
};

/// All of a product C (m x n) = op(A) (m x k)·op(B) (k x n).
///
/// Two calls with the same plan on the same machine, with operands of the same strides and alignment, do the same
/// arithmetic in the same order. A plan may be changed before it is given back: what cannot be done is refused.
/// team_size and local_bytes only tell; so do stages, row, math and band_m on hosts.
struct gemm_plan {
  static constexpr int most_parts = 4;

  index_t m = 0, n = 0, k = 0;
  std::string_view backend;  ///< that it is for, as traits<Exec>::name
  std::string_view type;     ///< of the elements, by the name of their gemm_types: "f32"
  int size = 0;              ///< parts; none if m, n or k is 0
  gemm_part parts[most_parts] = {};
  friend bool operator==(const gemm_plan&, const gemm_plan&) = default;
};

/// The ways to do a batch.
enum class batch_way {
  one_product,  ///< as one product: it is one, or problems that share A or B and can be stacked
  one_by_one,   ///< a product after the other
  /// GPUs: several problems share a team. Hosts: each is one thread's, who does not pack; problems of a list that are too
  /// large for that follow one by one.
  small,
  tiled,  ///< all problems in block tiles, in one launch
};

/// How the problems of a batch are done. The tile is that of `small` (GPUs) and `tiled`.
struct gemm_batch_choice : gemm_tile {
  batch_way way = batch_way::tiled;
  /// small and tiled: whether Cᵀ = op(B)ᵀ·op(A)ᵀ are computed. The tile is in terms of these products.
  bool transposed = false;
  int team_problems = 1;  ///< GPUs: small problems that share a team
  friend bool operator==(const gemm_batch_choice&, const gemm_batch_choice&) = default;
};

/// All of a batch of products, of one shape or a list.
///
/// What gemm_plan promises holds for batches too. team_size and local_bytes only tell. Problems of a list are transposed as
/// suits each of them.
struct gemm_batch_plan : gemm_batch_choice {
  index_t count = 0;            ///< problems
  bool is_list = false;         ///< each with extents of its own
  index_t m = 0, n = 0, k = 0;  ///< extents of each problem, of a list the largest that are multiplied
  std::string_view backend;     ///< as in gemm_plan
  std::string_view type;
  /// The plan of the one product, or of each that is done one by one; of a list those of all such problems with k > 0, in
  /// its order.
  std::vector<gemm_plan> products;
  friend bool operator==(const gemm_batch_plan&, const gemm_batch_plan&) = default;
};

KERAMOS_EXPORT std::string_view to_string(tiling::math_unit math);
KERAMOS_EXPORT std::string_view to_string(gemm_path path);
KERAMOS_EXPORT std::string_view to_string(batch_way way);
KERAMOS_EXPORT std::string to_string(const gemm_part& part);
/// One line a part: "1000 x 1000 of C: tiled by FMA units, block tile 128x128x16, 2 stages, transposed".
KERAMOS_EXPORT std::string to_string(const gemm_plan& plan);
/// "1000 of m x n x k = 8 x 8 x 8: small, by FMA units, block tile 8x8x8, 2 stages, 8 a team", then the lines of products.
KERAMOS_EXPORT std::string to_string(const gemm_batch_plan& plan);

namespace detail {

/// Whose epilogue a product has. Kernels of warpgroups are compiled with flags of their own: in the library for its epilogue, and
/// for a caller's in sources that have these flags too (fused.hpp).
enum class epilogue_of_product { library, caller, caller_on_warpgroups };

/// Throws if a caller's block tile has no extents, or such that bytes could wrap.
KERAMOS_EXPORT void check_block(const tiling::shape& block);

/// Throws invalid_argument unless the plan is one for such a product: its extents agree, its parts make up C, its
/// blocks and its parts of k are possible. What depends on strides and on the device is checked where it is known.
KERAMOS_EXPORT void check_plan(const gemm_plan& plan, index_t m, index_t n, index_t k,
                               std::string_view backend, std::string_view type);

/// Throws the exception for part `number` of a plan.
[[noreturn]] KERAMOS_EXPORT void refuse_plan(int number, const std::string& why);

/// Throws invalid_argument unless the plan is one for such a batch, described by `batch`'s first fields (count to type), and
/// its tile, if it needs one, has extents.
KERAMOS_EXPORT void check_batch_plan(const gemm_batch_plan& plan, const gemm_batch_plan& batch);
/// The same unless the plan has plans for `products` products.
KERAMOS_EXPORT void check_products(const gemm_batch_plan& plan, index_t products);
/// Throws the exception for a plan of a batch.
[[noreturn]] KERAMOS_EXPORT void refuse_batch_plan(const std::string& why);

}  // namespace detail

}  // namespace keramos
