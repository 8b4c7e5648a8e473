// How a product is done, as a value: plan_gemm chooses it, to_string prints it, gemm_options::plan takes it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <keramos/base/export.hpp>
#include <keramos/base/index.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos {

/// The kernels that multiply.
enum class gemm_path {
  tiled,     ///< block tiles of C; k-tiles of A and B are staged or packed in local memory
  unpacked,  ///< hosts: blocks of C, from A and B where they lie
  dots,      ///< hosts: the same as dot products along k
  vector,    ///< GPUs: a matrix times a vector, from where they lie
};

/// How k is divided.
struct split_plan {
  int parts = 1;           ///< each is summed alone, then all are added in a fixed order
  int fan_in = 1;          ///< sums that one team adds at once
  index_t k_per_part = 0;  ///< the last part may have less
  friend constexpr bool operator==(const split_plan&, const split_plan&) = default;
};

/// One rectangle of C, and how it is computed.
struct gemm_part {
  index_t m0 = 0, n0 = 0;  ///< first row and column of the caller's C
  index_t m = 0, n = 0;    ///< rows and columns
  gemm_path path = gemm_path::tiled;
  /// Whether Cᵀ = op(B)ᵀ·op(A)ᵀ is computed: what follows is in terms of that product.
  bool transposed = false;
  /// Whether an operand is copied into panels for all tiles. (Hosts always pack A tile by tile, and B too if this is
  /// not set.)
  bool pack_a = false, pack_b = false;
  int row = -1;         ///< GPUs: of the backend's tile table
  tiling::shape block;  ///< elements of C that a team takes (m x n), and its k-tile
  int stages = 1;       ///< k-tiles in flight
  int team_size = 1;    ///< threads of a team
  index_t band_m = 0;   ///< most rows of C for which A is packed at once
  index_t band_n = 0;   ///< most columns of C for which B is packed at once
  split_plan split;
  std::size_t local_bytes = 0;  ///< local memory that a team asks for, at most
  friend bool operator==(const gemm_part&, const gemm_part&) = default;
};

/// All of a product C (m x n) = op(A) (m x k)·op(B) (k x n).
///
/// Two calls with the same plan on the same machine, with operands of the same strides and alignment, do the same
/// arithmetic in the same order. A plan may be changed before it is given back: what cannot be done is refused.
/// team_size and local_bytes only tell; so do stages, row and band_m on hosts.
struct gemm_plan {
  static constexpr int most_parts = 3;

  index_t m = 0, n = 0, k = 0;
  std::string_view backend;  ///< that it is for, as traits<Exec>::name
  std::string_view type;     ///< of the elements, by the name of their gemm_types: "f32"
  int size = 0;              ///< parts; none if m, n or k is 0
  gemm_part parts[most_parts] = {};
  friend bool operator==(const gemm_plan&, const gemm_plan&) = default;
};

KERAMOS_EXPORT std::string_view to_string(gemm_path path);
KERAMOS_EXPORT std::string to_string(const gemm_part& part);
/// One line a part: "1000 x 1000 of C: tiled, block tile 128x128x16, 2 stages, transposed".
KERAMOS_EXPORT std::string to_string(const gemm_plan& plan);

namespace detail {

/// Whose epilogue a product has. Kernels with the library's are compiled in it alone, for some with flags of their own.
enum class epilogue_of_product { library, caller };

/// Throws if a caller's block tile has no extents, or such that bytes could wrap.
KERAMOS_EXPORT void check_block(const tiling::shape& block);

/// Throws invalid_argument unless the plan is one for such a product: its extents agree, its parts make up C, its
/// blocks and its parts of k are possible. What depends on strides and on the device is checked where it is known.
KERAMOS_EXPORT void check_plan(const gemm_plan& plan, index_t m, index_t n, index_t k,
                               std::string_view backend, std::string_view type);

/// Throws the exception for part `number` of a plan.
[[noreturn]] KERAMOS_EXPORT void refuse_plan(int number, const std::string& why);

}  // namespace detail

}  // namespace keramos
