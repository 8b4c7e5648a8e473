// The multiply atoms of Kokkos::HIP: FMA units; MFMA of CDNA2 and later for f64, f32, bf16, f16 and integers of eight bits, of
// gfx942 also for tf32, of gfx950 for floats of eight bits; WMMA of RDNA3 for bf16, f16 and such integers. Compiled, never run.
//
// MFMA of gfx90a takes subnormal f16 and bf16, and subnormal sums of these, for zeros (MIOpen, "MI200 matrix fused multiply-add
// (MFMA) behavior specifics"). So f16, which has such numbers from 6e-5 down, is converted to f32 and multiplied as such there,
// which is exact; bf16 is not. gfx942's floats of eight bits have other exponents than ours (FNUZ), and are not used; gfx950's
// are ours (OCP; HIP, "Low precision floating point types").
#pragma once

#include <type_traits>

#include <keramos/backends/hip/fragments.hpp>
#include <keramos/backends/hip/traits.hpp>
#include <keramos/backends/hip/units.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/base/complex.hpp>
#include <keramos/base/float16.hpp>
#include <keramos/base/float8.hpp>
#include <keramos/base/integer8.hpp>
#include <keramos/base/macros.hpp>

namespace keramos::backend {

namespace hip {

template <class T, int Count>
using vector_of = T __attribute__((ext_vector_type(Count)));

/// What begins at element `first` of a lane's run, as a number or a vector.
template <class V, class E, int Run>
KERAMOS_FORCEINLINE_FUNCTION V bits_of(const E (&run)[Run], int first) {
  V v;
  static_assert(sizeof(v) <= sizeof(run));
  __builtin_memcpy(&v, run + first, sizeof(v));
  return v;
}

#if defined(__HIP_DEVICE_COMPILE__)

template <class E, int Run>
KERAMOS_FORCEINLINE_FUNCTION void mfma(vector_of<double, 4>& d, const E (&x)[Run], const E (&y)[Run]) {
  KERAMOS_UNROLL
  for (int k = 0; k < Run; ++k) d = __builtin_amdgcn_mfma_f64_16x16x4f64(x[k], y[k], d, 0, 0, 0);
}
template <class E, int Run>
KERAMOS_FORCEINLINE_FUNCTION void mfma(vector_of<float, 4>& d, const E (&x)[Run], const E (&y)[Run]) {
  if constexpr (std::is_same_v<E, float>) {
    KERAMOS_UNROLL
    for (int k = 0; k < Run; ++k) d = __builtin_amdgcn_mfma_f32_16x16x4f32(x[k], y[k], d, 0, 0, 0);
  } else if constexpr (std::is_same_v<E, float16> && units == matrix_units::cdna2) {
    KERAMOS_UNROLL
    for (int k = 0; k < Run; ++k)
      d = __builtin_amdgcn_mfma_f32_16x16x4f32(float(bits_of<_Float16>(x, k)), float(bits_of<_Float16>(y, k)),
                                               d, 0, 0, 0);
  } else if constexpr (has_long_mfma) {
    if constexpr (std::is_same_v<E, bfloat16>)
      d = __builtin_amdgcn_mfma_f32_16x16x32_bf16(bits_of<vector_of<__bf16, 8>>(x, 0),
                                                  bits_of<vector_of<__bf16, 8>>(y, 0), d, 0, 0, 0);
    else
      d = __builtin_amdgcn_mfma_f32_16x16x32_f16(bits_of<vector_of<_Float16, 8>>(x, 0),
                                                 bits_of<vector_of<_Float16, 8>>(y, 0), d, 0, 0, 0);
  } else {
    KERAMOS_UNROLL
    for (int k = 0; k < Run; k += 4)
      if constexpr (std::is_same_v<E, bfloat16>)
        d = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(bits_of<vector_of<short, 4>>(x, k),
                                                      bits_of<vector_of<short, 4>>(y, k), d, 0, 0, 0);
      else
        d = __builtin_amdgcn_mfma_f32_16x16x16f16(bits_of<vector_of<_Float16, 4>>(x, k),
                                                  bits_of<vector_of<_Float16, 4>>(y, k), d, 0, 0, 0);
  }
}

template <int Run>
KERAMOS_FORCEINLINE_FUNCTION void mfma(vector_of<float, 4>& d, const simt::tf32_number (&x)[Run],
                                       const simt::tf32_number (&y)[Run]) {
  using pair = vector_of<float, 2>;
  KERAMOS_UNROLL
  for (int k = 0; k < Run; k += 2)
    d = __builtin_amdgcn_mfma_f32_16x16x8_xf32(bits_of<pair>(x, k), bits_of<pair>(y, k), d, 0, 0, 0);
}

template <bool SignedX, bool SignedY, int Run>
KERAMOS_FORCEINLINE_FUNCTION void mfma(vector_of<int, 4>& d, const integer8 (&x)[Run],
                                       const integer8 (&y)[Run]) {
  if constexpr (has_long_mfma) {
    using word = vector_of<int, 4>;
    d = __builtin_amdgcn_mfma_i32_16x16x64_i8(as_signed<SignedX>(bits_of<word>(x, 0)),
                                              as_signed<SignedY>(bits_of<word>(y, 0)), d, 0, 0, 0);
  } else {
    constexpr bool wide = units != matrix_units::cdna2;
    using word = vector_of<std::conditional_t<wide, long, int>, 1>;
    KERAMOS_UNROLL
    for (int k = 0; k < Run; k += int(sizeof(word))) {
      const auto a = as_signed<SignedX>(bits_of<word>(x, k)[0]),
                 b = as_signed<SignedY>(bits_of<word>(y, k)[0]);
      if constexpr (wide)
        d = __builtin_amdgcn_mfma_i32_16x16x32_i8(a, b, d, 0, 0, 0);
      else
        d = __builtin_amdgcn_mfma_i32_16x16x16i8(a, b, d, 0, 0, 0);
    }
  }
}

/// Floats of eight bits, e5m2 or e4m3.
template <bool E5m2X, bool E5m2Y, int Run>
KERAMOS_FORCEINLINE_FUNCTION void mfma(vector_of<float, 4>& d, const float8 (&x)[Run],
                                       const float8 (&y)[Run]) {
  using word = vector_of<long, 1>;
  KERAMOS_UNROLL
  for (int k = 0; k < Run; k += int(sizeof(word))) {
    const long a = bits_of<word>(x, k)[0], b = bits_of<word>(y, k)[0];
    if constexpr (E5m2X && E5m2Y)
      d = __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(a, b, d, 0, 0, 0);
    else if constexpr (E5m2X)
      d = __builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8(a, b, d, 0, 0, 0);
    else if constexpr (E5m2Y)
      d = __builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8(a, b, d, 0, 0, 0);
    else
      d = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, b, d, 0, 0, 0);
  }
}

template <class E>
KERAMOS_FORCEINLINE_FUNCTION void wmma(vector_of<float, 8>& d, const E (&x)[16], const E (&y)[16]) {
  if constexpr (std::is_same_v<E, float16>)
    d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(bits_of<vector_of<_Float16, 16>>(x, 0),
                                                   bits_of<vector_of<_Float16, 16>>(y, 0), d);
  else
    d = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(bits_of<vector_of<short, 16>>(x, 0),
                                                    bits_of<vector_of<short, 16>>(y, 0), d);
}
template <bool SignedX, bool SignedY>
KERAMOS_FORCEINLINE_FUNCTION void wmma(vector_of<int, 8>& d, const integer8 (&x)[16],
                                       const integer8 (&y)[16]) {
  d = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(SignedX, bits_of<vector_of<int, 4>>(x, 0), SignedY,
                                                 bits_of<vector_of<int, 4>>(y, 0), d, false);
}

#endif

}  // namespace hip

