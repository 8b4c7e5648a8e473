// The sum times a number: one for all of C, `epilogue::scale(2.0f)`, one for each row or column, `scale_by_row(v)` and
// `scale_by_column(v)`, or one that the kernel reads, `scale_by_tensor(pointer)`.
#pragma once

#include <concepts>
#include <type_traits>

#include <keramos/gemm/epilogue/data.hpp>

namespace keramos::epilogue {

/// See scale().
template <class S>
struct scale_block {
  using epilogue_block = scale_block;

  S factor;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, index_t, index_t, index_t) const {
    return parts::product(acc, parts::element<T>(factor));
  }
};

/// See scale_by_row() and scale_by_column().
template <parts::along Along, class Vector>
struct vector_scale_block {
  using epilogue_block = vector_scale_block;
  using memory_space = typename Vector::memory_space;

  Vector vector;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, index_t i, index_t j, index_t batch) const {
    return parts::product(acc, parts::element<T>(parts::entry<Along>(vector, i, j, batch)));
  }
};

/// See scale_by_tensor().
template <class U, class Space>
struct tensor_scale_block {
  using epilogue_block = tensor_scale_block;
  using memory_space = Space;

  const U* factor;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, index_t, index_t, index_t) const {
    return parts::product(acc, parts::element<T>(*factor));
  }
};

/// acc·factor. The factor converts to the type of C's elements (a floating-point one not to integers). Integers wrap
/// around.
template <class S>
requires(!std::is_pointer_v<S>) constexpr auto scale(S factor) { return scale_block<S>{factor}; }

/// acc·v(i): one factor for each row of C. What `v` may be, and how long it must live: see bias_by_row.
template <class... V>
requires requires(const V&... v) { parts::as_epilogue_vector(v...); }
constexpr auto scale_by_row(const V&... v) {
  using vector = decltype(parts::as_epilogue_vector(v...));
  return vector_scale_block<parts::along::rows, vector>{parts::as_epilogue_vector(v...)};
}

/// acc·v(j): one factor for each column of C. Otherwise as scale_by_row.
template <class... V>
requires requires(const V&... v) { parts::as_epilogue_vector(v...); }
constexpr auto scale_by_column(const V&... v) {
  using vector = decltype(parts::as_epilogue_vector(v...));
  return vector_scale_block<parts::along::columns, vector>{parts::as_epilogue_vector(v...)};
}

/// acc·(*factor): one factor in memory that the device reads when the kernel runs, so an earlier kernel of the same
/// queue may have computed it. It must live until the product is done.
template <class U>
constexpr auto scale_by_tensor(const U* factor) {
  return tensor_scale_block<U, void>{factor};
}
/// The same from a View of rank 0.
template <class V>
requires(detail::kokkos_grid<V, 0>) constexpr auto scale_by_tensor(const V& factor) {
  return tensor_scale_block<typename V::non_const_value_type, typename V::memory_space>{factor.data()};
}

}  // namespace keramos::epilogue
