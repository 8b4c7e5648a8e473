// Products whose elements are split: sums that are not finite are formed again.
#pragma once

#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/epilogue/concept.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail {

/// `epilogue` of sums as IEEE arithmetic has them where they are no numbers. Parts of elements make NaN of what is infinite:
/// of an infinity times a number whose second part is 0, say. So a sum that is not finite is formed again in f32, term by
/// term; there are few, or else a product has no other use.
template <class Epilogue>
struct exact_infinities {
  Epilogue epilogue;
  tiling::operand<float> a, b;  ///< of the problem, whole elements
  index_t k;
  gemm_place place;

  KERAMOS_FORCEINLINE_FUNCTION bool reads_c() const { return detail::reads_c<float>(epilogue); }
  KERAMOS_FORCEINLINE_FUNCTION float operator()(float acc, float c, index_t i, index_t j,
                                                index_t batch) const requires may_read_c<Epilogue, float> {
    return epilogue(sum(acc, i, j), c, i, j, batch);
  }
  KERAMOS_FORCEINLINE_FUNCTION float operator()(float acc, index_t i, index_t j,
                                                index_t batch) const requires may_skip_c<Epilogue, float> {
    return epilogue(sum(acc, i, j), i, j, batch);
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION float sum(float acc, index_t i, index_t j) const {
    if (acc - acc == 0) return acc;  // neither infinite nor NaN
    i -= place.i0, j -= place.j0;
    const float* x = a.at(place.transposed ? j : i, 0);
    const float* y = b.at(place.transposed ? i : j, 0);
    float again = 0;
    for (index_t p = 0; p < k; ++p, x += a.stride_k, y += b.stride_k) again += *x * *y;
    return again;
  }
};

}  // namespace keramos::detail
