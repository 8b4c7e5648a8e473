// The multiply atoms of hosts: what a lane of a vector adds to its sum for a packed number of A and one of B, and how
// numbers are packed for that.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <keramos/backends/host/vector.hpp>
#include <keramos/base/integer8.hpp>
#include <keramos/base/scalar_type.hpp>
#include <keramos/tile/operand_types.hpp>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#endif

namespace keramos::backend::host::KERAMOS_HOST_ISA {

/// A packed number is one element, converted to the type of sums.
struct converted {
  static constexpr int group = 1;
  /// What the bits of a byte are changed by.
  static constexpr std::uint8_t flip(bool /*kind*/) { return 0; }

  /// The packed number of the elements from `from` on, of which `left` are left along k. `kind` is for integers of
  /// eight bits.
  template <class T, class From>
  static T number(const From* from, std::int64_t /*stride_k*/, int /*left*/, [[maybe_unused]] bool kind) {
    if constexpr (std::is_same_v<From, integer8>)
      return static_cast<T>(keramos::detail::widen(*from, kind));
    else if constexpr (std::is_same_v<From, float8>)
      return static_cast<T>(keramos::detail::float_of_eight(from->bits, kind));
    else
      return static_cast<T>(*from);
  }
};

/// One product.
template <class T>
struct multiply_add {
  using vector = typename simd<T>::vector;
  using pack_a = converted;
  using pack_b = converted;
  static constexpr int group = 1;        ///< elements along k that a packed number holds
  static constexpr int corrections = 0;  ///< numbers behind those of a k-tile, multiplied as sums are
  static vector add(vector sum, T a, vector b) { return sum + a * b; }
};

/// A packed number of four bytes is the bits of Group neighbours along k, the first lowest; behind the last one are zeros. Of
/// floats of eight bits they are those of bfloat16s.
template <int Group>
struct grouped_bits {
  static constexpr int group = Group;
  static constexpr int bits = 32 / Group;
  static constexpr std::uint8_t flip(bool /*kind*/) { return 0; }

  template <class T, class From>
  static T number(const From* from, std::int64_t stride_k, int left, bool kind) {
    static_assert(sizeof(T) == 4);
    std::uint32_t all = 0;
    for (int g = 0; g < Group; ++g)
      if (g < left) all |= bits_of(from[g * stride_k], kind) << (bits * g);
    return __builtin_bit_cast(T, all);
  }

 private:
  template <class From>
  static std::uint32_t bits_of(From x, [[maybe_unused]] bool kind) {
    if constexpr (std::is_same_v<From, integer8>)
      return keramos::detail::widen(x, kind) & (0xffffffffu >> (32 - bits));
    else if constexpr (std::is_same_v<From, float8>)
      return __builtin_bit_cast(std::uint32_t, keramos::detail::float_of_eight(x.bits, kind)) >> 16;
    else
      return x.bits;
  }
};

#if defined(__AVX512BF16__)
/// Two products of bfloat16s, neighbours along k, in one instruction: twice as many as of floats. It takes subnormal numbers
/// for zeros, and sums that are subnormal become zeros; rounding is to nearest.
struct bf16_pairs {
  using vector = simd<float>::vector;
  using pack_a = grouped_bits<2>;
  using pack_b = grouped_bits<2>;
  static constexpr int group = 2, corrections = 0;
  static vector add(vector sum, float a, vector b) {
    return vector(_mm512_dpbf16_ps(__m512(sum), __m512bh(_mm512_set1_ps(a)), __m512bh(b)));
  }
};
#endif

#if defined(__AVX512VNNI__) || defined(__ARM_FEATURE_DOTPROD) || defined(KERAMOS_HOST_SVE)
#define KERAMOS_HOST_BYTE_QUADS
/// Four bytes of an operand, for an instruction that reads them as `Signed` says. Others are moved by 128: an element of A is
/// a + x and one of B is b + y, where a and b are what is packed, and x and y are 128, -128 or 0. Beside the products of what
/// is packed their sum has y·Σa + x·(Σb + k·y). Two corrections add it: the sum of A's packed bytes meets y, and x meets the
/// sum of B's elements.
template <bool OfA, bool Signed>
struct quads_of_bytes {
  static constexpr int group = 4;
  static constexpr std::uint8_t flip(bool kind) { return kind == Signed ? 0 : 0x80; }

