// Judges a C of eight-bit integers, of one product or of a batch: sums modulo 2^32 are exact; alpha and beta times them are
// computed in f32, added, rounded to the nearest and clamped, so that an element may be off by
//   1/2 + 4 u (|alpha sum| + |beta c|)
// from the clamped exact value. Sums that are clamped cannot be checked together: where all rows would take more than 2^32
// multiplications, those are judged that take so many, one of each of as many stripes, but at least 64 (of a batch at least
// one of each matrix).
#pragma once

#include "check.hpp"

namespace keramos::perf {

// As make_gemm_check, for data_type::i8; `limit` in multiplications.
std::unique_ptr<gemm_check> make_quantized_check(const gemm_case& g, const void* a, const void* b,
                                                 const void* c0, std::uint64_t seed,
                                                 double limit = double(std::int64_t(1) << 32));

}  // namespace keramos::perf
