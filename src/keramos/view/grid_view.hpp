// An array of one to three dimensions where it lies: what algorithms over grids and vectors work on. For bare pointers:
// `grid_view<float, 1>{data, {n}, {1}}`, with extents and strides. Views and mdspans are taken as they are.
#pragma once

#include <type_traits>

#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/view/matrix_view.hpp>

namespace keramos {

/// `Rank` extents and strides (in elements) over memory of any layout.
template <class T, int Rank>
struct grid_view {
  T* data = nullptr;
  index_t extent[Rank] = {};
  index_t stride[Rank] = {};

  using value_type = std::remove_const_t<T>;

  constexpr index_t size() const {
    index_t n = 1;
    for (int d = 0; d < Rank; ++d) n *= extent[d];
    return n;
  }
  /// To a view of const elements.
  template <class U>
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) constexpr operator grid_view<U, Rank>() const {
    grid_view<U, Rank> out{data, {}, {}};
    for (int d = 0; d < Rank; ++d) out.extent[d] = extent[d], out.stride[d] = stride[d];
    return out;
  }
};

namespace detail {

template <class V, int Rank>
concept kokkos_grid = requires(const V& v) {
  typename V::memory_space;
  v.data();
}
&&(int(V::rank) == Rank);

template <class V, int Rank>
concept mdspan_grid = plain_mdspan<V> && int(V::rank()) == Rank;

template <class T, int Rank, class V>
grid_view<T, Rank> strided(T* data, const V& v) {
  grid_view<T, Rank> out;
  out.data = data;
  for (int d = 0; d < Rank; ++d) out.extent[d] = index_t(v.extent(d)), out.stride[d] = index_t(v.stride(d));
  return out;
}

}  // namespace detail

template <int Rank, class T>
constexpr grid_view<T, Rank> as_grid(const grid_view<T, Rank>& g) {
  return g;
}
/// A Kokkos View of any layout.
template <int Rank, detail::kokkos_grid<Rank> V>
auto as_grid(const V& v) {
  return detail::strided<std::remove_pointer_t<decltype(v.data())>, Rank>(v.data(), v);
}
/// An mdspan of any strided layout.
template <int Rank, detail::mdspan_grid<Rank> V>
auto as_grid(const V& v) {
  return detail::strided<typename V::element_type, Rank>(v.data_handle(), v);
}
template <int Rank, class T>
constexpr grid_view<T, 2> as_grid(const matrix_view<T>& m) requires(Rank == 2) {
  return {m.data, {m.rows, m.cols}, {m.row_stride, m.col_stride}};
}

/// What algorithms accept as an array of `Rank` dimensions: a View, an mdspan, a grid_view or (in two
/// dimensions) a matrix_view.
template <class G, int Rank>
concept grid_like = requires(const G& g) {
  as_grid<Rank>(g);
};

namespace detail {

/// Whether kernels on `Exec` may touch the memory of `G`; a bare pointer is the caller's word for it.
template <class Exec, class G>
constexpr bool reaches() {
  if constexpr (requires { typename G::memory_space; })
    return Kokkos::SpaceAccessibility<Exec, typename G::memory_space>::accessible;
  else
    return true;
}

}  // namespace detail
}  // namespace keramos
