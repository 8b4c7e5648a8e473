// Blocks of 16 x 16 packed numbers of elements of one or two bytes, by AVX-512: a number is the bits of several neighbours along
// k, or one element as f32. Other instruction sets have none.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/backends/host/products.hpp>
#include <keramos/backends/host/vector.hpp>
#include <keramos/base/float16.hpp>
#include <keramos/base/float8.hpp>

namespace keramos::backend::host::KERAMOS_HOST_ISA {

/// Whether there are blocks of such elements for such an atom.
template <class From, class Code>
inline constexpr bool packs_numbers = false;

template <class From, class Code>
class number_block;

#if defined(__AVX512BW__) && defined(__AVX512VL__)
template <class From, class Code>
requires(Code::group > 1 &&
         Code::group * sizeof(From) == 4) inline constexpr bool packs_numbers<From, Code> = true;
template <>
inline constexpr bool packs_numbers<float16, converted> = true;
template <>
inline constexpr bool packs_numbers<bfloat16, converted> = true;
template <>
inline constexpr bool packs_numbers<float8, converted> = true;
template <>
inline constexpr bool packs_numbers<float8, grouped_bits<2>> = true;

/// A block of elements of an operand, of which `mn` x `k` are there, and zeros behind them.
template <class From, class Code>
class number_block {
  using number = std::uint32_t;
  using v = simd<number>;
  using vector = typename v::vector;
  static constexpr int group = Code::group;

 public:
  static constexpr int side = v::lanes;  ///< numbers
  static_assert(side == 16);

  number_block(const From* from, std::int64_t stride_mn, std::int64_t stride_k, int mn, int k, bool kind)
      : from_(reinterpret_cast<const char*>(from)),
        stride_mn_(stride_mn * std::int64_t(sizeof(From))),
        stride_k_(stride_k * std::int64_t(sizeof(From))),
        mn_(at_most(side, mn)),
        k_(at_most(side * group, k)),
        flip_(std::int8_t(Code::flip(kind))),
        kind_(kind) {}

  /// Vectors of `side` numbers along k, one of each row, or, unless AlongK, along m or n.
  template <bool AlongK>
  void read(vector (&out)[side]) const {
    if (stride_k_ == sizeof(From)) {
#pragma GCC unroll 16
      for (int i = 0; i < side; ++i) out[i] = i < mn_ ? along_k(from_ + i * stride_mn_) : vector{};
      if constexpr (!AlongK) v::transpose(out);
    } else if (stride_mn_ == sizeof(From)) {
#pragma GCC unroll 16
      for (int p = 0; p < side; ++p)
        out[p] = p * group < k_ ? along_mn(from_ + p * group * stride_k_, k_ - p * group) : vector{};
      if constexpr (AlongK) v::transpose(out);
    } else {
      for (int i = 0; i < side; ++i)
        for (int p = 0; p < side; ++p) out[AlongK ? i : p][AlongK ? p : i] = one(i, p);
    }
  }

 private:
  static int at_most(int most, int n) { return n < 0 ? 0 : n < most ? n : most; }
  static __mmask16 first(int count) { return __mmask16((1u << count) - 1); }

  vector along_k(const char* from) const {
    if constexpr (group == 1) {
      return widened(from, first(k_));
    } else if constexpr (std::is_same_v<From, float8>) {
      const __m256i bytes = _mm256_maskz_loadu_epi8(__mmask32(~std::uint64_t(0) >> (64 - k_)), from);
      return vector(floats_of(_mm256_and_si256(bytes, _mm256_set1_epi16(0xff)))) >> 16 |
             (vector(floats_of(_mm256_srli_epi16(bytes, 8))) & 0xffff0000u);
    } else {
      const __mmask64 bytes = ~std::uint64_t(0) >> (64 - k_ * (4 / group));
      return vector(_mm512_maskz_loadu_epi8(bytes, from)) ^ vector(_mm512_maskz_set1_epi8(bytes, flip_));
    }
  }
  /// Of `left` rows of memory, at most `group`.
  vector along_mn(const char* from, int left) const {
    vector all{};
#pragma GCC unroll 4
    for (int g = 0; g < group; ++g) {
      if (g >= left) break;
      all |= widened(from + g * stride_k_, first(mn_)) << (32 / group * g);
    }
    return all;
  }
  /// Numbers of elements, one of each. (Conversions are masked too: g++ 12 warns of what the others leave undefined.)
  vector widened(const char* from, __mmask16 there) const {
    if constexpr (std::is_same_v<From, float8>) {
      const vector floats = vector(floats_of(_mm256_cvtepu8_epi16(_mm_maskz_loadu_epi8(there, from))));
      return group == 1 ? floats : floats >> 16;
    } else if constexpr (sizeof(From) == 1) {
      const __m128i bytes = _mm_maskz_loadu_epi8(there, from);
      return vector(
          _mm512_maskz_cvtepu8_epi32(there, _mm_xor_si128(bytes, _mm_maskz_set1_epi8(there, flip_))));
    } else {
      const __m256i halves = _mm256_maskz_loadu_epi16(there, from);
      if constexpr (group > 1)
        return vector(_mm512_maskz_cvtepu16_epi32(there, halves));
      else if constexpr (std::is_same_v<From, bfloat16>)
        return vector(_mm512_maskz_cvtepu16_epi32(there, halves)) << 16;
      else
        return vector(_mm512_maskz_cvtph_ps(there, halves));
    }
  }
  /// Floats of eight bits in sixteen each: float_of_eight, which see.
  __m512 floats_of(__m256i eights) const {
    constexpr __mmask16 all = 0xffff;
    if (kind_) return _mm512_maskz_cvtph_ps(all, _mm256_slli_epi16(eights, 8));
    const __m256i magnitude = _mm256_and_si256(eights, _mm256_set1_epi16(0x7f));
    const __m256i sign = _mm256_slli_epi16(_mm256_andnot_si256(magnitude, eights), 8);
    const __m512 numbers = _mm512_maskz_cvtph_ps(all, _mm256_or_si256(sign, _mm256_slli_epi16(magnitude, 7)));
    const __mmask16 is_nan = _mm256_cmpeq_epi16_mask(magnitude, _mm256_set1_epi16(0x7f));
    return _mm512_mask_blend_ps(is_nan, numbers * _mm512_set1_ps(256), _mm512_set1_ps(__builtin_nanf("")));
  }
  number one(int i, int p) const {
    const int left = k_ - p * group;
    if (i >= mn_ || left <= 0) return 0;
    const auto* at = reinterpret_cast<const From*>(from_ + i * stride_mn_ + p * group * stride_k_);
    using packed = std::conditional_t<group == 1, float, number>;
    return __builtin_bit_cast(
        number, Code::template number<packed>(at, stride_k_ / std::int64_t(sizeof(From)), left, kind_));
  }

  const char* from_;
  std::int64_t stride_mn_, stride_k_;  ///< bytes
  int mn_, k_;
  std::int8_t flip_;
  bool kind_;
};
#endif

}  // namespace keramos::backend::host::KERAMOS_HOST_ISA
