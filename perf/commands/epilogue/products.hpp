// A product with bias and GELU in three ways, without Kokkos.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "measure/core/problem.hpp"

namespace keramos::perf {

// Seconds of `calls` products on the device's clock.
using timed_calls = std::function<double(std::int64_t calls)>;

struct epilogue_products {
  timed_calls product;   // C = A·B
  timed_calls fused;     // C = gelu(A·B + bias) in the product's kernel
  timed_calls separate;  // C = A·B, then C = gelu(C + bias) in a kernel of its own
};

extern const std::span<const data_type>
    epilogue_types;  // f32, f64, and with a bias of float halves and f8_bf16

// Of n x n matrices of random numbers of one of these types, and a bias for each column. Throws std::runtime_error if what
// is fused is wrong (judge.hpp), or if it and separate do not give the same C, but for rounding.
epilogue_products make_epilogue_products(data_type type, std::int64_t n);

}  // namespace keramos::perf
