// The layout of k-tiles in local memory for matrix units that load whole fragments: fragment by fragment, each as the units hold
// it. That is one load or two. Of other layouts Intel's compiler loads row by row, and puts elements together one by one.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/joint_fragment.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Panels of Exec's fragments, in scratch. Element (mn, k) is `data[offset(mn, k)]`. Of elements that follow each other along
/// `Rows`, as they do where they come from, `together` do so here. Extents are powers of two. So offsets add up:
/// offset(x + y, k) is offset(x, k) + offset(y, 0) if x and y have no bit in common, and the same holds along k.
template <class Exec>
struct fragment_panels {
  template <class T>
  class panel : public tiling::reading<T> {
   public:
    using in_fragments = void;
    static constexpr bool swizzled = false;
    static constexpr int period = 1,
                         most_of_row = 1 << 16;  ///< how threads share a k-tile does not depend on pieces

    const T* data;

    KERAMOS_FORCEINLINE_FUNCTION panel(const tiling::reading<T>& how, const T* d)
        : tiling::reading<T>(how), data(d) {}

    /// Elements as the units take them: f32 is rounded to tf32.
    KERAMOS_FORCEINLINE_FUNCTION static T prepared(const T& x) {
      if constexpr (std::is_same_v<T, float>)
        return backend::mma<Exec>::rounded(x);
      else
        return x;
    }
    /// Elements that fill a word.
    KERAMOS_FORCEINLINE_FUNCTION static std::uint32_t prepared_word(std::uint32_t word) {
      if constexpr (std::is_same_v<T, float>) {
        float x;
        ::memcpy(&x, &word, sizeof(x));
        x = prepared(x);
        ::memcpy(&word, &x, sizeof(x));
      }
      return word;
    }
  };

  /// Of A: rows of `fragment.k` elements, all of them along m, then the next ones along k.
  template <class T, int M, int K, tiling::direction Rows>
  class of_a : public panel<T> {
    static constexpr int row = backend::mma<Exec>::template fragment<T>.k;

   public:
    using panel<T>::panel;
    static constexpr int size = M * K, pitch = row;
    static constexpr int together = Rows == tiling::direction::k ? row : 1;

    KERAMOS_FORCEINLINE_FUNCTION static int offset(int m, int k) { return (k / row * M + m) * row + k % row; }
    KERAMOS_FORCEINLINE_FUNCTION const T* at(int m, int k) const { return this->data + offset(m, k); }
  };

  /// Of B: `fragment.n` columns, of which a row has `fragment.pack` elements along k each; then the next columns.
  template <class T, int N, int K, tiling::direction Rows>
  class of_b : public panel<T> {
    static constexpr int columns = backend::mma<Exec>::template fragment<T>.n,
                         pack = backend::mma<Exec>::template fragment<T>.pack;

   public:
    using panel<T>::panel;
    static constexpr int size = N * K, pitch = columns * pack;
    static constexpr int together = Rows == tiling::direction::k ? pack : pack == 1 ? columns : 1;

    KERAMOS_FORCEINLINE_FUNCTION static int offset(int n, int k) {
      return n / columns * (columns * K) + k / pack * pitch + n % columns * pack + k % pack;
    }
    KERAMOS_FORCEINLINE_FUNCTION const T* at(int n, int k) const { return this->data + offset(n, k); }
  };
};

/// Copies `Count` elements, 16 bytes that are loaded at once, in pieces of `Together`, of which one begins `offset(element)` behind
/// `to`.
template <class Panel, int Count, int Together, class T, class Offset>
KERAMOS_FORCEINLINE_FUNCTION void copy_in_pieces(T* to, const T* from, const Offset& offset) {
  constexpr int size = int(sizeof(T)), words = Together * size / 4;
  struct [[gnu::may_alias]] alignas(size * Count) run {
    std::uint32_t word[Count * size / 4];
  };
  const run all = *reinterpret_cast<const run*>(from);
  KERAMOS_UNROLL
  for (int first = 0; first < Count; first += Together) {
    if constexpr (words > 0) {
      struct [[gnu::may_alias]] alignas(4 * words) piece {
        std::uint32_t word[words];
      };
      piece p;
      KERAMOS_UNROLL
      for (int i = 0; i < words; ++i) p.word[i] = Panel::prepared_word(all.word[first * size / 4 + i]);
      *reinterpret_cast<piece*>(to + offset(first)) = p;
    } else {
      static_assert(Together == 1);
      const auto bits = std::uint16_t(all.word[first * size / 4] >> first * size % 4 * 8);
      ::memcpy(to + offset(first), &bits, sizeof(T));
    }
  }
}

}  // namespace keramos::detail::simt
