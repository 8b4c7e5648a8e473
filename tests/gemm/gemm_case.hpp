// One GEMM under test: operands anywhere in memory with any strides, a reference in higher precision, and
// an element-by-element judgement by the forward error bound.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <keramos/keramos.hpp>

namespace keramos::test {

/// In what the reference is computed: wider than T for floating types, exact modulo 2^32 for integers.
template <class T>
struct wider {
  using type = double;
};
template <>
struct wider<double> {
  using type = long double;
};
template <std::integral T>
struct wider<T> {
  using type = std::uint32_t;
};

template <complex_like Z>
struct wider<Z> {
  using type = std::complex<typename wider<typename Z::value_type>::type>;
};

/// Those of A, B and C, for typed tests.
template <class A, class B, class C>
struct elements {
  using a = A;
  using b = B;
  using c = C;
};

/// The type of a number's parts.
template <class T>
struct part_of : std::type_identity<T> {};
template <complex_like Z>
struct part_of<Z> : std::type_identity<typename Z::value_type> {};

/// In what products of T are summed.
template <class T>
inline constexpr bool is_eight = std::is_same_v<T, float8_e4m3> || std::is_same_v<T, float8_e5m2>;
template <class T>
using sum_type =
    std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> || is_eight<T>, float, T>;

/// Integers of eight bits, to which sums are scaled in float.
template <class C>
inline constexpr bool is_quantized = std::is_integral_v<C> && sizeof(C) == 1;
/// For messages, where a C++ stream would take them for characters.
template <class C>
auto printable(C x) {
  if constexpr (is_quantized<C>)
    return int(x);
  else
    return x;
}
/// An alpha that brings most sums of some hundred products into the range of such a C, and leaves some out of it.
template <class C>
inline constexpr double scale_to = is_quantized<C> ? 0x1.8p-9 : 1;
/// What alpha and beta are given as.
template <class T, class C>
using scaled_as = std::conditional_t<is_quantized<C>, float, T>;

/// The relative error of rounding to T, and half the distance of its smallest numbers.
template <class T>
struct rounding {
  static constexpr double relative = std::numeric_limits<T>::epsilon() / 2, absolute = 0;
};
template <>
struct rounding<float16> {
  static constexpr double relative = 0x1p-11, absolute = 0x1p-25;
};
template <>
struct rounding<bfloat16> {
  static constexpr double relative = 0x1p-8, absolute = 0x1p-134;
};

/// How a matrix lies: unit stride along rows or columns, or none; `gap` extra elements between runs.
enum class layout { right, left, strided };

/// A matrix in a storage of its own that is larger than it: what surrounds it must stay as it was.
template <class T>
struct stored_matrix {
  using storage = Kokkos::View<T*, default_execution_space>;

  stored_matrix(index_t rows, index_t cols, layout l, index_t gap, index_t offset) {
    const index_t step = l == layout::strided ? 2 + gap % 2 : 1;
    const index_t down = l == layout::left ? 1 : cols * step + gap;
    const index_t along = l == layout::left ? rows + gap : step;
    const index_t end =
        offset + (rows > 0 ? (rows - 1) * down : 0) + (cols > 0 ? (cols - 1) * along : 0) + 1 + gap;
    device = storage("matrix", end);
    host = Kokkos::create_mirror_view(device);
    view = {device.data() + offset, rows, cols, down, along};
    offset_ = offset;
  }

  T& at(index_t i, index_t j) { return host(offset_ + i * view.row_stride + j * view.col_stride); }
  void upload() { Kokkos::deep_copy(device, host); }
  void download() { Kokkos::deep_copy(host, device); }

  template <class F>
  void fill_all(const F& f) {
    for (std::size_t i = 0; i < host.extent(0); ++i) host(i) = f();
  }

  storage device;
  // Kokkos 3.4 has View::HostMirror, Kokkos 5 View::host_mirror_type.
  decltype(Kokkos::create_mirror_view(storage())) host;
  matrix_view<T> view;

 private:
  index_t offset_;
};

/// Full mantissas in [-0.5, 0.5), of each part of a complex number; all of their range for integers.
template <class T>
T random_value(std::mt19937_64& rng) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint32_t>(rng()));
  } else if constexpr (complex_like<T>) {
    using R = typename T::value_type;
    const R re = random_value<R>(rng);
    return T(re, random_value<R>(rng));
  } else {
    return T(std::uniform_real_distribution<sum_type<T>>(-0.5, 0.5)(rng));
  }
}

