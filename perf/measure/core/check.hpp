// Judges GEMM results, by the forward error bound of keramos/gemm/reference.hpp, with a smaller k where k is large
// (element_check.hpp): up to 2^27 multiplications (m n k, or 4 m n k
// of complex numbers, 2 m n k of real with complex ones) every element; above that 64 full rows, and all of C by Freivalds'
// check (freivalds.hpp). Complex products are judged as the real ones that they are made of, 2 k products an element
// (product_of_rows.hpp). Batches: batched_check.hpp. A C of eight bits: quantized_check.hpp.
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
// check. `seed` decides the rows and vectors of the large cases; `on_host`: where products are computed, since tensor
// cores may round more.
std::unique_ptr<gemm_check> make_gemm_check(const gemm_case& g, const void* a, const void* b, const void* c0,
                                            std::uint64_t seed, bool on_host);

// The same with the choice made by the caller, for the tests.
enum class check_method { every_element, freivalds };
std::unique_ptr<gemm_check> make_gemm_check(const gemm_case& g, const void* a, const void* b, const void* c0,
                                            std::uint64_t seed, bool on_host, check_method method);

}  // namespace keramos::perf
