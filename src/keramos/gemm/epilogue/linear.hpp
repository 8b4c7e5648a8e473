// BLAS' update as an epilogue.
#pragma once

#include <type_traits>

#include <keramos/gemm/epilogue/data.hpp>

namespace keramos::epilogue {

/// See linear().
template <class S>
struct linear_block {
  using epilogue_block = linear_block;

  S alpha;
  S beta;

  KERAMOS_FORCEINLINE_FUNCTION constexpr bool reads_c() const { return beta != S(0); }
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, T c, index_t, index_t, index_t) const {
    return parts::product_sum(static_cast<T>(alpha), acc, parts::product(static_cast<T>(beta), c));
  }
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, index_t, index_t, index_t) const {
    return parts::product(static_cast<T>(alpha), acc);
  }
};

/// alpha·acc + beta·c. With beta = 0 C is not read: it may hold NaN or nothing at all. As in gemm's own alpha and beta,
/// both convert to the type of C's elements, and integers wrap around.
template <class A, class B>
constexpr auto linear(A alpha, B beta) {
  using S = std::common_type_t<A, B>;
  return linear_block<S>{static_cast<S>(alpha), static_cast<S>(beta)};
}

}  // namespace keramos::epilogue
