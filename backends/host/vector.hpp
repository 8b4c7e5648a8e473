// Vectors of one instruction set over GCC/Clang's vector extensions, with the three things that those
// lack: loads and stores of the first lanes only, and a transposition.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0  // -msve-vector-bits=...
#include <arm_sve.h>
#define KERAMOS_HOST_SVE
#endif

namespace keramos::backend::host::KERAMOS_HOST_ISA {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64, vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32, vector_registers = 16;
#elif defined(KERAMOS_HOST_SVE)
inline constexpr int vector_bytes = __ARM_FEATURE_SVE_BITS / 8, vector_registers = 32;
#elif defined(__aarch64__)
inline constexpr int vector_bytes = 16, vector_registers = 32;
#else
inline constexpr int vector_bytes = 16, vector_registers = 16;
#endif

template <class T>
struct simd {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  static constexpr int lanes = vector_bytes / int(sizeof(T));
  typedef T vector __attribute__((vector_size(vector_bytes)));
  typedef T unaligned __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));

  static vector load(const T* p) { return vector(*reinterpret_cast<const unaligned*>(p)); }
  static void store(T* p, vector v) { *reinterpret_cast<unaligned*>(p) = unaligned(v); }

  /// The first `count` lanes, 0 <= count <= lanes. The others load as zeros and are not stored; what lies
  /// behind them in memory is not touched, whoever it belongs to.
#if defined(__AVX512F__)
  class first {
    std::uint32_t bits_;

   public:
    explicit first(int count) : bits_((1u << count) - 1) {}

    vector load(const T* p) const {
      if constexpr (sizeof(T) == 4)
        return vector(_mm512_maskz_loadu_epi32(__mmask16(bits_), p));
      else
        return vector(_mm512_maskz_loadu_epi64(__mmask8(bits_), p));
    }
    void store(T* p, vector v) const {
      if constexpr (sizeof(T) == 4)
        _mm512_mask_storeu_epi32(p, __mmask16(bits_), __m512i(v));
      else
        _mm512_mask_storeu_epi64(p, __mmask8(bits_), __m512i(v));
    }
  };
  /// Loads and stores of the first lanes cost as much as those of all.
  static constexpr bool first_is_free = true;
#elif defined(__AVX2__)
  // A number and not a mask: g++ does not end a function that is given a vector by vzeroupper, and what runs next, compiled for
  // SSE, would wait for the upper halves of the last vectors. (On Zen 3 a product of 4 x 4 doubles took longer than one of
  // 8 x 8.)
  class first {
    int count_;

    __m256i lanes() const {
      if constexpr (sizeof(T) == 4)
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(count_), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
      else
        return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count_), _mm256_setr_epi64x(0, 1, 2, 3));
    }

   public:
    explicit first(int count) : count_(count) {}

    vector load(const T* p) const {
      if constexpr (sizeof(T) == 4)
        return vector(_mm256_maskload_epi32(reinterpret_cast<const int*>(p), lanes()));
      else
        return vector(_mm256_maskload_epi64(reinterpret_cast<const long long*>(p), lanes()));
    }
    void store(T* p, vector v) const {
      if constexpr (sizeof(T) == 4)
        _mm256_maskstore_epi32(reinterpret_cast<int*>(p), lanes(), __m256i(v));
      else
        _mm256_maskstore_epi64(reinterpret_cast<long long*>(p), lanes(), __m256i(v));
    }
  };
  static constexpr bool first_is_free = false;
#elif defined(KERAMOS_HOST_SVE)
  class first {
    int count_;

    svbool_t lanes() const { return sizeof(T) == 4 ? svwhilelt_b32(0, count_) : svwhilelt_b64(0, count_); }

   public:
    explicit first(int count) : count_(count) {}

    vector load(const T* p) const { return vector(svld1(lanes(), p)); }
    void store(T* p, vector v) const { svst1(lanes(), p, v); }
  };
  static constexpr bool first_is_free = true;
#else
  class first {
    int count_;

   public:
    explicit first(int count) : count_(count) {}

    vector load(const T* p) const {
      vector v{};
      for (int l = 0; l < lanes; ++l)
        if (l < count_) v[l] = p[l];
      return v;
    }
    void store(T* p, vector v) const {
      for (int l = 0; l < lanes; ++l)
        if (l < count_) p[l] = v[l];
    }
  };
  static constexpr bool first_is_free = false;
#endif

  /// Stores a number of lanes that is known when compiling.
  template <int Count>
  static void store_first(T* p, vector v) {
    if constexpr (Count == lanes)
      store(p, v);
    else if constexpr (first_is_free)
      first(Count).store(p, v);
    else
      std::memcpy(p, &v, Count * sizeof(T));
  }

  /// Neighbouring lanes change places.
  static vector swap_pairs(vector x) { return swap_pairs(x, std::make_integer_sequence<int, lanes>()); }
  /// `even` and `odd` in the lanes by turns.
  static vector by_turns(T even, T odd) {
    return by_turns(vector{} + even, vector{} + odd, std::make_integer_sequence<int, lanes>());
  }

  /// Lane j of vector i becomes lane i of vector j: blocks of 1, 2, 4, ... lanes change sides.
  static void transpose(vector (&rows)[lanes]) {
    transpose_blocks<1>(rows, std::make_integer_sequence<int, lanes>());
  }

 private:
  /// The lanes From of x, counted on into y.
  template <int... From>
  static vector shuffled(vector x, vector y) {
#if defined(__clang__)
    return __builtin_shufflevector(x, y, From...);
#else  // g++ knows that since version 12, and this since 4.7
    using index = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    typedef index indices __attribute__((vector_size(vector_bytes)));
    return __builtin_shuffle(x, y, indices{From...});
#endif
  }

  template <int... Lane>
  static vector by_turns(vector even, vector odd, std::integer_sequence<int, Lane...>) {
    return shuffled<(Lane % 2 ? Lane + lanes : Lane)...>(even, odd);
  }
  template <int... Lane>
  static vector swap_pairs(vector x, std::integer_sequence<int, Lane...>) {
    return shuffled<(Lane ^ 1)...>(x, x);
  }
  template <int Block, int... Lane>
  static void transpose_blocks(vector (&rows)[lanes], std::integer_sequence<int, Lane...> all) {
    if constexpr (Block < lanes) {
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i) {
        if (i & Block) continue;
        const vector above = rows[i], below = rows[i + Block];
        rows[i] = shuffled<(Lane & Block ? Lane - Block + lanes : Lane)...>(above, below);
        rows[i + Block] = shuffled<(Lane & Block ? Lane + lanes : Lane + Block)...>(above, below);
      }
      transpose_blocks<2 * Block>(rows, all);
    }
  }
};

}  // namespace keramos::backend::host::KERAMOS_HOST_ISA
