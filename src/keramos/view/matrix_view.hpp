// A matrix where it lies: pointer, extents and two strides. For bare pointers:
// `keramos::gemm(q, 1.0, matrix_view<const double>::row_major(a, m, k, lda), ...)`. Views and mdspans are taken as they are.
#pragma once

#include <concepts>
#include <type_traits>

#include <keramos/base/checks.hpp>
#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>

namespace keramos {

/// A rows x cols matrix of `T` in memory of any layout; element (i, j) is
/// `data[i * row_stride + j * col_stride]`, strides counted in elements.
template <class T>
struct matrix_view {
  T* data = nullptr;
  index_t rows = 0;
  index_t cols = 0;
  index_t row_stride = 0;
  index_t col_stride = 0;

  using value_type = std::remove_const_t<T>;

  /// Rows one behind the other, `ld` elements apart (`ld >= cols`).
  static constexpr matrix_view row_major(T* data, index_t rows, index_t cols, index_t ld) {
    return {data, rows, cols, ld, 1};
  }
  static constexpr matrix_view row_major(T* data, index_t rows, index_t cols) {
    return row_major(data, rows, cols, cols);
  }
  /// Columns one behind the other, `ld` elements apart (`ld >= rows`): BLAS' layout.
  static constexpr matrix_view column_major(T* data, index_t rows, index_t cols, index_t ld) {
    return {data, rows, cols, 1, ld};
  }
  static constexpr matrix_view column_major(T* data, index_t rows, index_t cols) {
    return column_major(data, rows, cols, rows);
  }

  /// Element (i, j), for kernels. The checked build checks the indices.
  KERAMOS_FORCEINLINE_FUNCTION T& operator()(index_t i, index_t j) const {
    detail::check_index("matrix_view", i, rows, 0);
    detail::check_index("matrix_view", j, cols, 1);
    return data[i * row_stride + j * col_stride];
  }

  constexpr matrix_view transposed() const { return {data, cols, rows, col_stride, row_stride}; }
  /// To a view that only reads. (A template, because nvcc warns of a conversion to the type itself.)
  template <class C>
  requires(std::is_same_v<C, const T> && !std::is_const_v<T>) KERAMOS_FORCEINLINE_FUNCTION constexpr
  operator matrix_view<C>() const {
    return {data, rows, cols, row_stride, col_stride};
  }
};

namespace detail {

template <class V>
concept kokkos_matrix = requires(const V& v) {
  typename V::memory_space;
  v.data();
  v.stride(1);
}
&&(unsigned(V::rank) == 2);

/// Whether an mdspan's elements are those in memory: its accessor may change them, as std::linalg's scaled and conjugated do.
template <class V>
constexpr bool has_elements_of_memory() {
  if constexpr (requires { typename V::reference; })
    return std::is_same_v<typename V::reference, typename V::element_type&>;
  else
    return true;
}
template <class V>
concept plain_mdspan = requires(const V& v) {
  { v.data_handle() } -> std::convertible_to<typename V::element_type*>;
}
&&!requires { typename V::memory_space; }
&&has_elements_of_memory<V>();

template <class V>
concept mdspan_matrix = plain_mdspan<V> && requires(const V& v) {
  v.stride(1);
} &&(V::rank() == 2);

}  // namespace detail

template <class T>
constexpr matrix_view<T> as_matrix(const matrix_view<T>& m) {
  return m;
}
/// A rank-2 Kokkos View of any layout.
template <detail::kokkos_matrix V>
matrix_view<std::remove_pointer_t<decltype(V().data())>> as_matrix(const V& v) {
  return {v.data(), index_t(v.extent(0)), index_t(v.extent(1)), index_t(v.stride(0)), index_t(v.stride(1))};
}
/// A rank-2 mdspan of any strided layout.
template <detail::mdspan_matrix V>
matrix_view<typename V::element_type> as_matrix(const V& v) {
  return {v.data_handle(), index_t(v.extent(0)), index_t(v.extent(1)), index_t(v.stride(0)),
          index_t(v.stride(1))};
}

/// What GEMM and its relatives accept as a matrix.
template <class M>
concept matrix_like = requires(const M& m) {
  as_matrix(m);
};

namespace detail {

/// Whether kernels on `Exec` may touch `M`'s memory; a bare pointer is the caller's word for it.
template <class Exec, class M>
constexpr bool accessible_from() {
  if constexpr (kokkos_matrix<M>)
    return Kokkos::SpaceAccessibility<Exec, typename M::memory_space>::accessible;
  else
    return true;
}

}  // namespace detail
}  // namespace keramos
