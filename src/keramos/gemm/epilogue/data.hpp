// What the library's epilogues hold: numbers, and vectors and matrices where they lie, as pointers and strides. Internal.
#pragma once

#include <concepts>
#include <type_traits>

#include <keramos/base/complex.hpp>
#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/view/grid_view.hpp>

namespace keramos::epilogue::parts {

/// As what an epilogue holds a caller's number: complex ones as the library's, for devices cannot call functions of std::complex.
template <class T>
struct held {
  using type = T;
};
template <complex_like Z>
struct held<Z> {
  using type = complex<typename Z::value_type>;
};

/// A number that an epilogue holds, as one of the type of sums.
template <class T, class U>
KERAMOS_FORCEINLINE_FUNCTION constexpr T element(const U& value) {
  static_assert(!(std::is_integral_v<T> && !std::is_integral_v<U>),
                "keramos: this epilogue's numbers are floating-point, but C's elements are integers");
  return static_cast<T>(value);
}

/// In which integers T's products and sums wrap around, which for signed ones C++ leaves undefined.
template <class T>
struct wrapping {
  using type = T;
};
template <std::integral T>
struct wrapping<T> {
  using type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};

template <class T>
KERAMOS_FORCEINLINE_FUNCTION constexpr T product(T a, T b) {
  using U = typename wrapping<T>::type;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}
template <class T>
KERAMOS_FORCEINLINE_FUNCTION constexpr T sum(T a, T b) {
  using U = typename wrapping<T>::type;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
/// a·b + c
template <class T>
KERAMOS_FORCEINLINE_FUNCTION constexpr T product_sum(T a, T b, T c) {
  using U = typename wrapping<T>::type;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b) + static_cast<U>(c));
}

/// The stride of a direction: `known_stride` takes no space, and loops over it are vectorised. `Dim` keeps the types
/// of one array's strides apart, which may then all be empty bases of it.
template <int Dim, index_t Value>
struct known_stride {
  constexpr known_stride() = default;
  constexpr explicit known_stride(index_t) {}
  KERAMOS_FORCEINLINE_FUNCTION constexpr index_t of(index_t i) const { return Value * i; }
};
template <int Dim>
struct kept_stride {
  index_t value;
  KERAMOS_FORCEINLINE_FUNCTION constexpr index_t of(index_t i) const { return value * i; }
};

/// v(batch, i): a vector, or one for each problem of a batch.
template <class U, class Space, class Along, class OfBatch>
struct epilogue_vector : Along, OfBatch {
  using memory_space = Space;

  const U* data;

  constexpr epilogue_vector(const U* d, index_t along, index_t of_batch)
      : Along{along}, OfBatch{of_batch}, data(d) {}
  KERAMOS_FORCEINLINE_FUNCTION const U& operator()(index_t batch, index_t i) const {
    return data[OfBatch::of(batch) + Along::of(i)];
  }
};

/// m(batch, i, j): a matrix, or one for each problem of a batch.
template <class U, class Space, class OfRow, class OfCol, class OfBatch>
struct epilogue_matrix : OfRow, OfCol, OfBatch {
  using memory_space = Space;
  using value_type = U;

  const U* data;

  constexpr epilogue_matrix(const U* d, index_t row, index_t col, index_t of_batch)
      : OfRow{row}, OfCol{col}, OfBatch{of_batch}, data(d) {}
  KERAMOS_FORCEINLINE_FUNCTION const U& operator()(index_t batch, index_t i, index_t j) const {
    return data[OfBatch::of(batch) + OfRow::of(i) + OfCol::of(j)];
  }
};

/// The memory space of a View; void where it is not known.
template <class V>
struct space_of {
  using type = void;
};
template <class V>
requires requires { typename V::memory_space; }
struct space_of<V> {
  using type = typename V::memory_space;
};

/// Whether a View's type alone says that neighbours in dimension `Dim` of `Rank` lie side by side.
template <class V, int Rank, int Dim>
constexpr bool is_unit_stride() {
  if constexpr (requires { typename V::array_layout; })
    return (std::is_same_v<typename V::array_layout, Kokkos::LayoutRight> && Dim == Rank - 1) ||
           (std::is_same_v<typename V::array_layout, Kokkos::LayoutLeft> && Dim == 0);
  else
    return false;
}
/// The stride of dimension `Dim` of a View.
template <class V, int Rank, int Dim>
using stride_of = std::conditional_t<is_unit_stride<V, Rank, Dim>(), known_stride<Dim, 1>, kept_stride<Dim>>;
/// That of something that is the same for all problems of a batch.
template <int Dim>
using no_stride = known_stride<Dim, 0>;

template <class G, int Rank>
using element_of =
    std::remove_const_t<std::remove_pointer_t<decltype(as_grid<Rank>(std::declval<const G&>()).data)>>;

/// What bias_by_row and its like accept: an array of one dimension, or of two, (batch, extent).
template <class V>
concept epilogue_vector_like = grid_like<V, 1> || grid_like<V, 2>;

template <epilogue_vector_like V>
constexpr auto as_epilogue_vector(const V& v) {
  using space = typename space_of<V>::type;
  if constexpr (grid_like<V, 1>) {
    const auto g = as_grid<1>(v);
    return epilogue_vector<element_of<V, 1>, space, stride_of<V, 1, 0>, no_stride<1>>(g.data, g.stride[0], 0);
  } else {
    const auto g = as_grid<2>(v);
    return epilogue_vector<element_of<V, 2>, space, stride_of<V, 2, 1>, stride_of<V, 2, 0>>(
        g.data, g.stride[1], g.stride[0]);
  }
}
template <class U>
constexpr auto as_epilogue_vector(const U* data) {
  return epilogue_vector<U, void, known_stride<0, 1>, no_stride<1>>(data, 1, 0);
}
template <class U>
constexpr auto as_epilogue_vector(const U* data, index_t stride, index_t batch_stride = 0) {
  return epilogue_vector<U, void, kept_stride<0>, kept_stride<1>>(data, stride, batch_stride);
}

/// Which index of C counts along a vector.
enum class along { rows, columns };

template <along Along, class Vector>
KERAMOS_FORCEINLINE_FUNCTION const auto& entry(const Vector& v, index_t i, index_t j, index_t batch) {
  return v(batch, Along == along::rows ? i : j);
}

}  // namespace keramos::epilogue::parts
