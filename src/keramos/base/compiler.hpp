// Where compilers differ: the one file of the library's own that asks for them. Internal.
#pragma once

#include <cstdint>
#include <string_view>

/// Unrolls the loop that follows completely: what keeps arrays of fragments in registers. Or not at all: less code.
#if defined(__CUDACC__) || defined(__clang__) || defined(__HIPCC__)
#define KERAMOS_UNROLL _Pragma("unroll")
#define KERAMOS_NO_UNROLL _Pragma("unroll 1")
#elif defined(__GNUC__)
#define KERAMOS_UNROLL _Pragma("GCC unroll 128")
#define KERAMOS_NO_UNROLL _Pragma("GCC unroll 1")
#else
#define KERAMOS_UNROLL
#define KERAMOS_NO_UNROLL
#endif

/// A function for hosts and devices, where there is no Kokkos to say so.
#if defined(__CUDACC__)
#define KERAMOS_ANYWHERE __host__ __device__ __forceinline__
#elif defined(__HIPCC__)
#define KERAMOS_ANYWHERE __host__ __device__ inline __attribute__((always_inline))
#else
#define KERAMOS_ANYWHERE inline __attribute__((always_inline))
#endif

/// Behind a lambda's parameters: as a function of its own it would keep fragments of matrix units in memory (SYCL). Elsewhere
/// compilers inline what kernels call.
#if defined(__SYCL_DEVICE_ONLY__)
#define KERAMOS_INLINED __attribute__((always_inline))
#else
#define KERAMOS_INLINED
#endif

/// A host's function for processors with these extensions of x86-64: what is inlined into it uses them as well. Compilers
/// for devices read hosts' functions too, and do not know the extensions.
#if defined(__x86_64__) && !defined(__HIP_DEVICE_COMPILE__) && !defined(__SYCL_DEVICE_ONLY__)
#define KERAMOS_X86(extensions) __attribute__((target(extensions)))
#else
#define KERAMOS_X86(extensions)
#endif

// Short numbers of vendors' headers, whether or not these are included.
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;
struct __half;
struct __nv_bfloat16;
struct __hip_bfloat16;

/// Whether the compiler has such numbers of its own: binary16, and the upper half of a float. (nvcc asks its host compiler
/// which macros there are, but does not read its types; nor does g++ for Arm before 13, in C++.)
#if defined(__FLT16_MAX__) && !defined(__CUDACC__) && \
    !(defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13)
#define KERAMOS_COMPILER_HAS_FLOAT16
#endif
#if defined(__BFLT16_MAX__) && !defined(__CUDACC__)
#define KERAMOS_COMPILER_HAS_BFLOAT16
#endif

namespace keramos::detail {

// Conversions of short numbers by the machine, where a plain C++ compiler does not know them.
#if defined(__CUDA_ARCH__)
#define KERAMOS_HALF_INSTRUCTIONS
__device__ __forceinline__ float widen_half(std::uint16_t half) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
  return x;
}
__device__ __forceinline__ std::uint16_t narrow_to_half(float x) {
  std::uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
}
#if __CUDA_ARCH__ >= 800
#define KERAMOS_BFLOAT_INSTRUCTIONS
__device__ __forceinline__ std::uint16_t narrow_to_bfloat(float x) {
  std::uint16_t upper;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(upper) : "f"(x));
  return upper;
}
#endif
#elif defined(__HIP_DEVICE_COMPILE__)
#define KERAMOS_HALF_INSTRUCTIONS
__device__ inline float widen_half(std::uint16_t half) { return float(__builtin_bit_cast(_Float16, half)); }
__device__ inline std::uint16_t narrow_to_half(float x) {
  return __builtin_bit_cast(std::uint16_t, static_cast<_Float16>(x));
}
#endif

/// Whether `F` is one of nvcc's lambdas for devices alone (`[=] __device__`): they do not tell the host what they take.
template <class F>
constexpr bool is_device_lambda() {
#ifdef __CUDACC_EXTENDED_LAMBDA__
  return __nv_is_extended_device_lambda_closure_type(F);
#else
  return false;
#endif
}

/// Whether nvcc sees a lambda that is not for devices. C++ does not tell lambdas from other types, but the name that
/// nvcc's front end gives them does; other compilers' names do not begin so.
template <class F>
constexpr bool is_host_lambda() {
#ifdef __CUDACC_EXTENDED_LAMBDA__
  return !__nv_is_extended_device_lambda_closure_type(F) &&
         !__nv_is_extended_host_device_lambda_closure_type(F) &&
         std::string_view(__PRETTY_FUNCTION__).find("F = lambda [") != std::string_view::npos;
#else
  return false;
#endif
}

}  // namespace keramos::detail
