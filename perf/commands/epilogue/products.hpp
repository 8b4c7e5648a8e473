// A product with an epilogue in three ways, without Kokkos.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "measure/core/problem.hpp"

namespace keramos::perf {

// Seconds of `calls` products on the device's clock.
using timed_calls = std::function<double(std::int64_t calls)>;

struct epilogue_products {
  std::string epilogue;  // what it makes of A·B: "gelu(A·B + bias)"
  timed_calls product;   // C = A·B; of i8 with a C of i32
  timed_calls fused;     // C = epilogue(A·B) in the product's kernel
  timed_calls separate;  // that product, then C = epilogue(its C) in a kernel of its own
};

// f32, f64, halves, f8_bf16 and f16xf32 with GELU, i32 and i8 with ReLU, and c32 and c64 with a bias alone.
extern const std::span<const data_type> epilogue_types;

// Of n x n matrices of random numbers of one of these types, and a bias for each column. Throws std::runtime_error if what
// is fused is wrong (judge.hpp), or if it and separate do not give the same C, but for rounding.
epilogue_products make_epilogue_products(data_type type, std::int64_t n);

}  // namespace keramos::perf
