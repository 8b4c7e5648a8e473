// Judges GEMM results. Up to 2^27 multiplications (m n k, or 4 m n k of complex numbers) every element is compared with a reference in a wider
// type (f32 in double, f64 in long double, i32 exactly modulo 2^32) by the forward error bound
//   |computed - exact| <= (k + 2) u (|alpha| |op(A)| |op(B)| + |beta| |C|),
// which every order of summation obeys (Higham, Accuracy and Stability, 2nd ed., section 3.5). Products of f16 and
// bf16 are exact in f32 and summed there, so u is that of f32; to it comes one rounding where C is of these types.
// Complex products are judged as the real ones that they are made of, 2 k products an element (reference.hpp).
// Above that, 64 full rows are, and all of C goes through Freivalds' check (freivalds.hpp).
// Batches: see batched_check.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "problem.hpp"

namespace keramos::perf {

struct verdict {
  bool passed = true;
  double error = 0;   // of the element whose error is the largest part of its bound ...
  double bound = 0;   // ... and that bound; 0 for integers
  std::string where;  // that element, when it failed
};

class gemm_check {
 public:
  virtual ~gemm_check() = default;
  // c: the computed C. References are computed on first use and kept for the next provider.
  virtual verdict operator()(const void* c) = 0;
};

constexpr std::int64_t element_wise_limit = std::int64_t(1) << 27;

// a, b, c0: A, B and the C that went in (not read if beta is 0), on the host, alive as long as the
// check. `seed` decides the rows and vectors of the large cases.
std::unique_ptr<gemm_check> make_gemm_check(const gemm_case& g, const void* a, const void* b, const void* c0,
                                            std::uint64_t seed);

// The same with the choice made by the caller, for the tests.
enum class check_method { every_element, freivalds };
std::unique_ptr<gemm_check> make_gemm_check(const gemm_case& g, const void* a, const void* b, const void* c0,
                                            std::uint64_t seed, check_method method);

}  // namespace keramos::perf
