// Judges a batch of products, matrix by matrix, by the forward error bound of check.hpp: every element where
// all matrices together take up to 2^30 multiplications; above that, every element of so many matrices,
// evenly spread and with the first and the last among them, and of all others the sums of each row's elements
// with random signs (Freivalds' check, bounded by the sum of the row's bounds).
//
// Of a grouped batch, whose matrices may be few and large, each is judged by every element of as many rows as
// take its share of those multiplications, but at least two, evenly spread and with the first and the last
// among them; and, if that is not all, by the sums of all rows.
#pragma once

#include "check.hpp"

namespace keramos::perf {

constexpr double batched_element_wise_limit = double(std::int64_t(1) << 30);

// As make_gemm_check, for a case with a batch; `limit` in multiplications.
std::unique_ptr<gemm_check> make_batched_check(const gemm_case& g, const void* a, const void* b,
                                               const void* c0, std::uint64_t seed, bool on_host,
                                               double limit = batched_element_wise_limit);

}  // namespace keramos::perf
