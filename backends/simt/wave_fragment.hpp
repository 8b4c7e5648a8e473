// How the lanes of a wavefront share out the operands and sums of matrix units that AMD's GPUs have.
#pragma once

#include <type_traits>

#include <keramos/base/macros.hpp>
#include <keramos/base/scalar_type.hpp>

namespace keramos::backend::simt {

/// A float that is a tf32: other instructions multiply them than floats.
struct tf32_number {
  float value;
};
/// An element of A or B in a lane's runs, where products are computed in `Compute`.
template <class E, scalar_type Compute>
using wave_element = std::conditional_t<Compute == scalar_type::tf32, tf32_number, E>;

/// One instruction, or several, that add D(i, j) += sum over k of X(i, k)·Y(j, k) for 16 x 16 sums. With q = lane / 16, a lane
/// has elements k = k_part(q)·run ... + run - 1 of rows lane % 16 of X and of Y; and of D, in column j = lane % 16, the sums
/// i = row(q, 0 ... sums - 1). Which k an element really has does not matter, if it is the same one for X and Y.
struct wave_fragment {
  int lanes;         ///< of a wavefront
  int run;           ///< elements of k of a lane, neighbours
  int k_parts;       ///< of k, each `run` elements: lanes / 16 of them, or one that all lanes have
  bool interleaved;  ///< whether a lane's sums are lanes / 16 rows apart, or side by side

  KERAMOS_FORCEINLINE_FUNCTION constexpr int parts() const { return lanes / 16; }
  KERAMOS_FORCEINLINE_FUNCTION constexpr int sums() const { return 256 / lanes; }
  KERAMOS_FORCEINLINE_FUNCTION constexpr int k() const { return k_parts * run; }
  KERAMOS_FORCEINLINE_FUNCTION constexpr int k_part(int q) const { return k_parts == 1 ? 0 : q; }
  KERAMOS_FORCEINLINE_FUNCTION constexpr int row(int q, int sum) const {
    return interleaved ? sum * parts() + q : q * sums() + sum;
  }
  /// Which sum of which q is that of a row.
  KERAMOS_FORCEINLINE_FUNCTION constexpr int sum_of(int i) const {
    return interleaved ? i / parts() : i % sums();
  }
  KERAMOS_FORCEINLINE_FUNCTION constexpr int q_of(int i) const {
    return interleaved ? i % parts() : i / sums();
  }
};

}  // namespace keramos::backend::simt
