// The plain product that tests and keramos-perf compare results with, and by how much a right one may be off. Plain loops on
// the host; no Kokkos here, and no kernel includes it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <keramos/base/complex.hpp>
#include <keramos/base/float16.hpp>
#include <keramos/base/float8.hpp>
#include <keramos/base/index.hpp>
#include <keramos/base/scalar_type.hpp>

namespace keramos::reference {

/// The type of a number's parts.
template <class T>
struct part_of : std::type_identity<T> {};
template <complex_like Z>
struct part_of<Z> : std::type_identity<typename Z::value_type> {};
template <class T>
using part_t = typename part_of<T>::type;

/// In what products of T, or the parts of complex ones, are summed. Conversions to it are exact.
template <class T>
struct sum_of : part_of<T> {};
template <>
struct sum_of<float16> : std::type_identity<float> {};
template <>
struct sum_of<bfloat16> : std::type_identity<float> {};
template <>
struct sum_of<float8_e4m3> : std::type_identity<float> {};
template <>
struct sum_of<float8_e5m2> : std::type_identity<float> {};
template <>
struct sum_of<std::int8_t> : std::type_identity<std::int32_t> {};
template <>
struct sum_of<std::uint8_t> : std::type_identity<std::int32_t> {};
template <class T>
using sum_t = typename sum_of<T>::type;

/// In what the reference of such sums is computed.
template <class S>
struct wider;
template <>
struct wider<float> : std::type_identity<double> {};
template <>
struct wider<double> : std::type_identity<long double> {};
template <>
struct wider<std::int32_t> : std::type_identity<std::uint32_t> {};  // products wrap modulo 2^32
template <class S>
using wider_t = typename wider<S>::type;

/// Integers of eight bits, to which sums are scaled in float.
template <class C>
inline constexpr bool is_quantized = std::is_integral_v<C> && sizeof(C) == 1;

template <class Real = double>
constexpr Real power_of_2(int exponent) {
  Real value = 1;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}
/// The relative error of one rounding to nearest; 0 of integers.
template <class T>
inline constexpr double unit_roundoff = std::numeric_limits<T>::is_integer
                                            ? 0
                                            : power_of_2(-std::numeric_limits<T>::digits);
/// Half the distance of the smallest numbers, which is the error where the relative one is less.
template <class T>
inline constexpr wider_t<sum_t<T>> smallest_error =
    power_of_2<wider_t<sum_t<T>>>(std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits - 1);

/// What rounding x, a sum of type S, to C's type adds at most; `size` is |x|.
template <class S, class C, class Real>
Real rounding_to_c(Real size) {
  if constexpr (std::is_same_v<S, C>)
    return 0;
  else
    return unit_roundoff<C> * size + smallest_error<C>;
}

/// How products may differ from those that the types of elements and sums promise: gemm.hpp documents each.
struct arithmetic {
  /// The relative error of each product.
  double product_rounding = 0;
  /// Subnormal elements count as zeros, and so do subnormal sums.
  bool flushes = false;
  /// Errors are those of subnormal halves as large as the smallest normal one.
  bool subnormals_lose_bits = false;
};
/// That of elements which are multiplied as `multiplied` says, a gemm_types' compute type. Only GPUs round:
/// - tf32 has eleven bits of either element, (1 + 2^-11)^2 - 1, and a little for the sums' share of that;
/// - tf32x3 leaves out the products of two second parts, and tensor cores truncate its sums;
/// - tensor cores keep fewer bits of sums of eight-bit floats;
/// - they line products up by the exponents of elements, which stay at the smallest normal one's with subnormal halves, and cut
///   off what is 2^-25 of the largest and less: so worked out by hand, products have the digits that an H100 gave.
constexpr arithmetic arithmetic_of(scalar_type multiplied, bool on_host) {
  if (on_host) return {};
  switch (multiplied) {
    case scalar_type::tf32:
      return {0x1p-10 + 0x1p-21};
    case scalar_type::tf32x3:
      return {0x1p-18};
    case scalar_type::f8:
      return {0x1p-11};
    case scalar_type::f16:
    case scalar_type::bf16:
      return {.subnormals_lose_bits = true};
    default:
      return {};
  }
}

/// op(X) of a matrix in the host's memory.
template <class T>
struct operand {
  const T* data;
  index_t row_stride, col_stride;  // of op(X)
  bool conjugated = false;

  T operator()(index_t i, index_t j) const {
    const T& x = data[i * row_stride + j * col_stride];
    if constexpr (complex_like<T>) {
      if (conjugated) return T(x.real(), -x.imag());
    }
    return x;
  }
};

/// Of elements of A and B the wider or complex ones, which decide in what products are summed; A's if they are alike.
template <class A, class B>
using wider_element = std::conditional_t<(sizeof(B) > sizeof(A)), B, A>;

/// An element of op(A)·op(B), whose wider elements are of type T.
template <class T>
struct element_sum {
  using real = wider_t<sum_t<T>>;
  using wide = std::conditional_t<complex_like<T>, complex<real>, real>;

  wide value = 0;
  real magnitude = 0;  // of floating-point products: |a||b|, with |Re z| + |Im z| for |z|
  index_t terms = 0;

  template <class A, class B>
  void add(const A& a, const B& b, const arithmetic& how = {}) {
    const wide x = wide(a), y = wide(b);
    value += x * y;
    if constexpr (!std::is_integral_v<T>) magnitude += counted<A>(x, how) * counted<B>(y, how);
    ++terms;
  }

