// Where compilers differ: the one file of the library's own that asks for them. Internal.
#pragma once

#include <string_view>

/// Unrolls the loop that follows completely: what keeps arrays of fragments in registers.
#if defined(__CUDACC__) || defined(__clang__) || defined(__HIPCC__)
#define KERAMOS_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define KERAMOS_UNROLL _Pragma("GCC unroll 128")
#else
#define KERAMOS_UNROLL
#endif

namespace keramos::detail {

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
