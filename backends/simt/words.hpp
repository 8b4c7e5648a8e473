// Values of any size as the 32-bit words that a GPU's lanes exchange.
#pragma once

#include <cstring>
#include <type_traits>

#include <keramos/base/macros.hpp>

namespace keramos::backend::simt {

/// x with `exchange` applied to each of its words.
template <class T, class Exchange>
KERAMOS_FORCEINLINE_FUNCTION T by_words(const T& x, const Exchange& exchange) {
  static_assert(std::is_trivially_copyable_v<T>, "keramos: items exchange trivially copyable values");
  constexpr int count = int((sizeof(T) + 3) / 4);
  unsigned words[count] = {};
  ::memcpy(words, &x, sizeof(T));
  KERAMOS_UNROLL
  for (int w = 0; w < count; ++w) words[w] = exchange(words[w]);
  T out;
  ::memcpy(&out, words, sizeof(T));
  return out;
}

}  // namespace keramos::backend::simt