/// Memory that must not be read: NaN where there is one.
template <class T>
T poison() {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(0xdeadbeef);
  else if constexpr (complex_like<T>)
    return T(poison<typename T::value_type>(), poison<typename T::value_type>());
  else
    return T(std::numeric_limits<sum_type<T>>::quiet_NaN());
}

struct gemm_case {
  index_t m, n, k;
  op op_a = op::N, op_b = op::N;
  layout a = layout::right, b = layout::right, c = layout::right;
  index_t gap = 0, offset = 0;
  double alpha = 1, beta = 0;
  double alpha_imag = 0, beta_imag = 0;  ///< of complex products
  std::optional<tiling::shape> block = std::nullopt;
  std::function<void(gemm_plan&)> change_plan = nullptr;  ///< then it is given back
  gemm_compute compute = gemm_compute::standard;

  std::string describe() const {
    std::ostringstream s;
    s << m << 'x' << n << 'x' << k << ' ' << char(op_a) << char(op_b) << " layouts " << int(a) << int(b)
      << int(c) << " gap " << gap << " offset " << offset << " alpha " << alpha << " beta " << beta;
    if (alpha_imag != 0 || beta_imag != 0) s << ", imaginary parts " << alpha_imag << ' ' << beta_imag;
    return s.str();
  }
};

/// The scalar that a case names; of integers its whole part, since others are refused.
template <class T>
auto scalar_for(double scalar, [[maybe_unused]] double imag = 0) {
  if constexpr (complex_like<T>)
    return std::complex<double>(scalar, imag);
  else
    return std::is_integral_v<T> ? std::trunc(scalar) : scalar;
}
template <class T>
using scalar_type_for = decltype(scalar_for<T>(0));

/// The conjugate of a complex number if op says so.
template <class T>
T with_op(op o, T x) {
  if constexpr (complex_like<T>)
    return o == op::C ? T(x.real(), -x.imag()) : x;
  else
    return x;
}

/// An element of C, of type C, and the products of T that it is made of, in higher precision. The bound is that of sums in
/// any order (Higham, Accuracy and Stability of Numerical Algorithms, 3.5) and of one rounding to C's type.
template <class T, class C = T>
class element_judge {
 public:
  using wide = typename wider<T>::type;

  /// `of_products`: the relative error of a product of elements, if they are rounded before.
  element_judge(double alpha, double beta, double of_products = 0)
      : alpha_(to_wide(alpha)), beta_(to_wide(beta)), of_products_(of_products) {}

  template <class B = T>
  void add(T a, B b) {
    const wide product = to_wide(a) * to_wide(b);
    sum_ += product;
    if constexpr (!std::is_integral_v<T>) magnitude_ += std::abs(product);
    ++terms_;
  }
  wide expected(C before) const {
    return beta_ == 0 ? alpha_ * sum_ : alpha_ * sum_ + beta_ * to_wide(before);
  }
  /// Of floating-point numbers: the most that one may be off.
  wide bound(C before) const {
    if constexpr (std::is_integral_v<T>) {
      return 0;
    } else {
      const wide scale =
          std::abs(alpha_) * magnitude_ + (beta_ != 0 ? std::abs(beta_ * to_wide(before)) : wide(0));
      const wide of_sum = wide(terms_ + 2) * rounding<sum_type<T>>::relative * scale +
                          wide(of_products_) * std::abs(alpha_) * magnitude_;
      if constexpr (std::is_same_v<C, sum_type<T>>)
        return of_sum;
      else
        return of_sum + rounding<C>::relative * (std::abs(expected(before)) + of_sum) + rounding<C>::absolute;
    }
  }
  /// Whether `got` may be alpha·sum + beta·before.
  bool accepts(C got, C before) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<std::uint32_t>(got) == expected(before);
    else
      return std::abs(wide(got) - expected(before)) <= bound(before);
  }

 private:
  template <class X>
  static wide to_wide(X x) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<wide>(static_cast<std::int64_t>(x));
    else
      return static_cast<wide>(x);
  }

  wide alpha_, beta_;
  double of_products_;
  wide sum_ = 0, magnitude_ = 0;
  index_t terms_ = 0;
};

