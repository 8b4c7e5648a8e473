// Neighbouring elements that move in one access.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>

namespace keramos::detail::simt {

/// `Count` elements that move in one access.
template <class T, int Count>
struct alignas(sizeof(T) * Count) run {
  T value[Count];
};

/// The words that a run consists of.
template <class Run, class Word = std::conditional_t<sizeof(Run) % 8 == 0, std::uint64_t, std::uint32_t>>
using words_of = run<Word, int(sizeof(Run) / sizeof(Word))>;

/// Loads a run in one access, as whole words: of short elements nvcc else loads each byte. (Kernels call ::memcpy: HIP's own stands
/// there, and not in std if <cstring> was included before HIP's headers.)
template <class Run>
KERAMOS_FORCEINLINE_FUNCTION Run load_at_once(const Run* from) {
  static_assert(sizeof(words_of<Run>) == sizeof(Run));
  const auto all = *reinterpret_cast<const words_of<Run>*>(from);
  Run x;
  ::memcpy(&x, &all, sizeof(x));
  return x;
}

/// Stores a run in one access, as whole words. nvcc makes one code of this and of a branch that stores element by element, if
/// the stores have the same type.
template <class C, int Count>
KERAMOS_FORCEINLINE_FUNCTION void store_at_once(C* to, const run<C, Count>& x) {
  using words = words_of<run<C, Count>>;
  static_assert(sizeof(words) == sizeof(x));
  words all;
  ::memcpy(&all, &x, sizeof(x));
  *reinterpret_cast<words*>(to) = all;
}

/// Bytes that can be copied at once: 16, 8 or 4, of which the address of every row is a multiple. 0 if fewer, or if elements of a
/// row are no neighbours.
template <class T>
KERAMOS_FORCEINLINE_FUNCTION int row_alignment(const T* data, index_t unit_stride, index_t row_stride) {
  const auto places =
      reinterpret_cast<std::uintptr_t>(data) | std::uintptr_t(row_stride) * std::uintptr_t(sizeof(T));
  if (unit_stride != 1) return 0;
  return places % 16 == 0 ? 16 : places % 8 == 0 ? 8 : places % 4 == 0 ? 4 : 0;
}
template <class T>
bool can_copy_vectors(const T* data, index_t unit_stride, index_t row_stride) {
  return row_alignment(data, unit_stride, row_stride) == 16;
}

}  // namespace keramos::detail::simt
