// The types of products, for typed tests of what judges them.
#pragma once

#include <gtest/gtest.h>

#include "measure/core/problem.hpp"
#include "measure/core/product_of_rows.hpp"

namespace keramos::perf {

template <data_type Type, class A, class B = A, class C = A>
struct product_types {
  static constexpr data_type type = Type;
  using a = A;
  using b = B;
  using c = C;
  using number = reference::wider_element<A, B>;
  static constexpr bool is_complex = keramos::detail::is_complex<number>;
  // In which such a product is computed; integers wrap.
  using sum = std::conditional_t<std::is_integral_v<number>, std::uint32_t,
                                 std::conditional_t<is_complex, number, sum_t<number>>>;
  using part_of_c = typename keramos::detail::part_of<C>::type;
};
using f32_types = product_types<data_type::f32, float>;
using f64_types = product_types<data_type::f64, double>;
using i32_types = product_types<data_type::i32, std::int32_t>;
using i8_i32_types = product_types<data_type::i8_i32, std::int8_t, std::int8_t, std::int32_t>;
using c32_types = product_types<data_type::c32, complex<float>>;
using c64_types = product_types<data_type::c64, complex<double>>;
using f16_types = product_types<data_type::f16, float16>;
using f16_f32_types = product_types<data_type::f16_f32, float16, float16, float>;
using bf16_types = product_types<data_type::bf16, bfloat16>;
using bf16_f32_types = product_types<data_type::bf16_f32, bfloat16, bfloat16, float>;
using f8_f16_types = product_types<data_type::f8_f16, float8_e4m3, float8_e4m3, float16>;
using f8_f32_types = product_types<data_type::f8_f32, float8_e4m3, float8_e4m3, float>;
using f16xf32_types = product_types<data_type::f16xf32, float16, float, float>;
using f32xc32_types = product_types<data_type::f32xc32, float, complex<float>, complex<float>>;
using f64xc64_types = product_types<data_type::f64xc64, double, complex<double>, complex<double>>;
using tested_types = testing::Types<f32_types, f64_types, i32_types, i8_i32_types, c32_types, c64_types,
                                    f16_types, f16_f32_types, bf16_types, bf16_f32_types, f8_f16_types,
                                    f8_f32_types, f16xf32_types, f32xc32_types, f64xc64_types>;

constexpr transpose all_ops[] = {transpose::N, transpose::T, transpose::C};

// x of an operand, as its op makes it.
template <class Sum, class T>
Sum operand_value(transpose op, const T& x) {
  return keramos::detail::conjugate_if(op == transpose::C, Sum(x));
}

// x with some bits flipped, or some amount off; of a complex number the imaginary part.
template <class C>
C spoiled(C x, int bits, double amount) {
  if constexpr (std::is_integral_v<C>)
    return x ^ bits;
  else if constexpr (keramos::detail::is_complex<C>)
    return {x.re, spoiled(x.im, bits, amount)};
  else
    return C(double(x) + amount);
}

}  // namespace keramos::perf
