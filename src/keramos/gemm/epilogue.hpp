// What happens to an accumulated element on its way to C: a callable `(acc, c, i, j) -> out`.
#pragma once

#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>

namespace keramos {

/// BLAS' update, alpha·acc + beta·c.
template <class T>
struct linear_epilogue {
  T alpha;
  T beta;

  /// beta = 0 promises that C is not read: it may hold NaN or nothing at all.
  KERAMOS_FORCEINLINE_FUNCTION bool reads_c() const { return beta != T(0); }
  KERAMOS_FORCEINLINE_FUNCTION T operator()(T acc, T c, index_t, index_t) const {
    return alpha * acc + beta * c;
  }
  KERAMOS_FORCEINLINE_FUNCTION T operator()(T acc, index_t, index_t) const { return alpha * acc; }
};

}  // namespace keramos
