// Products whose elements are split: sums that are not finite are formed again.
#pragma once

#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/epilogue/concept.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail {

/// `epilogue`, with the sums as IEEE arithmetic has them where they are no numbers. Parts of elements make NaN of what is
/// infinite: of an infinity times a number whose second part is 0, say. So the collective has `sum` form one that is not finite
/// again in f32, term by term; there are few, or else a product has no other use.
template <class Epilogue>
struct exact_infinities {
  Epilogue epilogue;
  tiling::operand<float> a, b;  ///< of the problem, whole elements
  index_t k;

  KERAMOS_FORCEINLINE_FUNCTION bool reads_c() const { return detail::reads_c<float>(epilogue); }
  KERAMOS_FORCEINLINE_FUNCTION float operator()(float acc, float c, index_t i, index_t j,
                                                index_t batch) const requires may_read_c<Epilogue, float> {
    return epilogue(acc, c, i, j, batch);
  }
  KERAMOS_FORCEINLINE_FUNCTION float operator()(float acc, index_t i, index_t j,
                                                index_t batch) const requires may_skip_c<Epilogue, float> {
    return epilogue(acc, i, j, batch);
  }

  /// The problem's element (i, j), before the epilogue.
  KERAMOS_FORCEINLINE_FUNCTION float sum(index_t i, index_t j) const {
    const float *x = a.at(i, 0), *y = b.at(j, 0);
    float again = 0;
    for (index_t p = 0; p < k; ++p, x += a.stride_k, y += b.stride_k) again += *x * *y;
    return again;
  }
};

}  // namespace keramos::detail
