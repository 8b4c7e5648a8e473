// BLAS' update as an epilogue: `epilogue::linear(alpha, beta)`.
#pragma once

#include <type_traits>

#include <keramos/gemm/epilogue/data.hpp>

namespace keramos::epilogue {

/// See linear().
template <class A, class B = A>
struct linear_block {
  using epilogue_block = linear_block;

  A alpha;
  B beta;

  KERAMOS_FORCEINLINE_FUNCTION constexpr bool reads_c() const { return beta != B(0); }
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, T c, index_t, index_t, index_t) const {
    return parts::product_sum(parts::element<T>(alpha), acc, parts::product(parts::element<T>(beta), c));
  }
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, index_t, index_t, index_t) const {
    return parts::product(parts::element<T>(alpha), acc);
  }
};

/// alpha·acc + beta·c. With beta = 0 C is not read: it may hold NaN or nothing at all. Both convert to the type of sums; in
/// integers products wrap around. By itself it is gemm's own update, which takes 2.0 for integers too; in a composition
/// floating-point numbers do not compile there.
template <class A, class B>
constexpr auto linear(A alpha, B beta) {
  using held_a = typename parts::held<A>::type;
  using held_b = typename parts::held<B>::type;
  return linear_block<held_a, held_b>{held_a(alpha), held_b(beta)};
}

}  // namespace keramos::epilogue
