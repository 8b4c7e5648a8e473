// Kernels that move elements between parts of a distributed matrix and messages. They are the same on every machine; what
// launches them knows where.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include <keramos/base/macros.hpp>
#include <keramos/base/scalar_type.hpp>
#include <keramos/dist/communicator.hpp>
#include <keramos/gemm/epilogue/placed.hpp>

namespace keramos::detail {

/// Some rows and columns of a part, or a message: element (x, y) is `data[row(x) + col(y)]`. Lists are where kernels read;
/// without one, rows or columns follow one another. With numbers, it is element (row_number(x), col_number(y)) of the matrix.
struct dist_rectangle {
  void* data = nullptr;
  index_t row_stride = 0, col_stride = 0;
  const index_t* rows = nullptr;
  const index_t* cols = nullptr;
  index_t row_count = 0, col_count = 0;
  const index_t* row_numbers = nullptr;
  const index_t* col_numbers = nullptr;

  index_t size() const { return row_count * col_count; }
  KERAMOS_FORCEINLINE_FUNCTION index_t row(index_t x) const { return (rows ? rows[x] : x) * row_stride; }
  KERAMOS_FORCEINLINE_FUNCTION index_t col(index_t y) const { return (cols ? cols[y] : y) * col_stride; }
  KERAMOS_FORCEINLINE_FUNCTION index_t row_number(index_t x) const { return row_numbers[rows ? rows[x] : x]; }
  KERAMOS_FORCEINLINE_FUNCTION index_t col_number(index_t y) const { return col_numbers[cols ? cols[y] : y]; }
  dist_rectangle transposed() const {
    return {data, col_stride, row_stride, cols, rows, col_count, row_count, col_numbers, row_numbers};
  }
};

/// Whether F is told the numbers of an element's row and column, too.
template <class F>
inline constexpr bool dist_takes_numbers = requires(F f) {
  f.is_turned;
};
/// f(place in `from`, place in `to`) for each element of `outer` rows and `inner` columns.
template <class F>
struct dist_each_element {
  dist_rectangle from, to;
  index_t outer, inner, outer_items;
  F f;

