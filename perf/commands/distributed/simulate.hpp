// What a schedule moves and how long it may take, on paper.
#pragma once

#include <cstdint>

#include <keramos/dist/schedule.hpp>

#include "measure/core/problem.hpp"

namespace keramos::perf {

// The alpha, beta and gamma of a machine: what a message costs, a rank's rate of receiving, and of its own products.
struct machine_model {
  double latency_s, bytes_per_s, operations_per_s;
};

// The schedule of a product of one type, on so many ranks that may each allocate `memory` bytes.
dist::schedule schedule_of(const gemm_case& g, int ranks, std::int64_t memory);

// The seconds that the largest parts take if panels arrive while the step before is multiplied. A and B are where the
// schedule wants them, and C where it leaves it.
double predicted_seconds(const dist::schedule& s, const gemm_case& g, const machine_model& machine);

}  // namespace keramos::perf
