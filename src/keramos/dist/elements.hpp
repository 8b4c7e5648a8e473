// Kernels between parts of a distributed matrix and messages. They are the same on every machine; what launches them knows
// where.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include <keramos/base/macros.hpp>
#include <keramos/base/scalar_type.hpp>
#include <keramos/dist/communicator.hpp>
#include <keramos/gemm/epilogue/placed.hpp>

namespace keramos::detail {

/// Some rows and columns of a part: element (x, y) is `data[rows[x] * row_stride + cols[y] * col_stride]`, and number
/// x * col_count + y of its message.
struct dist_rectangle {
  void* data;
  index_t row_stride, col_stride;
  const index_t* rows;
  const index_t* cols;
  index_t row_count, col_count;

  index_t size() const { return row_count * col_count; }
};

/// f(place in the part, number in the message) for each element of sixteen rows.
template <class F>
struct dist_each_element {
  static constexpr index_t tile = 16;
  dist_rectangle r;
  F f;

  KERAMOS_FUNCTION void operator()(index_t t) const {
    const index_t begin = t * tile, end = begin + tile < r.row_count ? begin + tile : r.row_count;
    // The inner loop goes where elements lie side by side.
    if (r.row_stride == 1) {
      for (index_t y = 0; y < r.col_count; ++y)
        for (index_t x = begin; x < end; ++x) f(r.rows[x] + r.cols[y] * r.col_stride, x * r.col_count + y);
    } else {
      for (index_t x = begin; x < end; ++x)
        for (index_t y = 0; y < r.col_count; ++y)
          f(r.rows[x] * r.row_stride + r.cols[y] * r.col_stride, x * r.col_count + y);
    }
  }
};
template <class F>
void dist_for_each_element(dist::communicator::queue_type& q, const char* label, const dist_rectangle& r,
                           const F& f) {
  using kernel = dist_each_element<F>;
  q.parallel_for(label, range{ceil_div(r.row_count, kernel::tile)}, kernel{r, f});
}

/// What brings the elements of a rectangle into a message, or out of it. The queue is not waited for.
using dist_pack = std::function<void(dist::communicator::queue_type&, const dist_rectangle&, void* message)>;

/// An element as bytes, aligned as dist_check wants it.
template <int Bytes>
struct alignas(Bytes) [[gnu::may_alias]] dist_bytes {
  unsigned char value[Bytes];
};
template <class T>
struct dist_copy_out {
  const T* part;
  T* message;
  KERAMOS_FUNCTION void operator()(index_t at, index_t number) const { message[number] = part[at]; }
};
template <class T, bool Conjugate>
struct dist_copy_in {
  T* part;
  const T* message;
  KERAMOS_FUNCTION void operator()(index_t at, index_t number) const {
    if constexpr (Conjugate)
      part[at] = T(message[number].re, -message[number].im);
    else
      part[at] = message[number];
  }
};

/// Of elements of 1, 2, 4, 8 or 16 bytes; conjugation of complex numbers of 8 and 16.
KERAMOS_EXPORT dist_pack dist_pack_bytes(int bytes);
KERAMOS_EXPORT dist_pack dist_unpack_bytes(int bytes, bool conjugate);

template <class T>
dist_pack dist_unpack_plain(bool conjugate) {
  return dist_unpack_bytes(int(sizeof(T)), conjugate && is_complex<kernel_element<T>>);
}

/// An element of C from its sum. No message: there are no terms.
template <class Epilogue, class Sum, class C>
struct dist_update {
  Epilogue epilogue;
  C* part;
  const Sum* message;
  KERAMOS_FUNCTION void operator()(index_t at, index_t number) const {
    write_element(epilogue, gemm_place(), message ? message[number] : Sum(0), part[at], 0, 0);
  }
};
template <class Sum, class C, class Epilogue>
dist_pack dist_unpack_update(const Epilogue& epilogue) {
  return [epilogue](dist::communicator::queue_type& q, const dist_rectangle& r, void* message) {
    const dist_update<Epilogue, Sum, C> update{message ? epilogue : without_terms(epilogue),
                                               static_cast<C*>(r.data), static_cast<const Sum*>(message)};
    dist_for_each_element(q, "keramos::dist::update", r, update);
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
