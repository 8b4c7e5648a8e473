// Neighbouring elements that move in one access.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

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

/// Loads a run in one access, as whole words: of short elements nvcc else loads each byte.
template <class Run>
KERAMOS_FORCEINLINE_FUNCTION Run load_at_once(const Run* from) {
  static_assert(sizeof(words_of<Run>) == sizeof(Run));
  const auto all = *reinterpret_cast<const words_of<Run>*>(from);
  Run x;
  std::memcpy(&x, &all, sizeof(x));
  return x;
}

/// Stores a run in one access, as whole words. nvcc makes one code of this and of a branch that stores element by element, if
/// the stores have the same type.
template <class C, int Count>
KERAMOS_FORCEINLINE_FUNCTION void store_at_once(C* to, const run<C, Count>& x) {
  using words = words_of<run<C, Count>>;
  static_assert(sizeof(words) == sizeof(x));
  words all;
  std::memcpy(&all, &x, sizeof(x));
  *reinterpret_cast<words*>(to) = all;
}

}  // namespace keramos::detail::simt
