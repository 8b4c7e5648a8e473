// Batches of matrices where they lie: equally spaced (batched_matrix_view), wherever an array of pointers in the device's memory
// says (matrix_array), or listed on the host (any range of matrices). What gemm_batched works on; it takes Views and mdspans of
// rank 3 as they are.
#pragma once

#include <cstddef>
#include <ranges>
#include <type_traits>

#include <keramos/view/matrix_view.hpp>

namespace keramos {

/// `batch` matrices of rows x cols, equally spaced: element (b, i, j) is
/// `data[b * batch_stride + i * row_stride + j * col_stride]`, strides in elements. With a batch stride of
/// 0 all are the same matrix.
template <class T>
struct batched_matrix_view {
  T* data = nullptr;
  index_t batch = 0;
  index_t rows = 0;
  index_t cols = 0;
  index_t batch_stride = 0;
  index_t row_stride = 0;
  index_t col_stride = 0;

  using value_type = std::remove_const_t<T>;

  /// `batch` matrices like `first`, `batch_stride` elements from one to the next.
  static constexpr batched_matrix_view strided(const matrix_view<T>& first, index_t batch,
                                               index_t batch_stride) {
    return {first.data, batch, first.rows, first.cols, batch_stride, first.row_stride, first.col_stride};
  }

  /// Matrix b. The checked build checks b.
  KERAMOS_FORCEINLINE_FUNCTION constexpr matrix_view<T> operator[](index_t b) const {
    detail::check_index("batched_matrix_view", b, batch, 0);
    return {data + b * batch_stride, rows, cols, row_stride, col_stride};
  }
  template <class C>
  requires(std::is_same_v<C, const T> && !std::is_const_v<T>) constexpr operator batched_matrix_view<C>()
      const {
    return {data, batch, rows, cols, batch_stride, row_stride, col_stride};
  }
};

/// `batch` matrices of one shape anywhere: the address of matrix b's element (0, 0) is read by the kernel,
/// `step` bytes behind that of matrix b - 1. So nothing can be checked that depends on these addresses.
template <class T>
struct matrix_array {
  const void* addresses = nullptr;  ///< in memory that the device reads
  index_t step = 0;                 ///< bytes from one address to the next
  index_t batch = 0;
  index_t rows = 0;
  index_t cols = 0;
  index_t row_stride = 0;
  index_t col_stride = 0;
  /// Of what, in bytes, all addresses are multiples. 16 promises faster copies where the strides are
  /// multiples of 16 bytes too.
  std::size_t alignment = sizeof(T);

  using value_type = std::remove_const_t<T>;

  /// From an array of pointers, as other libraries' batched GEMM take it; `like` has the shape and the
  /// strides of all (its data is not used).
  static matrix_array from(T* const* pointers, index_t batch, const matrix_view<T>& like) {
    return {pointers, sizeof(T*), batch, like.rows, like.cols, like.row_stride, like.col_stride};
  }
  /// From a rank-1 View of matrix_views in memory that the device reads; the shape and strides that count
  /// are those of `like`.
  template <class V>
  requires(std::is_same_v<typename V::non_const_value_type, matrix_view<T>>&& unsigned(V::rank) ==
           1) static matrix_array from(const V& views, const matrix_view<T>& like) {
    static_assert(offsetof(matrix_view<T>, data) == 0);
    return {views.data(),
            index_t(sizeof(matrix_view<T>)) * index_t(views.stride(0)),
            index_t(views.extent(0)),
            like.rows,
            like.cols,
            like.row_stride,
            like.col_stride};
  }
};

namespace detail {

template <class V>
concept kokkos_batch = requires(const V& v) {
  typename V::memory_space;
  v.data();
  v.stride(2);
}
&&(unsigned(V::rank) == 3);

template <class V>
concept mdspan_batch = plain_mdspan<V> && requires(const V& v) {
  v.stride(2);
} &&(V::rank() == 3);

}  // namespace detail

template <class T>
constexpr batched_matrix_view<T> as_batch(const batched_matrix_view<T>& m) {
  return m;
}
/// A rank-3 Kokkos View (batch, rows, cols) of any layout.
template <detail::kokkos_batch V>
batched_matrix_view<std::remove_pointer_t<decltype(V().data())>> as_batch(const V& v) {
  return {v.data(),
          index_t(v.extent(0)),
          index_t(v.extent(1)),
          index_t(v.extent(2)),
          index_t(v.stride(0)),
          index_t(v.stride(1)),
          index_t(v.stride(2))};
}
/// A rank-3 mdspan (batch, rows, cols) of any strided layout.
template <detail::mdspan_batch V>
batched_matrix_view<typename V::element_type> as_batch(const V& v) {
  return {v.data_handle(),      index_t(v.extent(0)), index_t(v.extent(1)), index_t(v.extent(2)),
          index_t(v.stride(0)), index_t(v.stride(1)), index_t(v.stride(2))};
}

/// Equally spaced matrices of one shape.
template <class M>
concept matrix_batch_like = requires(const M& m) {
  as_batch(m);
};

namespace detail {

template <class M>
inline constexpr bool is_matrix_array = false;
template <class T>
inline constexpr bool is_matrix_array<matrix_array<T>> = true;

/// A rank-1 View of matrices that the host can read.
template <class V>
concept kokkos_list = requires(const V& v) {
  typename V::memory_space;
  as_matrix(v.data()[0]);
}
&&(unsigned(V::rank) == 1);

template <class L>
concept range_list = std::ranges::sized_range<const L> && std::ranges::random_access_range<const L> &&
    matrix_like<std::ranges::range_value_t<const L>>;

/// Length and elements of a list, which a View and a range spell differently.
template <class L>
index_t list_size(const L& l) {
  if constexpr (kokkos_list<L>)
    return index_t(l.extent(0));
  else
    return index_t(std::ranges::size(l));
}
template <class L>
auto list_entry(const L& l, index_t b) {
  if constexpr (kokkos_list<L>)
    return as_matrix(l(b));
  else
    return as_matrix(std::ranges::begin(l)[b]);
}

/// Whether kernels on `Exec` may touch the memory of a batch, or of the matrices of a list.
template <class Exec, class M>
constexpr bool batch_accessible_from() {
  if constexpr (kokkos_batch<M>)
    return Kokkos::SpaceAccessibility<Exec, typename M::memory_space>::accessible;
  else if constexpr (range_list<M>)
    return accessible_from<Exec, std::ranges::range_value_t<const M>>();
  else
    return accessible_from<Exec, M>();
}

}  // namespace detail

/// Matrices listed in memory that the host reads: any random-access range (std::vector, std::span, ...) or
/// rank-1 View of Views, mdspans or matrix_views, each with an extent, strides and memory of its own.
template <class L>
concept matrix_list_like = detail::kokkos_list<L> || detail::range_list<L>;

}  // namespace keramos