/// The relative error of a product of floats that were rounded to eleven bits, and more than that.
constexpr double tf32_rounding = 0x1p-10 * (1 + 0x1p-12) + 0x1p-22;
/// That of a product of floats of eight bits in the sums of tensor cores, which gemm.hpp documents.
constexpr double eight_rounding = 0x1p-11;
template <class T>
constexpr double rounding_of_products(gemm_compute compute) {
  if (is_eight<T> && !backend::traits<default_execution_space>::is_host) return eight_rounding;
  return compute == gemm_compute::tf32 ? tf32_rounding : compute == gemm_compute::f32_emulated ? 0x1p-18 : 0;
}

/// The same for a C of eight bits: the sum is exact modulo 2^32, what becomes of it is computed in float and rounded.
template <class T, class C>
requires is_quantized<C>
class element_judge<T, C> {
 public:
  element_judge(double alpha, double beta, double /*of_products*/ = 0) : alpha_(alpha), beta_(beta) {}

  template <class B>
  void add(T a, B b) {
    sum_ += static_cast<std::uint32_t>(std::int64_t(a) * std::int64_t(b));
  }
  double expected(C before) const {
    return std::clamp(of_sum() + of_c(before), double(std::numeric_limits<C>::min()),
                      double(std::numeric_limits<C>::max()));
  }
  double bound(C before) const {
    return 0.5 + 4 * rounding<float>::relative * (std::abs(of_sum()) + std::abs(of_c(before)));
  }
  bool accepts(C got, C before) const { return std::abs(double(got) - expected(before)) <= bound(before); }

 private:
  double of_sum() const { return alpha_ * double(static_cast<std::int32_t>(sum_)); }
  double of_c(C before) const { return beta_ == 0 ? 0 : beta_ * double(before); }

  double alpha_, beta_;
  std::uint32_t sum_ = 0;
};

/// The same for complex numbers: each part is a sum of 2k + 4 products of parts, or fewer.
template <complex_like Z>
class element_judge<Z, Z> {
 public:
  using real = typename Z::value_type;
  using wide_real = typename wider<real>::type;
  using wide = std::complex<wide_real>;

  element_judge(std::complex<double> alpha, std::complex<double> beta, double /*of_products*/ = 0)
      : alpha_(alpha), beta_(beta) {}

  void add(Z a, Z b) {
    sum_ += to_wide(a) * to_wide(b);
    magnitude_ += size(to_wide(a)) * size(to_wide(b));
    ++terms_;
  }
  wide expected(Z before) const {
    return beta_ == wide(0) ? alpha_ * sum_ : alpha_ * sum_ + beta_ * to_wide(before);
  }
  /// The most that a part may be off.
  wide_real bound(Z before) const {
    const wide_real of_c = beta_ == wide(0) ? wide_real(0) : size(beta_) * size(to_wide(before));
    return wide_real(2 * terms_ + 4) * rounding<real>::relative * (size(alpha_) * magnitude_ + of_c);
  }
  bool accepts(Z got, Z before) const {
    const wide off = to_wide(got) - expected(before);
    return std::abs(off.real()) <= bound(before) && std::abs(off.imag()) <= bound(before);
  }

 private:
  static wide to_wide(Z z) { return {wide_real(z.real()), wide_real(z.imag())}; }
  static wide_real size(wide z) { return std::abs(z.real()) + std::abs(z.imag()); }

  wide alpha_, beta_;
  wide sum_ = 0;
  wide_real magnitude_ = 0;
  index_t terms_ = 0;
};

