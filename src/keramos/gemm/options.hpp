// What a call of gemm and gemm_batched can ask for: `keramos::gemm(q, 1.0, a, b, 0.0, c, {.op_b = keramos::op::T})`.
#pragma once

#include <optional>

#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos {

namespace detail {
/// An empty option. It is no constant, for which compilers would fill all its bytes, and a plan has some 600, in each call.
template <class Plan>
std::optional<Plan> no_plan() {
  return std::nullopt;
}
}  // namespace detail

/// Options of gemm and plan_gemm.
struct gemm_options {
  op op_a = op::N;  ///< N: A as it is, T: transposed, C: transposed and conjugated
  op op_b = op::N;
  /// The block tile to use instead of the backend's choice: on hosts any, on GPUs a row of the backend's
  /// tile table for the type.
  std::optional<tiling::shape> block = std::nullopt;
  /// The plan to follow instead of choosing one: from plan_gemm, as it is or changed. It decides about the tile too.
  std::optional<gemm_plan> plan = detail::no_plan<gemm_plan>();
  /// Products of less accuracy, and emulated ones, are asked for by name: see gemm().
  gemm_compute compute = gemm_compute::standard;
};

/// Options of gemm_batched and plan_gemm_batched.
struct gemm_batched_options {
  op op_a = op::N;
  op op_b = op::N;
  gemm_compute compute = gemm_compute::standard;  ///< as in gemm_options
  /// The plan to follow instead of choosing one: from plan_gemm_batched, as it is or changed.
  std::optional<gemm_batch_plan> plan = detail::no_plan<gemm_batch_plan>();
};

}  // namespace keramos