  KERAMOS_FUNCTION void operator()(index_t item) const {
    const index_t x_begin = item % outer_items * outer, y_begin = item / outer_items * inner;
    const index_t x_end = x_begin + outer < to.row_count ? x_begin + outer : to.row_count;
    const index_t y_end = y_begin + inner < to.col_count ? y_begin + inner : to.col_count;
    for (index_t x = x_begin; x < x_end; ++x) {
      const index_t from_row = from.row(x), to_row = to.row(x);
      for (index_t y = y_begin; y < y_end; ++y)
        if constexpr (dist_takes_numbers<F>)
          f(from_row + from.col(y), to_row + to.col(y), to.row_number(x), to.col_number(y));
        else
          f(from_row + from.col(y), to_row + to.col(y));
    }
  }
};
/// `from` and `to` have as many rows and columns.
template <class F>
void dist_for_each_element(dist::communicator::queue_type& q, const char* label, dist_rectangle from,
                           dist_rectangle to, F f) {
  // Elements that lie side by side are those of one item on a host, and of as many items one after the other on a device.
  constexpr bool is_host = backend::traits<dist::communicator::execution_space>::is_host;
  const bool side_by_side_in_columns = to.row_stride == 1 || (to.col_stride != 1 && from.row_stride == 1);
  if (side_by_side_in_columns == is_host) {
    from = from.transposed(), to = to.transposed();
    if constexpr (dist_takes_numbers<F>) f.is_turned = true;
  }
  if (to.size() == 0) return;
  const index_t outer = is_host ? 16 : 1, inner = is_host ? to.col_count : 8;
  const index_t outer_items = ceil_div(to.row_count, outer);
  q.parallel_for(label, range{outer_items * ceil_div(to.col_count, inner)},
                 dist_each_element<F>{from, to, outer, inner, outer_items, f});
}

/// What brings the elements of one rectangle into another. The queue is not waited for.
using dist_transfer = std::function<void(dist::communicator::queue_type&, const dist_rectangle& from,
                                         const dist_rectangle& to)>;

/// An element as words, aligned as dist_check wants it.
template <int Bytes>
struct alignas(Bytes) [[gnu::may_alias]] dist_bytes {
  using word =
      std::conditional_t<Bytes == 1, std::uint8_t,
                         std::conditional_t<Bytes == 2, std::uint16_t,
                                            std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;
  word value[std::size_t(Bytes) / sizeof(word)];
};
template <class T, bool Conjugate>
struct dist_copy_element {
  const T* from;
  T* to;
  KERAMOS_FUNCTION void operator()(index_t at, index_t target) const {
    if constexpr (Conjugate)
      to[target] = T(from[at].re, -from[at].im);
    else
      to[target] = from[at];
  }
};

/// Copies elements of 1, 2, 4, 8 or 16 bytes; conjugates complex numbers of 8 and 16.
KERAMOS_EXPORT dist_transfer dist_copy(int bytes, bool conjugate = false);

/// Bytes that go to `to` of a target, from where those before them end.
struct dist_stretch {
  index_t to = 0, bytes = 0;
};
/// Copies stretches that lie one behind the other in `from`. From `least` on, those of one length at equal distances are copied by
/// one kernel; hosts have nothing to launch.
KERAMOS_EXPORT void dist_spread(
    dist::communicator::queue_type& q, char* to, const char* from, const std::vector<dist_stretch>& stretches,
    std::size_t least = backend::traits<dist::communicator::execution_space>::is_host ? ~std::size_t(0) : 3);

/// Whether op conjugates elements T.
template <class T>
constexpr bool dist_conjugates(bool is_asked) {
  return is_asked && is_complex<kernel_element<T>>;
}

/// An element of C from its sum. No sums: there are no terms.
template <class Epilogue, class Sum, class C>
struct dist_update_element {
  Epilogue epilogue;
  const Sum* sums;
  C* part;
  KERAMOS_FUNCTION void operator()(index_t at, index_t target) const {
    write_element(epilogue, gemm_place(), sums ? sums[at] : Sum(0), part[target], 0, 0);
  }
};
/// The same by a caller's epilogue, which is told the row and column of the whole C.
template <class Epilogue, class Sum, class C>
struct dist_update_numbered {
  Epilogue epilogue;
  const Sum* sums;
  C* part;
  bool is_turned = false;  ///< rows are columns
  KERAMOS_FUNCTION void operator()(index_t at, index_t target, index_t x, index_t y) const {
    write_element(epilogue, gemm_place(), sums ? sums[at] : Sum(0), part[target], is_turned ? y : x,
                  is_turned ? x : y);
  }
};
template <class Sum, class C, class Epilogue>
dist_transfer dist_update_by(const Epilogue& epilogue) {
  return [epilogue](dist::communicator::queue_type& q, const dist_rectangle& from, const dist_rectangle& to) {
    const dist_update_numbered<Epilogue, Sum, C> update{epilogue, static_cast<const Sum*>(from.data),
                                                        static_cast<C*>(to.data)};
    dist_for_each_element(q, "keramos::dist::update", from, to, update);
  };
}
template <class Sum, class C, class Epilogue>
dist_transfer dist_update(const Epilogue& epilogue) {
  return [epilogue](dist::communicator::queue_type& q, const dist_rectangle& from, const dist_rectangle& to) {
    const dist_update_element<Epilogue, Sum, C> update{from.data ? epilogue : without_terms(epilogue),
                                                       static_cast<const Sum*>(from.data),
                                                       static_cast<C*>(to.data)};
    dist_for_each_element(q, "keramos::dist::update", from, to, update);
  };
}

/// "f64": what ranks compare and messages say.
template <class T>
constexpr const char* dist_element_name() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return "u8";
  if constexpr (is_e5m2<T>) return "f8_e5m2";
  constexpr const char* names[] = {"f8_e4m3", "f16", "bf16", "tf32", "tf32x3", "residues",
                                   "f32",     "f64", "i8",   "i32",  "c32",    "c64"};
  return names[int(scalar_type_of<T>::value)];
}
template <class T, class U>
constexpr bool dist_same_elements() {
  return scalar_type_of<T>::value == scalar_type_of<U>::value &&
         std::is_unsigned_v<T> == std::is_unsigned_v<U> && is_e5m2<T> == is_e5m2<U>;
}

}  // namespace keramos::detail