/// Runs the case with A of type T and B of type B, judges every element of C, of type C, and every element around it.
template <class T, class C = T, class B = T>
testing::AssertionResult run(gemm_case g, std::uint64_t seed) {
  using scalar = scaled_as<T, C>;
  const auto alpha = scalar_for<scalar>(g.alpha, g.alpha_imag),
             beta = scalar_for<scalar>(g.beta, g.beta_imag);
  std::mt19937_64 rng(seed);
  const bool ta = g.op_a != op::N, tb = g.op_b != op::N;
  stored_matrix<T> a(ta ? g.k : g.m, ta ? g.m : g.k, g.a, g.gap, g.offset);
  stored_matrix<B> b(tb ? g.n : g.k, tb ? g.k : g.n, g.b, g.gap, g.offset);
  stored_matrix<C> c(g.m, g.n, g.c, g.gap, g.offset);

  // Around the matrices lies poison; a kernel that reads too far shows.
  a.fill_all(poison<T>), b.fill_all(poison<B>), c.fill_all(poison<C>);
  const bool reads_ab = alpha != scalar_for<scalar>(0);
  const auto fill = [&]<class E>(stored_matrix<E>& x) {
    for (index_t i = 0; i < x.view.rows; ++i)
      for (index_t j = 0; j < x.view.cols; ++j) x.at(i, j) = reads_ab ? random_value<E>(rng) : poison<E>();
  };
  fill(a), fill(b);
  if (beta != scalar_for<scalar>(0))
    for (index_t i = 0; i < g.m; ++i)
      for (index_t j = 0; j < g.n; ++j) c.at(i, j) = random_value<C>(rng);
  a.upload(), b.upload(), c.upload();
  std::vector<C> before(c.host.extent(0));
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = c.host(i);

  queue q;
  gemm_options options{.op_a = g.op_a, .op_b = g.op_b, .block = g.block, .compute = g.compute};
  gemm_plan plan = plan_gemm(q, a.view, b.view, c.view, options);
  if (g.change_plan) {
    g.change_plan(plan);
    options = {.op_a = g.op_a, .op_b = g.op_b, .plan = plan, .compute = g.compute};
  }
  gemm(q, alpha, a.view, b.view, beta, c.view, options);
  q.wait();
  c.download();

  std::vector<bool> in_c(before.size(), false);
  const index_t base = c.view.data - c.device.data();
  for (index_t i = 0; i < g.m; ++i)
    for (index_t j = 0; j < g.n; ++j) {
      const index_t at = base + i * c.view.row_stride + j * c.view.col_stride;
      in_c[at] = true;
      element_judge<T, C> judge(alpha, beta, rounding_of_products<T>(g.compute));
      for (index_t p = 0; reads_ab && p < g.k; ++p)
        judge.add(with_op(g.op_a, ta ? a.at(p, i) : a.at(i, p)),
                  with_op(g.op_b, tb ? b.at(j, p) : b.at(p, j)));
      if (!judge.accepts(c.at(i, j), before[at]))
        return testing::AssertionFailure()
               << g.describe() << " seed " << seed << ": C(" << i << ", " << j << ") is "
               << printable(c.at(i, j)) << ", not " << judge.expected(before[at]) << ", bound "
               << judge.bound(before[at]) << "\n"
               << to_string(plan);
    }
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!in_c[i] && std::memcmp(&before[i], &c.host(i), sizeof(C)) != 0)
      return testing::AssertionFailure()
             << g.describe() << " seed " << seed << ": wrote outside C, at element " << i;
  return testing::AssertionSuccess();
}

/// Changes a plan of one part to copy the operands first, in bands, and to leave a strip of ten rows to a part of its own: what
/// the library does for large products alone. `k_tile` is that of hosts, if not 0.
inline void pack_and_cut(gemm_plan& plan, int k_tile = 0) {
  constexpr bool on_host = backend::traits<default_execution_space>::is_host;
  ASSERT_EQ(plan.size, 1);
  gemm_part& part = plan.parts[0];
  ASSERT_GT(part.m, 10);
  part.split = {};
  part.pack_b = true, part.band_n = 80;
  if (on_host) {
    if (part.path != gemm_path::tiled)  // whole panels of any instruction set
      part.path = gemm_path::tiled, part.block = {48, 48, 64}, part.band_m = part.m;
    if (k_tile > 0) part.block.k = k_tile;
  } else {
    ASSERT_EQ(part.path, gemm_path::tiled);
    part.pack_a = true, part.band_m = 130;
  }
  part.m -= 10;
  plan.parts[1] = part;
  plan.parts[1].m0 = part.m, plan.parts[1].m = 10;
  plan.size = 2;
}

/// A fresh seed each run, printed so that a failure can be repeated with KERAMOS_TEST_SEED.
inline std::uint64_t fresh_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("KERAMOS_TEST_SEED");
    const std::uint64_t s = given ? std::strtoull(given, nullptr, 0) : std::random_device()();
    std::printf("KERAMOS_TEST_SEED=%llu\n", static_cast<unsigned long long>(s));
    return s;
  }();
  return seed;
}

}  // namespace keramos::test
