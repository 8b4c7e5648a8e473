// Rows of a GPU backend's tile table as collectives: which one a problem's operands take.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/tiles.hpp>
#include <keramos/base/complex.hpp>
#include <keramos/gemm/collective/ping_pong.hpp>
#include <keramos/gemm/collective/simt.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Which way an operand's memory runs, and how it can be staged in place.
struct operand_layout {
  bool along_k;
  int alignment;  ///< row_alignment

  template <class T>
  explicit operand_layout(const tiling::operand<T>& x)
      : along_k(x.stride_k == 1 && x.stride_mn != 1),
        alignment(along_k ? row_alignment(x.data, x.stride_k, x.stride_mn)
                          : row_alignment(x.data, x.stride_mn, x.stride_k)) {}
  bool vectors() const { return alignment == 16; }  ///< 16 bytes at a time
};

/// Whether the unit that copies boxes can be told of both operands: it counts in 32 bits, and bytes from row to row in 40.
template <class Types>
bool can_map(const gemm_problem<Types>& p) {
  const auto can = [&]<class T>(const tiling::operand<T>& x, index_t extent) {
    const index_t pitch = x.stride_k == 1 ? x.stride_mn : x.stride_k;
    return std::max(extent, p.k) <= std::numeric_limits<int>::max() && pitch > 0 &&
           pitch < (index_t(1) << 40) / index_t(sizeof(T));
  };
  return can(p.a, p.m + p.pad_m) && can(p.b, p.n + p.pad_n);
}

/// Whether a row's tiles multiply remainders for emulated products: the largest of integers of eight bits.
constexpr bool multiplies_remainders(const backend::simt::tile_row& r) {
  return r.types == types::i8::operands && r.config.math == tiling::math_unit::warpgroup &&
         r.config.block.n == 256;
}

/// Whether a row's tiles are for FMA units, and so stage what runs along k element by element at any rate.
template <class Exec, int Row>
inline constexpr bool uses_fma = backend::tiles<Exec>::table[Row].config.math == tiling::math_unit::fma;

/// How tiles of a row stage an operand, if its memory runs along k or not, and is copied 16 bytes at a time or not.
template <class Exec, int Row, class T>
constexpr access access_of(bool along_k, bool in_vectors) {
  const int vector = in_vectors ? 16 / int(sizeof(T)) : 1;
  return along_k ? access{tiling::direction::k, uses_fma<Exec, Row> ? 1 : vector}
                 : access{tiling::direction::mn, vector};
}

/// How the collective of a row has its operands. It stands as a number in kernels' names, since CUDA takes 3 cycles longer to
/// launch a kernel for each character of its name.
struct operand_access {
  bool a_along_k = false, b_along_k = false;  ///< their memory runs along k
  bool vectors = false;                       ///< they are copied 16 bytes at a time
  bool conjugates = false;                    ///< of two complex operands one is conjugated

  constexpr int number() const {
    return int(a_along_k) + 2 * int(b_along_k) + 4 * int(vectors) + 8 * int(conjugates);
  }
  static constexpr operand_access of(int number) {
    return {(number & 1) != 0, (number & 2) != 0, (number & 4) != 0, (number & 8) != 0};
  }
};

template <class Exec, class Types, tiling::config Config, access A, access B, bool ConjugateA>
constexpr auto collective_type() {
  if constexpr (Config.ping_pong)
    return std::type_identity<ping_pong_collective<Exec, Types, Config, A, B, ConjugateA>>();
  else
    return std::type_identity<collective<Exec, Types, Config, A, B, ConjugateA>>();
}

/// The collective of a row of the backend's table, with operands as operand_access::of(Access) says.
template <class Exec, class Types, int Row, int Access>
struct row_collective
    : decltype(collective_type<Exec, Types, backend::tiles<Exec>::table[Row].config,
                               access_of<Exec, Row, typename Types::a>(operand_access::of(Access).a_along_k,
                                                                       operand_access::of(Access).vectors),
                               access_of<Exec, Row, typename Types::b>(operand_access::of(Access).b_along_k,
                                                                       operand_access::of(Access).vectors),
                               operand_access::of(Access).conjugates>())::type {};

/// The number of the access that a row takes for a problem. One operand that is not aligned makes the other be copied as if it
/// were not: by elements, or of short ones by words or shifted runs. That halves the number of kernels.
template <class Exec, class Types>
int access_number(int row, const gemm_problem<Types>& p) {
  const bool fma = backend::tiles<Exec>::table[row].config.math == tiling::math_unit::fma;
  const operand_layout a(p.a), b(p.b);
  const bool in_vectors =
      fma ? (a.along_k || a.vectors()) && (b.along_k || b.vectors()) && !(a.along_k && b.along_k)
          : a.vectors() && b.vectors();
  // One number of 16 bytes is no vector; and matrix units, and products with real numbers, conjugate sums.
  const bool has_vectors = sizeof(typename Types::a) < 16;
  const bool conjugates = fma && is_complex<typename Types::a> && p.a.conjugated != p.b.conjugated;
  return operand_access{a.along_k, b.along_k, in_vectors && has_vectors, conjugates}.number();
}
/// Whether it can be that number, of those below `accesses`, for rows of this configuration. Wavefronts take turns with vectors
/// alone.
template <class Types>
constexpr bool is_access(int number, const tiling::config& row) {
  const operand_access x = operand_access::of(number);
  const bool fma = row.math == tiling::math_unit::fma;
  if (fma && x.a_along_k && x.b_along_k && x.vectors) return false;
  if (!fma && x.conjugates) return false;
  if (row.ping_pong && !x.vectors) return false;
  return sizeof(typename Types::a) < 16 || !x.vectors;
}
template <class Types>
inline constexpr int accesses = is_complex<typename Types::a> ? 16 : 8;

}  // namespace keramos::detail::simt
