// Local memory of a work-group: typed, sized when compiling or at launch, requested at launch.
//
//   using memory = local_memory<local_array<float, 16, 16>,          // row-major
//                               padded_local_array<float, 1, 32, 32>,  // rows of 33: columns off one bank
//                               dynamic_local_array<int>>;             // its extents come with the launch
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>

#include <keramos/base/error.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/core/detail/watch.hpp>
#include <keramos/core/range.hpp>

namespace keramos {

namespace detail {

/// Bytes that arrays in a team's local memory are aligned to: a line of a GPU's cache.
inline constexpr std::size_t local_alignment = 128;

template <int... I>
constexpr int last_of() {
  constexpr int all[] = {I...};
  return all[sizeof...(I) - 1];
}
}  // namespace detail

/// A row-major array in local memory whose rows are `Pad` elements longer than their last extent: a type to
/// request (`local_memory<padded_local_array<T, 1, 32, 32>>`) and the handle that a group gives out.
template <class T, int Pad, int... Extent>
class padded_local_array : protected detail::watch {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "keramos: local memory holds trivial types; nothing constructs or destroys them");
  static_assert(sizeof...(Extent) >= 1 && ((Extent > 0) && ...) && Pad >= 0,
                "keramos: a local_array needs positive extents");

 public:
  using value_type = T;
  static constexpr int rank = sizeof...(Extent);
  /// Elements from one row to the next, and in all, padding included.
  static constexpr int pitch = detail::last_of<Extent...>() + Pad;
  static constexpr int size = (Extent * ...) / detail::last_of<Extent...>() * pitch;
  static constexpr std::size_t bytes = sizeof(T) * size;

  KERAMOS_FORCEINLINE_FUNCTION static constexpr int extent(int d) {
    constexpr int e[] = {Extent...};
    return e[d];
  }

  KERAMOS_FORCEINLINE_FUNCTION explicit padded_local_array(T* data, const detail::watch& w = {})
      : detail::watch(w), data_(data) {}

  /// Element (i, j, ...), as many indices as extents.
  template <class... I>
  KERAMOS_FORCEINLINE_FUNCTION T& operator()(I... index) const {
    static_assert(sizeof...(I) == rank, "keramos: a local_array takes one index per extent");
    constexpr int extent[] = {Extent...};
    const int at[] = {static_cast<int>(index)...};
    int offset = 0;
    for (int d = 0; d < rank; ++d) {
      this->check_index(data_, at[d], extent[d], d);
      offset = offset * (d == rank - 1 ? pitch : extent[d]) + at[d];
    }
    this->access(data_ + offset, sizeof(T));
    return data_[offset];
  }
  /// Element by its row-major index; for arrays without padding.
  KERAMOS_FORCEINLINE_FUNCTION T& operator[](int linear) const requires(Pad == 0) {
    this->check_index(data_, linear, size, 0);
    this->access(data_ + linear, sizeof(T));
    return data_[linear];
  }
  /// The elements as they lie. The checked build does not see what is done through it.
  KERAMOS_FORCEINLINE_FUNCTION T* data() const { return data_; }

 protected:
  T* data_;  // local
};

namespace detail {
template <class T, int... Extent>
struct without_first;
}

/// The same without padding.
template <class T, int... Extent>
class local_array : public padded_local_array<T, 0, Extent...> {
  using base = padded_local_array<T, 0, Extent...>;

 public:
  using base::base;

  /// The array of the last extents at index i of the first: one slot of a ring of tiles.
  KERAMOS_FORCEINLINE_FUNCTION auto sub(int i) const requires(base::rank > 1) {
    using array = typename detail::without_first<T, Extent...>::type;
    return array(this->data_ + i * array::size, *this);
  }
};

namespace detail {
template <class T, int First, int... Rest>
struct without_first<T, First, Rest...> {
  using type = local_array<T, Rest...>;
};
}  // namespace detail

