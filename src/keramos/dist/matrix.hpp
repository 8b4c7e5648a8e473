// A distributed matrix: a layout, and where this rank's parts of it lie. `const dist::matrix A(layout, view);`
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include <keramos/base/kokkos.hpp>
#include <keramos/config.hpp>
#include <keramos/dist/layout.hpp>
#include <keramos/view/matrix_view.hpp>

namespace keramos::dist {

/// A matrix of T over ranks, in memory of keramos::default_execution_space. It refers to memory of the caller's, which stays
/// the caller's: any strides, and parts that are larger than what the layout needs. Nothing is checked here; calls check it on
/// all ranks together.
template <class T>
class matrix {
 public:
  using value_type = std::remove_const_t<T>;

  /// The parts of this rank; none if it has none.
  matrix(dist::layout layout, std::vector<matrix_view<T>> parts)
      : layout_(std::move(layout)), parts_(std::move(parts)) {}
  /// Of a layout in which a rank has one part at most: a View, an mdspan or a matrix_view. An empty one will do for a rank
  /// that owns nothing.
  template <matrix_like M>
  matrix(dist::layout layout, const M& part)
      : matrix(std::move(layout), std::vector<matrix_view<T>>{as_matrix(part)}) {
    static_assert(detail::accessible_from<default_execution_space, M>(),
                  "keramos::dist: pass Views that kernels of keramos::default_execution_space can access");
  }

  const dist::layout& layout() const { return layout_; }
  const std::vector<matrix_view<T>>& parts() const { return parts_; }

  /// Rows i ... i + rows - 1 and columns j ... j + cols - 1, where they are.
  matrix sub(index_t i, index_t j, index_t rows, index_t cols) const {
    return {layout_.sub(i, j, rows, cols), parts_};
  }

 private:
  dist::layout layout_;
  std::vector<matrix_view<T>> parts_;
};

template <matrix_like M>
matrix(layout, const M&) -> matrix<std::remove_pointer_t<decltype(as_matrix(std::declval<const M&>()).data)>>;
template <matrix_like M>
matrix(block_cyclic, const M&)
    -> matrix<std::remove_pointer_t<decltype(as_matrix(std::declval<const M&>()).data)>>;
template <class T>
matrix(layout, std::vector<matrix_view<T>>) -> matrix<T>;

}  // namespace keramos::dist