  template <class T, class From>
  static T number(const From* from, std::int64_t stride_k, int left, bool kind) {
    std::uint32_t all = 0;
    for (int g = 0; g < 4; ++g)
      if (g < left) all |= std::uint32_t(std::uint8_t(from[g * stride_k].bits ^ flip(kind))) << (8 * g);
    return all;
  }

  /// Of a panel of `numbers` packed numbers and of k elements along k, `width` wide: what stands behind them.
  template <int Width>
  static void add_corrections(std::uint32_t* panel, int numbers, int k, bool kind) {
    std::uint32_t sums[Width] = {};
    for (int p = 0; p < numbers; ++p)
      for (int i = 0; i < Width; ++i)
        for (int shift = 0; shift < 32; shift += 8) {
          const std::uint32_t byte = panel[p * Width + i] >> shift & 0xff;
          sums[i] += Signed ? (byte ^ 0x80) - 0x80 : byte;
        }
    const std::uint32_t moved = kind == Signed ? 0 : Signed ? 128 : -128;
    std::uint32_t* const first = panel + numbers * Width;
    for (int i = 0; i < Width; ++i) {
      first[i] = OfA ? sums[i] : moved;
      first[Width + i] = OfA ? moved : sums[i] + moved * std::uint32_t(k);
    }
  }
};

/// Four products of bytes in one instruction: of unsigned ones by signed ones (VNNI), or of signed ones (Arm).
struct byte_quads {
  using vector = simd<std::uint32_t>::vector;
  static constexpr int group = 4, corrections = 2;
#if defined(__AVX512VNNI__)
  using pack_a = quads_of_bytes<true, false>;
  using pack_b = quads_of_bytes<false, true>;
  static vector add(vector sum, std::uint32_t a, vector b) {
    return vector(_mm512_dpbusd_epi32(__m512i(sum), _mm512_set1_epi32(int(a)), __m512i(b)));
  }
#else
  using pack_a = quads_of_bytes<true, true>;
  using pack_b = quads_of_bytes<false, true>;
  static vector add(vector sum, std::uint32_t a, vector b) {
#if defined(KERAMOS_HOST_SVE)
    const svint8_t a_bytes = svreinterpret_s8(svdup_u32(a)), b_bytes = svreinterpret_s8(svuint32_t(b));
    return vector(svreinterpret_u32(svdot(svreinterpret_s32(svuint32_t(sum)), a_bytes, b_bytes)));
#else
    return vector(vdotq_s32(int32x4_t(sum), vreinterpretq_s8_u32(vdupq_n_u32(a)), int8x16_t(b)));
#endif
  }
#endif
};
#elif defined(__SSE2__)
/// Two products of integers of sixteen bits, which those of eight are widened to, in one instruction.
struct byte_pairs {
  using vector = simd<std::uint32_t>::vector;
  using pack_a = grouped_bits<2>;
  using pack_b = grouped_bits<2>;
  static constexpr int group = 2, corrections = 0;
  static vector add(vector sum, std::uint32_t a, vector b) {
#if defined(__AVX512BW__)
    return sum + vector(_mm512_madd_epi16(_mm512_set1_epi32(int(a)), __m512i(b)));
#elif defined(__AVX2__)
    return sum + vector(_mm256_madd_epi16(_mm256_set1_epi32(int(a)), __m256i(b)));
#else
    return sum + vector(_mm_madd_epi16(_mm_set1_epi32(int(a)), __m128i(b)));
#endif
  }
};
#endif

/// The atom for elements of such types, with sums of type T.
template <tiling::operand_types Operands, class T>
struct product_of {
  using type = multiply_add<T>;
};
#if defined(__AVX512BF16__)
template <>
struct product_of<tiling::halves(scalar_type::bf16), float> {
  using type = bf16_pairs;
};
template <>
struct product_of<tiling::halves(scalar_type::f8), float> {
  using type = bf16_pairs;
};
#endif
#if defined(KERAMOS_HOST_BYTE_QUADS)
template <>
struct product_of<tiling::bytes(), std::uint32_t> {
  using type = byte_quads;
};
#elif defined(__SSE2__)
template <>
struct product_of<tiling::bytes(), std::uint32_t> {
  using type = byte_pairs;
};
#endif

}  // namespace keramos::backend::host::KERAMOS_HOST_ISA
