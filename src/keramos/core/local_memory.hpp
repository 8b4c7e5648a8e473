// Local memory of a work-group: typed, sized when compiling, requested at launch.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include <keramos/core/macros.hpp>

namespace keramos {

namespace detail {
template <class T, int... Extent>
struct without_first;
}

/// A row-major array in local memory: a type to request (`local_memory<local_array<T, 16, 17>>`) and
/// the handle that a group gives out. Pad the last extent to keep columns off one bank.
template <class T, int... Extent>
class local_array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "keramos: local memory holds trivial types; nothing constructs or destroys them");
  static_assert(sizeof...(Extent) >= 1 && ((Extent > 0) && ...),
                "keramos: a local_array needs positive extents");

 public:
  using value_type = T;
  static constexpr int rank = sizeof...(Extent);
  static constexpr int size = (Extent * ...);
  static constexpr std::size_t bytes = sizeof(T) * size;

  KERAMOS_FORCEINLINE_FUNCTION explicit local_array(T* data) : data_(data) {}

  /// Element (i, j, ...), as many indices as extents.
  template <class... I>
  KERAMOS_FORCEINLINE_FUNCTION T& operator()(I... index) const {
    static_assert(sizeof...(I) == rank, "keramos: a local_array takes one index per extent");
    constexpr int extent[] = {Extent...};
    const int at[] = {static_cast<int>(index)...};
    int offset = at[0];
    for (int d = 1; d < rank; ++d) offset = offset * extent[d] + at[d];
    return data_[offset];
  }
  KERAMOS_FORCEINLINE_FUNCTION T& operator[](int linear) const { return data_[linear]; }
  KERAMOS_FORCEINLINE_FUNCTION T* data() const { return data_; }

  /// The array of the last extents at index i of the first: one slot of a ring of tiles.
  KERAMOS_FORCEINLINE_FUNCTION auto sub(int i) const requires(rank > 1) {
    using array = typename detail::without_first<T, Extent...>::type;
    return array(data_ + i * array::size);
  }

 private:
  T* data_;  // local
};

namespace detail {
template <class T, int First, int... Rest>
struct without_first<T, First, Rest...> {
  using type = local_array<T, Rest...>;
};
}  // namespace detail

/// The local arrays of a work-group kernel, laid out one behind the other.
template <class... Array>
struct local_memory {
  static constexpr std::size_t alignment = 128;
  static constexpr int count = sizeof...(Array);

  template <int I>
  using array = std::tuple_element_t<I, std::tuple<Array...>>;

  /// Where array I starts, in bytes.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr std::size_t offset(int I) {
    constexpr std::size_t size[] = {Array::bytes..., 0};
    std::size_t at = 0;
    for (int a = 0; a < I; ++a) at += (size[a] + alignment - 1) / alignment * alignment;
    return at;
  }
  /// Bytes of all arrays together.
  static constexpr std::size_t bytes = offset(count);
};

}  // namespace keramos
