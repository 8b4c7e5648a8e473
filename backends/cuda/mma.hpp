// The multiply atom of CUDA: FMA units, and the tensor cores for f64, f16, bf16, tf32, and integers and floats of eight
// bits (PTX ISA, "Matrix Multiply-Accumulate Operation using mma Instruction"; f64 in IEEE products and sums).
#pragma once

#include <type_traits>

#include <keramos/backends/cuda/traits.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/base/float16.hpp>
#include <keramos/base/float8.hpp>
#include <keramos/base/integer8.hpp>
#include <keramos/base/macros.hpp>

namespace keramos::backend {

namespace cuda {

/// d += a·b on 16 x 8 x K doubles of a warp, K of 4, 8 or 16. With g = lane / 4 and t = lane % 4:
/// a[v] = A(g + v % 2 * 8, t + v / 2 * 4); b[v] = B(t + v * 4, g);
/// d = D(g, 2t), D(g, 2t + 1), D(g + 8, 2t), D(g + 8, 2t + 1).
template <int K>
KERAMOS_FORCEINLINE_FUNCTION void mma_16x8([[maybe_unused]] double (&d)[2][2],
                                           [[maybe_unused]] const double (&a)[K / 2],
                                           [[maybe_unused]] const double (&b)[K / 4]) {
  static_assert(K == 4 || K == 8 || K == 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (K == 4)
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
        "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+d"(d[0][0]), "+d"(d[0][1]), "+d"(d[1][0]), "+d"(d[1][1])
        : "d"(a[0]), "d"(a[1]), "d"(b[0]));
  else if constexpr (K == 8)
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(d[0][0]), "+d"(d[0][1]), "+d"(d[1][0]), "+d"(d[1][1])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
        "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
        : "+d"(d[0][0]), "+d"(d[0][1]), "+d"(d[1][0]), "+d"(d[1][1])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
          "d"(b[1]), "d"(b[2]), "d"(b[3]));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  KERAMOS_UNROLL
  for (int k = 0; k < K / 4; ++k) KERAMOS_UNROLL
  for (int i = 0; i < 2; ++i)
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(d[i][0]), "+d"(d[i][1])
        : "d"(a[2 * k + i]), "d"(b[k]));
#endif
}

/// The same on 16 x 8 x 8 floats that were rounded to tf32.
KERAMOS_FORCEINLINE_FUNCTION void mma_16x8_tf32([[maybe_unused]] float (&d)[2][2],
                                                [[maybe_unused]] const float (&a)[4],
                                                [[maybe_unused]] const float (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto bits = [](float x) { return __float_as_uint(x); };
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[1][0]), "+f"(d[1][1])
      : "r"(bits(a[0])), "r"(bits(a[1])), "r"(bits(a[2])), "r"(bits(a[3])), "r"(bits(b[0])), "r"(bits(b[1])));
#endif
}

}  // namespace cuda

template <>
struct mma<Kokkos::Cuda> : fma_units {
  template <class T>
  static constexpr bool has_matrix_unit = std::is_same_v<T, double>;
  template <class E>
  static constexpr bool multiplies_short = std::is_same_v<E, float16> || std::is_same_v<E, bfloat16> ||
                                           std::is_same_v<E, integer8> || std::is_same_v<E, float8>;
  static bool matrix_unit_works(const Kokkos::Cuda& exec) {
    return traits<Kokkos::Cuda>::most_arch >= 80 && exec.cuda_device_prop().major >= 8;
  }

  /// d += a·b on 16 x 8 x K of a warp; how the lanes share it, see mma_16x8.
  template <class T, int A, int B>
  KERAMOS_FORCEINLINE_FUNCTION static void multiply_16x8(T (&d)[2][2], const T (&a)[A], const T (&b)[B]) {
    static_assert(A == 2 * B);
    if constexpr (std::is_same_v<T, float>)
      cuda::mma_16x8_tf32(d, a, b);
    else
      cuda::mma_16x8<4 * B>(d, a, b);
  }

  /// An element as the units multiply it: floats to the nearest tf32, ties away from zero.
  KERAMOS_FORCEINLINE_FUNCTION static double rounded(double x) { return x; }
  KERAMOS_FORCEINLINE_FUNCTION static float rounded(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
#else
    return x;
#endif
  }

  /// x as `high`, the nearest that units multiply, and `rest`, the nearest to what that leaves. `high` is infinite or NaN only
  /// if x is; then the rest is 0.
  KERAMOS_FORCEINLINE_FUNCTION static void split(float x, float& high, float& rest) {
    const auto is_finite = [](float y) { return y - y == 0; };
    constexpr float largest = 0x1.ffcp127f;  // of eleven bits
    high = rounded(x);
    if (is_finite(x) && !is_finite(high)) high = x < 0 ? -largest : largest;
    rest = is_finite(x) ? rounded(x - high) : 0;
  }