template <>
struct mma<Kokkos::HIP> : fma_units {
  template <class E>
  static constexpr bool multiplies_in_waves = hip::units != hip::matrix_units::none &&
                                              (std::is_same_v<E, float16> || std::is_same_v<E, bfloat16> ||
                                               std::is_same_v<E, integer8> ||
                                               (hip::has_ocp_f8 && std::is_same_v<E, float8>) ||
                                               (hip::has_xf32 && std::is_same_v<E, simt::tf32_number>) ||
                                               (hip::units != hip::matrix_units::rdna3 &&
                                                (std::is_same_v<E, float> || std::is_same_v<E, double>)));
  template <class E>
  static constexpr simt::wave_fragment fragment = hip::fragment_of<E>(hip::units);

  /// Whether unsigned integers are multiplied as signed ones, less 128.
  static constexpr bool multiplies_signed = hip::units != hip::matrix_units::rdna3;

  KERAMOS_FORCEINLINE_FUNCTION static float rounded(float x) {
    unsigned bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    bits = hip::rounded_to_tf32(bits);
    __builtin_memcpy(&x, &bits, sizeof(x));
    return x;
  }

  /// D += X·Yᵀ, 16 x 16, as simt::wave_fragment says; `kinds` are those of X and Y (tiling::reading).
  template <class E, class T, int Vectors, int Vector, int Run, class... Kinds>
  KERAMOS_FORCEINLINE_FUNCTION static void multiply_16x16([[maybe_unused]] T (&sums)[Vectors][Vector],
                                                          [[maybe_unused]] const E (&x)[Run],
                                                          [[maybe_unused]] const E (&y)[Run], Kinds...) {
#if defined(__HIP_DEVICE_COMPILE__)
    using number = std::conditional_t<std::is_integral_v<T>, int, T>;
    hip::vector_of<number, Vectors * Vector> d;
    __builtin_memcpy(&d, sums, sizeof(sums));
    if constexpr (hip::units == hip::matrix_units::rdna3)
      hip::wmma<Kinds::value...>(d, x, y);
    else
      hip::mfma<Kinds::value...>(d, x, y);
    __builtin_memcpy(sums, &d, sizeof(sums));
#endif
  }

