// A step of the ladder as the harness sees it: no Kokkos here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/core/problem.hpp"
#include "measure/providers/provider.hpp"

namespace keramos::perf {

struct ladder_step {
  const char* name;
  const char* why;                      // one sentence on what it gains or loses, and by what
  bool transposed_b;                    // it multiplies by the transpose of what it is given as B
  bool beside;                          // a variant that shows what goes wrong; the next step does it right
  std::int64_t tile_m, tile_n, tile_k;  // a group's block of C, and the depth of its k-tiles
  // Elements that its items ask of global memory for m x n x k, C written once included.
  double (*elements_moved)(double m, double n, double k);
  // C = A·B on the default queue, packed row-major operands of the case.
  void (*enqueue)(const gemm_case&, const operand_set&);
  // Why this device cannot do it, or not for these extents; "" if it can.
  std::string (*cannot)(const gemm_case&);
};

constexpr int ladder_widths[] = {8, 16, 32};
constexpr data_type ladder_types[] = {data_type::f32, data_type::f64, data_type::i32, data_type::bf16};

// The steps of Keramos' own kernels in order, for one type and one of the widths; Kokkos must be up for what
// they point to, except for cannot() on hosts.
std::vector<ladder_step> ladder_steps(data_type type, int width);
// Why a type has fewer steps in this build than elsewhere; "" if it has all.
std::string ladder_steps_missing(data_type type);

// A step as something to be timed and verified, under the name "ladder-<width>/<step>".
std::string ladder_provider_name(int width, const ladder_step& step);
bool is_ladder_provider_name(const std::string& name);
std::unique_ptr<gemm_provider> make_ladder_provider(const std::string& name);

}  // namespace keramos::perf
