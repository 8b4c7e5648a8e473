// C of eight-bit integers. Kernels count in integers modulo 2^32 and store the low byte of what an epilogue gives them;
// epilogues compute in float. This is what stands between.
#pragma once

#include <cmath>
#include <cstdint>

#include <keramos/base/index.hpp>
#include <keramos/base/integer8.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/epilogue/concept.hpp>
#include <keramos/gemm/epilogue/convert.hpp>

namespace keramos::detail {

/// `epilogue` in float: sums are rounded to it, and its result becomes an element of C as epilogue::saturate says.
template <class Epilogue>
struct quantized_epilogue {
  using sum = std::uint32_t;  // the accumulators of kernels

  Epilogue epilogue;
  bool is_signed;  ///< C's elements are std::int8_t, not std::uint8_t

  KERAMOS_FORCEINLINE_FUNCTION bool reads_c() const { return detail::reads_c<float>(epilogue); }
  KERAMOS_FORCEINLINE_FUNCTION sum operator()(sum acc, sum c, index_t i, index_t j,
                                              index_t batch) const requires may_read_c<Epilogue, float> {
    return quantized(epilogue(number(acc), number(widen(integer8(c), is_signed)), i, j, batch));
  }
  KERAMOS_FORCEINLINE_FUNCTION sum operator()(sum acc, index_t i, index_t j,
                                              index_t batch) const requires may_skip_c<Epilogue, float> {
    return quantized(epilogue(number(acc), i, j, batch));
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static float number(sum x) {
    return static_cast<float>(static_cast<std::int32_t>(x));
  }
  KERAMOS_FORCEINLINE_FUNCTION sum quantized(float x) const {
    const float low = is_signed ? -128.f : 0.f;
    const float within = keramos::epilogue::parts::clamped(x, low, low + 255.f);
    return static_cast<sum>(static_cast<std::int32_t>(std::rint(within)));
  }
};

}  // namespace keramos::detail