  /// |x|, as errors count it.
  template <class E>
  static real counted(const wide& x, const arithmetic& how) {
    if constexpr (std::is_same_v<E, float16> || std::is_same_v<E, bfloat16>) {
      if (how.subnormals_lose_bits && x != 0)
        return std::max(size(x), real(float(std::numeric_limits<E>::min())));
    }
    return size(x);
  }

  template <class R>
  static R size(const R& x) {
    return std::abs(x);
  }
  template <class R>
  static R size(const complex<R>& z) {
    return std::abs(z.re) + std::abs(z.im);
  }
};

/// x, or zero where it is subnormal and such are flushed.
template <class T>
T flushed(T x, const arithmetic& how) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    if (how.flushes && (x.bits & 0x7f80) == 0) return T::from_bits(x.bits & 0x8000);
  }
  return x;
}

/// Element (i, j) of op(A)·op(B); `a(i, p)` and `b(p, j)` are elements of op(A) and op(B).
template <class A, class B>
auto product_element(const A& a, const B& b, index_t i, index_t j, index_t k, const arithmetic& how = {}) {
  element_sum<wider_element<std::remove_cvref_t<decltype(a(i, 0))>, std::remove_cvref_t<decltype(b(0, j))>>>
      sum;
  for (index_t p = 0; p < k; ++p) sum.add(flushed(a(i, p), how), flushed(b(p, j), how), how);
  return sum;
}

/// Judges elements of C = alpha·op(A)·op(B) + beta·C, where the wider elements of A and B are of type T. Floating-point ones keep
///   |computed - exact| <= (k + 2) u (|alpha||A||B| + |beta||C|)
/// in any order of sums (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.5), which complex numbers are twice
/// as many of; to that come the errors of numbers too small for a relative one, what `arithmetic` allows, and one rounding to
/// C's type. Integers are exact modulo 2^32. A C of eight-bit integers is computed in float and rounded.
template <class T, class C = T>
class element_judge {
  static constexpr bool is_integer = std::is_integral_v<T>;
  static constexpr int parts = complex_like<T> ? 2 : 1;
  using S = sum_t<T>;
  using scalar = std::conditional_t<is_quantized<C>, float, std::conditional_t<parts == 2, complex<S>, S>>;

 public:
  using sum = element_sum<T>;
  using real = std::conditional_t<is_integer, double, typename sum::real>;
  using wide = std::conditional_t<is_quantized<C>, double, typename sum::wide>;

  template <class Scalar>
  element_judge(const Scalar& alpha, const Scalar& beta, const arithmetic& how = {})
      : alpha_(wide(scalar(alpha))), beta_(wide(scalar(beta))), how_(how) {}

  wide expected(const sum& s, const C& before) const {
    if constexpr (is_quantized<C>)
      return std::clamp(of_product(s) + of_c(before), double(std::numeric_limits<C>::min()),
                        double(std::numeric_limits<C>::max()));
    else
      return of_product(s) + of_c(before);
  }
  /// The most that a part may be off.
  real bound(const sum& s, const C& before) const {
    if constexpr (is_quantized<C>) {
      return 0.5 + 4 * unit_roundoff<float> * (std::abs(of_product(s)) + std::abs(of_c(before)));
    } else if constexpr (is_integer) {
      return 0;
    } else {
      const real of_products = sum::size(alpha_) * s.magnitude, of_c = c_size(before);
      const real terms = real(parts * s.terms), other = 2 * parts;
      // Parts of k may be added to C one after the other; none has fewer than 64 terms, but for the last.
      const real updates = 1 + real(s.terms) / 64;
      const real least = how_.flushes ? std::numeric_limits<S>::min() : smallest_error<S>;
      const real of_sum = (terms + other) * unit_roundoff<S> * (of_products + of_c) +
                          how_.product_rounding * of_products + terms * sum::size(alpha_) * least +
                          updates * other * smallest_error<S>;
      return of_sum + rounding_to_c<S, part_t<C>>(sum::size(expected(s, before)) + of_sum);
    }
  }
  /// Of the part that is further off; integers wrap.
  real error(const C& got, const wide& expected) const {
    if constexpr (parts == 2) {
      const wide off = wide(got) - expected;
      // So that a NaN in either is one.
      return std::isnan(off.re) ? off.re : std::max(std::abs(off.im), std::abs(off.re));
    } else if constexpr (is_integer && !is_quantized<C>) {
      return std::abs(real(std::int32_t(wide(got) - expected)));
    } else {
      return std::abs(wide(got) - expected);
    }
  }
  bool accepts(const C& got, const sum& s, const C& before) const {
    return error(got, expected(s, before)) <= bound(s, before);
  }

 private:
  wide of_product(const sum& s) const {
    if constexpr (is_quantized<C>)
      return alpha_ * double(std::int32_t(s.value));
    else
      return alpha_ * s.value;
  }
  /// With beta = 0 C is not read.
  wide of_c(const C& before) const { return beta_ == wide(0) ? wide(0) : beta_ * wide(before); }
  real c_size(const C& before) const {
    return beta_ == wide(0) ? real(0) : sum::size(beta_) * sum::size(wide(before));
  }

  wide alpha_, beta_;
  arithmetic how_;
};

}  // namespace keramos::reference