  /// d += a·b on 16 x 8 x 16 elements E of a warp, float16 or bfloat16, as load_8x8x4 loads them; sums in f32. With
  /// g = lane / 4 and t = lane % 4: d = D(g, 2t), D(g, 2t + 1), D(g + 8, 2t), D(g + 8, 2t + 1).
  template <class E>
  KERAMOS_FORCEINLINE_FUNCTION static void multiply_short([[maybe_unused]] float (&d)[2][2],
                                                          [[maybe_unused]] const unsigned (&a)[4],
                                                          [[maybe_unused]] const unsigned (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<E, float16>)
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[1][0]), "+f"(d[1][1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[1][0]), "+f"(d[1][1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }

  /// The same on 16 x 8 x 32 integers of eight bits, of which each lane has four neighbours along k in a register; sums
  /// modulo 2^32.
  template <class E, bool SignedA, bool SignedB>
  KERAMOS_FORCEINLINE_FUNCTION static void multiply_short([[maybe_unused]] unsigned (&d)[2][2],
                                                          [[maybe_unused]] const unsigned (&a)[4],
                                                          [[maybe_unused]] const unsigned (&b)[2],
                                                          std::bool_constant<SignedA>,
                                                          std::bool_constant<SignedB>) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    // Signs are part of the instruction's name: a statement for each pair.
    if constexpr (SignedA && SignedB)
      asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[1][0]), "+r"(d[1][1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else if constexpr (SignedA)
      asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[1][0]), "+r"(d[1][1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else if constexpr (SignedB)
      asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[1][0]), "+r"(d[1][1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
      asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[1][0]), "+r"(d[1][1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }

  /// Whether floats of eight bits are multiplied as float16s: Hopper's units take them as they are in warpgroups alone, and
  /// ptxas would convert them for each instruction anew.
#if defined(KOKKOS_ARCH_HOPPER90)
  template <class E>
  static constexpr bool widens = std::is_same_v<E, float8>;
#else
  template <class E>
  static constexpr bool widens = false;
#endif
  /// The float16s of four floats of eight bits: of the lower two and of the upper two.
  KERAMOS_FORCEINLINE_FUNCTION static void widen([[maybe_unused]] unsigned& lower,
                                                 [[maybe_unused]] unsigned& upper,
                                                 [[maybe_unused]] unsigned four,
                                                 [[maybe_unused]] bool is_e5m2) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    unsigned of_e4m3[2];
    asm("{ .reg .b16 lower, upper; mov.b32 {lower, upper}, %2; cvt.rn.f16x2.e4m3x2 %0, lower; "
        "cvt.rn.f16x2.e4m3x2 %1, upper; }"
        : "=r"(of_e4m3[0]), "=r"(of_e4m3[1])
        : "r"(four));
    // e5m2 is the upper half of a float16.
    lower = is_e5m2 ? __byte_perm(four, 0, 0x1404) : of_e4m3[0];
    upper = is_e5m2 ? __byte_perm(four, 0, 0x3424) : of_e4m3[1];
#endif
  }

  /// The same on floats of eight bits, with sums of f32; kinds are whether they are e5m2. (Compute capability 8.9.)
  template <class E, bool KindA, bool KindB>
  KERAMOS_FORCEINLINE_FUNCTION static void multiply_short([[maybe_unused]] float (&d)[2][2],
                                                          [[maybe_unused]] const unsigned (&a)[4],
                                                          [[maybe_unused]] const unsigned (&b)[2],
                                                          std::bool_constant<KindA>,
                                                          std::bool_constant<KindB>) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    if constexpr (KindA && KindB)
      asm("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[1][0]), "+f"(d[1][1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else if constexpr (KindA)
      asm("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[1][0]), "+f"(d[1][1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else if constexpr (KindB)
      asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[1][0]), "+f"(d[1][1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
      asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[1][0]), "+f"(d[1][1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }

  /// x of another lane of the warp.
  KERAMOS_FORCEINLINE_FUNCTION static unsigned from_lane(unsigned x, [[maybe_unused]] int lane) {
#if defined(__CUDA_ARCH__)
    return __shfl_sync(~0u, x, lane);
#else
    return x;
#endif
  }
  /// x of the lane whose number differs in these bits.
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION static T shuffle_xor(T x, [[maybe_unused]] int bits) {
#if defined(__CUDA_ARCH__)
    std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned> word;
    static_assert(sizeof(word) == sizeof(x));
    memcpy(&word, &x, sizeof(x));
    word = __shfl_xor_sync(~0u, word, bits);
    memcpy(&x, &word, sizeof(x));
#endif
    return x;
  }

  /// The lanes of a warp meet: what they have stored in shared memory is there for all of them.
  KERAMOS_FORCEINLINE_FUNCTION static void meet_warp() {
#if defined(__CUDA_ARCH__)
    __syncwarp();
#endif
  }
  /// Whether x is true for any lane. A branch on what all lanes answer alike, but a compiler cannot know, is asked for so: else all
  /// that follows could be divergent to it, and no number is the same in a warp. (Kernels of warpgroups were a quarter longer.)
  KERAMOS_FORCEINLINE_FUNCTION static bool any_in_warp(bool x) {
#if defined(__CUDA_ARCH__)
    return __any_sync(~0u, x) != 0;
#else
    return x;
#endif
  }
  /// x, of which the compiler knows nothing. So it does not compute ahead, and keep in registers, what follows from x; and a branch
  /// that only takes x stays a branch.
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION static T opaque(T x) {
    static_assert(sizeof(T) == 4);
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>)
      asm volatile("" : "+f"(x));
    else
      asm volatile("" : "+r"(x));
#endif
    return x;
  }

  /// 16 bytes in one access, which nvcc divides if they are a structure: of shared memory, and of global memory.
  KERAMOS_FORCEINLINE_FUNCTION static void load_16_bytes([[maybe_unused]] const char* shared,
                                                         [[maybe_unused]] unsigned (&words)[4]) {
#if defined(__CUDA_ARCH__)
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared)))
                 : "memory");
#endif
  }
  KERAMOS_FORCEINLINE_FUNCTION static void store_16_bytes([[maybe_unused]] char* shared,
                                                          [[maybe_unused]] const unsigned (&words)[4]) {
#if defined(__CUDA_ARCH__)
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(shared))),
                 "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
#endif
  }
  /// Of global memory only if it is `there`, else 0 is read and nothing written; without a branch, behind which a compiler would
  /// not know that lanes are together.
  KERAMOS_FORCEINLINE_FUNCTION static void read_16_bytes([[maybe_unused]] const void* global,
                                                         [[maybe_unused]] unsigned (&words)[4],
                                                         [[maybe_unused]] bool there) {
#if defined(__CUDA_ARCH__)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %5, 0; mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0; "
        "@p ld.global.v4.b32 {%0, %1, %2, %3}, [%4]; }"
        : "=&r"(words[0]), "=&r"(words[1]), "=&r"(words[2]), "=&r"(words[3])
        : "l"(__cvta_generic_to_global(global)), "r"(int(there))
        : "memory");
#endif
  }
  KERAMOS_FORCEINLINE_FUNCTION static void write_16_bytes([[maybe_unused]] void* global,
                                                          [[maybe_unused]] const unsigned (&words)[4],
                                                          [[maybe_unused]] bool there = true) {
#if defined(__CUDA_ARCH__)
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; @p st.global.v4.b32 [%0], {%1, %2, %3, %4}; }" ::"l"(
                     __cvta_generic_to_global(global)),
                 "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(int(there))
                 : "memory");
#endif
  }

  /// The bytes with even and with odd numbers of two registers.
  KERAMOS_FORCEINLINE_FUNCTION static void take_apart([[maybe_unused]] unsigned& even,
                                                      [[maybe_unused]] unsigned& odd,
                                                      [[maybe_unused]] unsigned x,
                                                      [[maybe_unused]] unsigned y) {
#if defined(__CUDA_ARCH__)
    even = __byte_perm(x, y, 0x6420);
    odd = __byte_perm(x, y, 0x7531);
#endif
  }

  /// Four 8 x 8 matrices of 2-byte elements, or of pairs of bytes, from shared memory: lane l says where row l % 8 of
  /// matrix l / 8 begins, aligned to 16 bytes, and gets elements 2t and 2t + 1 of row g of each, or of column g if they
  /// are transposed (PTX ISA, "Warp-level matrix load instruction: ldmatrix").
  template <bool Transposed>
  KERAMOS_FORCEINLINE_FUNCTION static void load_8x8x4([[maybe_unused]] unsigned (&to)[4],
                                                      [[maybe_unused]] const void* row) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const auto from = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (Transposed)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "r"(from)
                   : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "r"(from)
                   : "memory");
#endif
  }
};

}  // namespace keramos::backend