  /// x, which is the same for all lanes of a wavefront: the compiler keeps it, and what follows from it, in scalar registers.
  KERAMOS_FORCEINLINE_FUNCTION static int of_wave(int x) {
#if defined(__HIP_DEVICE_COMPILE__)
    return __builtin_amdgcn_readfirstlane(x);
#else
    return x;
#endif
  }

  /// x, from which the compiler computes anew what follows from it. Else it does so before all loops, and keeps it in registers.
  KERAMOS_FORCEINLINE_FUNCTION static int opaque(int x) {
#if defined(__HIP_DEVICE_COMPILE__)
    asm volatile("" : "+v"(x));
#endif
    return x;
  }

  /// None of the products before is moved behind it.
  KERAMOS_FORCEINLINE_FUNCTION static void end_of_products() {
#if defined(__HIP_DEVICE_COMPILE__)
    __builtin_amdgcn_sched_barrier(0);
#endif
  }

  /// Around the products of a wavefront that takes turns with another one: they go first, and nothing is moved across.
  KERAMOS_FORCEINLINE_FUNCTION static void begin_turn() {
#if defined(__HIP_DEVICE_COMPILE__)
    __builtin_amdgcn_sched_barrier(0);
    __builtin_amdgcn_s_setprio(1);
#endif
  }
  KERAMOS_FORCEINLINE_FUNCTION static void end_turn() {
#if defined(__HIP_DEVICE_COMPILE__)
    __builtin_amdgcn_s_setprio(0);
    __builtin_amdgcn_sched_barrier(0);
#endif
  }

  /// LLVM moves the products of a k-tile behind the barrier that ends it, since nothing before needs them, and all of
  /// the k-tile's fragments wait for them in registers: f32 tiles of 64 x 64 x 16 spilled up to 320 bytes at 128
  /// registers, and take 89 now. The statement is none, but the compiler must believe that it changes the sums; those
  /// of a vector go together, for scalars would not be multiplied in pairs (v_pk_fma_f32). Complex numbers are two each.
  template <class T, int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void settle([[maybe_unused]] T (&sums)[Count]) {
#if defined(__HIP_DEVICE_COMPILE__)
    using number = typename detail::part_of<T>::type;
    using vector = number __attribute__((ext_vector_type(Count * (sizeof(T) / sizeof(number)))));
    vector v;
    __builtin_memcpy(&v, sums, sizeof(sums));
    asm volatile("" : "+v"(v));
    __builtin_memcpy(sums, &v, sizeof(sums));
#endif
  }
};

}  // namespace keramos::backend
