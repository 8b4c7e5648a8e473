// The types of products, for typed tests of what judges them.
#pragma once

#include <gtest/gtest.h>

#include "core/error_bound.hpp"
#include "core/problem.hpp"

namespace keramos::perf {

template <data_type Type, class T, class C = T>
struct product_types {
  static constexpr data_type type = Type;
  using ab = T;
  using c = C;
  // In which such a product is computed; integers wrap.
  using sum = std::conditional_t<std::is_integral_v<T>, std::uint32_t, sum_t<T>>;
};
using f32_types = product_types<data_type::f32, float>;
using f64_types = product_types<data_type::f64, double>;
using i32_types = product_types<data_type::i32, std::int32_t>;
using f16_types = product_types<data_type::f16, float16>;
using f16_f32_types = product_types<data_type::f16_f32, float16, float>;
using bf16_types = product_types<data_type::bf16, bfloat16>;
using bf16_f32_types = product_types<data_type::bf16_f32, bfloat16, float>;
using tested_types =
    testing::Types<f32_types, f64_types, i32_types, f16_types, f16_f32_types, bf16_types, bf16_f32_types>;

}  // namespace keramos::perf
