// Index spaces in SYCL's terms: `range{rows, columns}`, `id`, `nd_range{range{n}, range{256}}`, and `local_range<256>`, whose
// extents are known when compiling. One to three dimensions; the last index runs fastest.
#pragma once

#include <type_traits>

#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>

namespace keramos {

namespace detail {

/// What range and id share: `Rank` values, indexable on host and device.
template <int Rank>
struct extents {
  static_assert(1 <= Rank && Rank <= 3, "keramos: ranges have 1 to 3 dimensions");
  static constexpr int rank = Rank;
  index_t value[Rank] = {};

  KERAMOS_FORCEINLINE_FUNCTION constexpr index_t operator[](int d) const { return value[d]; }
  KERAMOS_FORCEINLINE_FUNCTION constexpr index_t& operator[](int d) { return value[d]; }
};

}  // namespace detail

/// Extents of an index space: `range{rows, columns}`.
template <int Rank>
struct range : detail::extents<Rank> {
  range() = default;
  template <class... I>
  requires(sizeof...(I) == Rank && (std::is_convertible_v<I, index_t> && ...)) KERAMOS_FORCEINLINE_FUNCTION
      constexpr range(I... extent)
      : detail::extents<Rank>{{static_cast<index_t>(extent)...}} {}

  /// Number of items in the space.
  KERAMOS_FORCEINLINE_FUNCTION constexpr index_t size() const {
    index_t n = 1;
    for (int d = 0; d < Rank; ++d) n *= this->value[d];
    return n;
  }
};
template <class... I>
range(I...) -> range<int(sizeof...(I))>;

/// One point of an index space. A 1-D id converts to its index, and Views and mdspans take it as one.
template <int Rank>
struct id : detail::extents<Rank> {
  id() = default;
  template <class... I>
  requires(sizeof...(I) == Rank && (std::is_convertible_v<I, index_t> && ...)) KERAMOS_FORCEINLINE_FUNCTION
      constexpr id(I... index)
      : detail::extents<Rank>{{static_cast<index_t>(index)...}} {}

  KERAMOS_FORCEINLINE_FUNCTION constexpr operator index_t() const noexcept requires(Rank == 1) {
    return this->value[0];
  }
};
template <class... I>
id(I...) -> id<int(sizeof...(I))>;

/// A global range cut into work-groups of a local range, which must divide it in every dimension.
template <int Rank>
struct nd_range {
  range<Rank> global;
  range<Rank> local;
};
template <int Rank>
nd_range(range<Rank>, range<Rank>) -> nd_range<Rank>;

/// The logical size of a work-group, known when compiling so that private values can be registers.
template <int... Extent>
struct local_range {
  static_assert(1 <= sizeof...(Extent) && sizeof...(Extent) <= 3,
                "keramos: a local_range has 1 to 3 dimensions");
  static_assert(((Extent > 0) && ...), "keramos: the extents of a local_range are positive");
  static constexpr int rank = sizeof...(Extent);
  static constexpr int size = (Extent * ...);

  /// Extent of dimension d.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int extent(int d) {
    constexpr int e[] = {Extent...};
    return e[d];
  }
};

}  // namespace keramos