/// A row-major array whose extents are given at launch: `parallel_for_work_group<G>(label, groups,
/// local_extents(range{n}), f)`, one range an array. Such arrays stand last in their local_memory.
template <class T, int Rank = 1>
class dynamic_local_array : protected detail::watch {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "keramos: local memory holds trivial types; nothing constructs or destroys them");

 public:
  using value_type = T;
  static constexpr int rank = Rank;
  static constexpr std::size_t bytes = 0;  // that are known when compiling

  KERAMOS_FORCEINLINE_FUNCTION dynamic_local_array(T* data, const int* extent, const detail::watch& w)
      : detail::watch(w), data_(data) {
    for (int d = 0; d < Rank; ++d) extent_[d] = extent[d];
  }

  KERAMOS_FORCEINLINE_FUNCTION int extent(int d) const { return extent_[d]; }
  KERAMOS_FORCEINLINE_FUNCTION int size() const {
    int n = 1;
    for (int d = 0; d < Rank; ++d) n *= extent_[d];
    return n;
  }
  template <class... I>
  KERAMOS_FORCEINLINE_FUNCTION T& operator()(I... index) const {
    static_assert(sizeof...(I) == Rank, "keramos: a local array takes one index per extent");
    const int at[] = {static_cast<int>(index)...};
    int offset = 0;
    for (int d = 0; d < Rank; ++d) {
      this->check_index(data_, at[d], extent_[d], d);
      offset = offset * extent_[d] + at[d];
    }
    this->access(data_ + offset, sizeof(T));
    return data_[offset];
  }
  KERAMOS_FORCEINLINE_FUNCTION T& operator[](int linear) const {
    this->check_index(data_, linear, size(), 0);
    this->access(data_ + linear, sizeof(T));
    return data_[linear];
  }
  KERAMOS_FORCEINLINE_FUNCTION T* data() const { return data_; }

 private:
  T* data_;  // local
  int extent_[Rank];
};

namespace detail {
template <class A>
inline constexpr bool is_dynamic = false;
template <class T, int Rank>
inline constexpr bool is_dynamic<dynamic_local_array<T, Rank>> = true;

/// Extents of `Count` dynamic arrays.
template <int Count>
struct dynamic_extents {
  int extent[Count][3];
};
template <>
struct dynamic_extents<0> {};
}  // namespace detail

/// The extents of a kernel's dynamic local arrays, in their order.
/// @throws invalid_argument if one is negative, or an array has more than 2^31 - 1 elements.
template <int... Rank>
auto local_extents(const range<Rank>&... of_array) {
  detail::dynamic_extents<sizeof...(Rank)> e{};
  int a = 0;
  const auto set = [&](const auto& r) {
    index_t elements = 1;
    for (int d = 0; d < r.rank; ++d) {
      if (r[d] < 0 || r[d] > std::numeric_limits<int>::max() ||
          (elements *= r[d]) > std::numeric_limits<int>::max())
        throw invalid_argument("keramos::local_extents: array " + std::to_string(a) + " has an extent of " +
                               std::to_string(r[d]) + " in dimension " + std::to_string(d) +
                               " but a local array has 0 to 2^31 - 1 elements; check how it was computed");
    }
    for (int d = 0; d < r.rank; ++d) e.extent[a][d] = int(r[d]);
    for (int d = r.rank; d < 3; ++d) e.extent[a][d] = 1;
    ++a;
  };
  (set(of_array), ...);
  return e;
}

/// The local arrays of a work-group kernel, laid out one behind the other.
template <class... Array>
struct local_memory {
  static constexpr std::size_t alignment = detail::local_alignment;
  static constexpr int count = sizeof...(Array);
  static constexpr int dynamic_count = (int(detail::is_dynamic<Array>) + ... + 0);
  using extents_type = detail::dynamic_extents<dynamic_count>;

  template <int I>
  using array = std::tuple_element_t<I, std::tuple<Array...>>;

  /// Where array I starts, in bytes, if its extents are known when compiling.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr std::size_t offset(int I) {
    constexpr std::size_t size[] = {Array::bytes..., 0};
    std::size_t at = 0;
    for (int a = 0; a < I; ++a) at += rounded(size[a]);
    return at;
  }
  /// Bytes of those together.
  static constexpr std::size_t bytes = offset(count);

  /// Where dynamic array I of all arrays starts; I = count gives the bytes of all.
  KERAMOS_FORCEINLINE_FUNCTION static std::size_t dynamic_offset([[maybe_unused]] const extents_type& e,
                                                                 [[maybe_unused]] int I) {
    std::size_t at = bytes;
    if constexpr (dynamic_count > 0) {
      constexpr std::size_t size[] = {sizeof(typename Array::value_type)...};
      for (int a = count - dynamic_count; a < I; ++a) {
        const int* n = e.extent[a - (count - dynamic_count)];
        at += rounded(size[a] * std::size_t(n[0]) * std::size_t(n[1]) * std::size_t(n[2]));
      }
    }
    return at;
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static constexpr std::size_t rounded(std::size_t n) {
    return (n + alignment - 1) / alignment * alignment;
  }
  static constexpr bool dynamic_arrays_are_last() {
    constexpr bool dynamic[] = {detail::is_dynamic<Array>..., true};
    for (int a = 0; a < count; ++a)
      if (dynamic[a] && !dynamic[a + 1]) return false;
    return true;
  }
  static_assert(dynamic_arrays_are_last(), "keramos: dynamic arrays stand last in a local_memory");
};

}  // namespace keramos
