// What the providers on cuBLAS and cuBLASLt have in common.
#pragma once

#include <cublas_v2.h>

#include <cstdint>
#include <string>
#include <utility>

#include "measure/core/cblas_library.hpp"
#include "measure/core/host_workspace.hpp"
#include "measure/core/problem.hpp"

namespace keramos::perf {

inline void require(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw unavailable_error(std::string(what) + ": " + cublasGetStatusString(status));
  }
}

// Versions are 10000 major + 100 minor + patch.
inline std::string version_text(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// Why cuBLAS cannot do a product, or "": it has none of 32-bit integers and of two types of elements, and those of eight bits
// lie in rows of whole words.
inline std::string cublas_cannot(const gemm_case& g) {
  if (g.type == data_type::i32) return "cuBLAS has no product of 32-bit integers";
  if (has_two_types(g.type)) return "cuBLAS has no product of two types of elements";
  if (multiplied_type(g.type) == data_type::i8_i32) {
    std::int64_t bits = g.m | g.n | g.k;
    for (const auto& p : g.list) bits |= p.m | p.n | p.k;
    if (bits % 4 != 0) return "cuBLAS multiplies integers of eight bits where m, n and k are multiples of 4";
  }
  return "";
}

struct cublas_types {
  cudaDataType_t ab, c, scalar;  // scalar: of alpha and beta
  cublasComputeType_t compute;
};
inline cublas_types cublas_types_of(data_type type) {
  constexpr auto f32 = CUDA_R_32F, f16 = CUDA_R_16F, bf16 = CUDA_R_16BF, f8 = CUDA_R_8F_E4M3;
  switch (type) {
    case data_type::tf32:
      return {f32, f32, f32, CUBLAS_COMPUTE_32F_FAST_TF32};
    case data_type::f64:
    case data_type::f64_emulated:
      return {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case data_type::i8_i32:
      return {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I};
    case data_type::i8:
      return {CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32I};
    case data_type::c32:
      return {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F};
    case data_type::c64:
      return {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
    case data_type::f16:
      return {f16, f16, f32, CUBLAS_COMPUTE_32F};
    case data_type::f16_f32:
      return {f16, f32, f32, CUBLAS_COMPUTE_32F};
    case data_type::bf16:
      return {bf16, bf16, f32, CUBLAS_COMPUTE_32F};
    case data_type::bf16_f32:
      return {bf16, f32, f32, CUBLAS_COMPUTE_32F};
    case data_type::f8_f16:
      return {f8, f16, f32, CUBLAS_COMPUTE_32F};
    case data_type::f8_bf16:
      return {f8, bf16, f32, CUBLAS_COMPUTE_32F};
    case data_type::f8_f32:
      return {f8, f32, f32, CUBLAS_COMPUTE_32F};
    default:
      return {f32, f32, f32, CUBLAS_COMPUTE_32F};
  }
}

// alpha or beta as cuBLAS reads it, with an imaginary part where the type has one.
struct cublas_scalar {
  alignas(16) float f32[2];
  alignas(16) double f64[2];
  std::int32_t i32;
  cudaDataType_t type;

  cublas_scalar(double value, cudaDataType_t t)
      : f32{float(value), 0}, f64{value, 0}, i32(std::int32_t(value)), type(t) {}
  const void* address() const {
    if (type == CUDA_R_32I) return &i32;
    return type == CUDA_R_64F || type == CUDA_C_64F ? static_cast<const void*>(f64) : f32;
  }
};

// cuBLAS is column-major: a row-major C is the column-major C^T = op(B)^T op(A)^T.
struct column_major {
  cublasOperation_t op_a, op_b;
  int m, n, k;
  const void *a, *b;
  void* c;
  int lda, ldb;

  column_major(const gemm_case& g, const operand_set& set)
      : column_major(g, {g.m, g.n, g.k}, set.a, set.b, set.c) {}
  // A problem of a list.
  column_major(const gemm_case& g, const operand_set& set, const placed_problem& at)
      : column_major(g, at.extents, static_cast<const char*>(set.a) + std::size_t(at.a) * size_of_a(g.type),
                     static_cast<const char*>(set.b) + std::size_t(at.b) * size_of_b(g.type),
                     static_cast<char*>(set.c) + std::size_t(at.c) * size_of_c(g.type)) {}

 private:
  column_major(const gemm_case& g, const gemm_extents& of, const void* at_a, const void* at_b, void* at_c)
      : a(at_a), b(at_b), c(at_c) {
    const auto op = [conjugates = is_complex(g.type)](transpose t) {
      return t == transpose::N ? CUBLAS_OP_N : t == transpose::C && conjugates ? CUBLAS_OP_C : CUBLAS_OP_T;
    };
    const bool right = g.layout == matrix_layout::right;
    op_a = op(g.op_a), op_b = op(g.op_b);
    m = static_cast<int>(of.m), n = static_cast<int>(of.n), k = static_cast<int>(of.k);
    lda = right == (g.op_a == transpose::N) ? k : m;
    ldb = right == (g.op_b == transpose::N) ? n : k;
    if (!right) return;
    std::swap(op_a, op_b), std::swap(m, n), std::swap(a, b), std::swap(lda, ldb);
  }
};

}  // namespace keramos::perf
