// Tile shapes, in the order problem > block tile > warp tile > thread tile or fragment.
#pragma once

#include <string>

#include <keramos/base/complex.hpp>
#include <keramos/base/float8.hpp>
#include <keramos/base/index.hpp>
#include <keramos/base/integer8.hpp>
#include <keramos/base/macros.hpp>

namespace keramos::tiling {

/// Extents of a tile of C (m x n) and of the k-tile that is on chip at once.
struct shape {
  int m = 0, n = 0, k = 0;
  friend constexpr bool operator==(const shape&, const shape&) = default;
};

/// "128x64x8", as messages and tables show it.
inline std::string to_string(const shape& s) {
  return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
}

/// What multiplies fragments: FMA units; tensor cores that a warp feeds from registers; those whose fragments a sub-group loads
/// from local memory and holds together; or those that a warpgroup, four warps, lets read local memory, to which other warps
/// copy meanwhile.
enum class math_unit { fma, matrix, joint, warpgroup };

/// How one team computes one block tile; a template argument of the kernels it configures.
struct config {
  shape block;     ///< tile of a team
  shape warp;      ///< tile of a warp; k is not used
  shape fragment;  ///< fma: tile of a thread; matrix: shape of the instruction
  int stages;      ///< k-tiles in flight in local memory
  int teams;       ///< teams per multiprocessor to leave registers for
  math_unit math = math_unit::fma;
  bool splits_k = false;   ///< whether teams may share a tile
  bool ping_pong = false;  ///< whether halves of a team's warps take turns to multiply and to load

  /// Those that multiply.
  constexpr int warps() const { return (block.m / warp.m) * (block.n / warp.n); }
  /// All of a team.
  constexpr int team_warps() const { return warps() + (math == math_unit::warpgroup ? 4 : 0); }
};

/// Whether a thread's sums on FMA units, of `sum_bytes` each, leave few registers for anything else.
constexpr bool has_large_fragments(const config& c, int sum_bytes) {
  return c.math == math_unit::fma && c.fragment.m * c.fragment.n * sum_bytes >= 256;
}

/// Whether tiles that divide k store and load a thread's sums one by one: those of large fragments. As vectors of 16 bytes they lie
/// in neighbouring registers, and ptxas gave the operands of one FMA in four one register bank (CUDA 13.0, sm_90; f32 lost 10 to
/// 15 %).
constexpr bool stores_single_sums(const config& c, int sum_bytes) {
  return c.splits_k && sum_bytes == 4 && has_large_fragments(c, sum_bytes);
}

/// The index along which an operand's memory runs: mn is m for A and n for B.
enum class direction { mn, k };

/// How an operand's elements are to be read, as far as it is known only when the program runs: whether complex numbers are
/// conjugated, and of which kind elements of eight bits are, integers with a sign or without, floats e5m2 or e4m3. For others
/// it takes no space: as a base, since nvcc 13 gives a [[no_unique_address]] member room on the device and none on the
/// host.
template <class T>
struct reading {
  static constexpr bool has_kinds = false, conjugated = false;
  KERAMOS_FORCEINLINE_FUNCTION static constexpr bool kind() { return false; }

  /// The number that an element is, before it is conjugated.
  template <class To>
  KERAMOS_FORCEINLINE_FUNCTION static To number(const T& x) {
    return static_cast<To>(x);
  }
};
template <class R>
struct reading<complex<R>> {
  static constexpr bool has_kinds = false;
  bool conjugated = false;
  KERAMOS_FORCEINLINE_FUNCTION static constexpr bool kind() { return false; }

  template <class To>
  KERAMOS_FORCEINLINE_FUNCTION static To number(const complex<R>& x) {
    return static_cast<To>(x);
  }
};
template <>
struct reading<integer8> {
  static constexpr bool has_kinds = true, conjugated = false;
  bool is_signed = true;
  KERAMOS_FORCEINLINE_FUNCTION constexpr bool kind() const { return is_signed; }

  template <class To>
  KERAMOS_FORCEINLINE_FUNCTION To number(integer8 x) const {
    return static_cast<To>(detail::widen(x, is_signed));
  }
};
template <>
struct reading<float8> {
  static constexpr bool has_kinds = true, conjugated = false;
  bool is_e5m2 = false;
  KERAMOS_FORCEINLINE_FUNCTION constexpr bool kind() const { return is_e5m2; }

  template <class To>
  KERAMOS_FORCEINLINE_FUNCTION To number(float8 x) const {
    return static_cast<To>(detail::float_of_eight(x.bits, is_e5m2));
  }
};

/// One operand of C = A·B as the main loop sees it: element (mn, k) is
/// `data[mn * stride_mn + k * stride_k]`; k extents of A and B agree.
template <class T>
struct operand : reading<T> {
  const T* data;  // global
  index_t stride_mn;
  index_t stride_k;

  operand() = default;
  KERAMOS_FORCEINLINE_FUNCTION constexpr operand(const T* d, index_t mn, index_t k,
                                                 const reading<T>& how = {})
      : reading<T>(how), data(d), stride_mn(mn), stride_k(k) {}

  KERAMOS_FORCEINLINE_FUNCTION const T* at(index_t mn, index_t k) const {
    return data + mn * stride_mn + k * stride_k;
  }
};

/// Where a team works: the block tile's first row and column, and its k-tiles.
struct position {
  index_t m0, n0;  ///< first row and column of the tile
  index_t k0;      ///< first k
  index_t k1;      ///< end of k
  int rows, cols;  ///< extent of the tile inside C
};

/// The same of a tile that may begin early or end late, so that it is whole: `rows` and `cols` exist in A and in
/// B, if only as padding.
struct shifted_position : position {
  int skip_m = 0, skip_n = 0;  ///< first rows and columns, which belong to neighbouring tiles
};

}  // namespace keramos::tiling
