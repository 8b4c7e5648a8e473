// One GEMM under test: operands anywhere in memory with any strides, a reference in higher precision, and
// an element-by-element judgement by the forward error bound.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <keramos/gemm/host/kernels.hpp>
#include <keramos/gemm/reference.hpp>
#include <keramos/keramos.hpp>

#include "random_value.hpp"
#include "reference_sums.hpp"
#include "stored_bytes.hpp"
#include "support.hpp"

namespace keramos::test {

/// Those of A, B and C, for typed tests.
template <class A, class B, class C>
struct elements {
  using a = A;
  using b = B;
  using c = C;
};

using reference::is_quantized, reference::sum_t, reference::wider_element;

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

/// How a matrix lies: unit stride along rows or columns, or none; `gap` extra elements between runs.
enum class layout { right, left, strided };

/// The strides of a matrix and how many elements it takes, in a storage of its own.
struct placement {
  placement(index_t rows, index_t cols, layout l, index_t gap, index_t offset);

  index_t offset, down, along, size;
};

/// A matrix in a storage of its own that is larger than it: what surrounds it must stay as it was.
template <class T>
struct stored_matrix {
  stored_matrix(index_t rows, index_t cols, layout l, index_t gap, index_t offset)
      : stored_matrix(rows, cols, placement(rows, cols, l, gap, offset)) {}

  T& at(index_t i, index_t j) { return host(offset_ + i * view.row_stride + j * view.col_stride); }
  /// op of the matrix as the host has it.
  reference::operand<T> applied(op o = op::N) const {
    const T* const first = host.data() + offset_;
    return o == op::N ? reference::operand<T>{first, view.row_stride, view.col_stride}
                      : reference::operand<T>{first, view.col_stride, view.row_stride, o == op::C};
  }
  void upload() { bytes_.upload(); }
  void download() { bytes_.download(); }

  template <class F>
  void fill_all(const F& f) {
    for (std::size_t i = 0; i < host.extent(0); ++i) host(i) = f();
  }

 private:
  stored_matrix(index_t rows, index_t cols, const placement& at)
      : bytes_(std::size_t(at.size) * sizeof(T)),
        offset_(at.offset),
        device(bytes_.device(), at.size),
        host(bytes_.host(), at.size),
        view{device.data() + at.offset, rows, cols, at.down, at.along} {}

  stored_bytes bytes_;
  index_t offset_;

 public:
  elements_of_storage<T> device, host;
  matrix_view<T> view;
};

/// Memory that must not be read: NaN where there is one.
template <class T>
T poison() {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(0xdeadbeef);
  else if constexpr (complex_like<T>)
    return T(poison<typename T::value_type>(), poison<typename T::value_type>());
  else
    return T(std::numeric_limits<sum_t<T>>::quiet_NaN());
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

  std::string describe() const;
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

/// How products of elements of type T may differ here from what their types promise.
template <class T>
reference::arithmetic arithmetic_of(gemm_compute compute = gemm_compute::standard) {
  constexpr bool on_host = backend::traits<default_execution_space>::is_host;
  auto how =
      reference::arithmetic_of(compute == gemm_compute::tf32           ? scalar_type::tf32
                               : compute == gemm_compute::f32_emulated ? scalar_type::tf32x3
                                                                       : detail::scalar_type_of<T>::value,
                               on_host);
  if constexpr (on_host && std::is_same_v<T, bfloat16>) {
    const std::string_view isa = detail::host::kernels<detail::types_of<T, T, float>>().isa;
    how.flushes = isa == "avx512_bf16" || isa == "amx";
  }
  return how;
}

/// C's storage before a product; after it elements are judged, and the others must be as they were.
template <class C>
class judged_storage {
 public:
  explicit judged_storage(const stored_matrix<C>& c)
      : c_(c), before_(c.host.data(), c.host.data() + c.host.extent(0)), in_c_(before_.size(), false) {}

  /// m x n elements that begin `c`, whose sums have k products; what is wrong with one.
  template <class T, class A, class B>
  testing::AssertionResult judge(const reference::element_judge<T, C>& judge, const reference::operand<A>& a,
                                 const reference::operand<B>& b, const reference::operand<C>& c, index_t m,
                                 index_t n, index_t k,
                                 const reference::arithmetic& how = arithmetic_of<T>()) {
    const reference_sums sums(a, b, m, n, k, how);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        const index_t at = c.data - c_.host.data() + i * c.row_stride + j * c.col_stride;
        in_c_[at] = true;
        const auto sum = sums(i, j);
        if (!judge.accepts(c(i, j), sum, before_[at]))
          return testing::AssertionFailure()
                 << "C(" << i << ", " << j << ") is " << printable(c(i, j)) << ", not "
                 << judge.expected(sum, before_[at]) << ", bound " << judge.bound(sum, before_[at]);
      }
    return testing::AssertionSuccess();
  }
  /// Once all are judged.
  testing::AssertionResult judge_rest() const {
    for (std::size_t i = 0; i < before_.size(); ++i)
      if (!in_c_[i] && std::memcmp(&before_[i], &c_.host(i), sizeof(C)) != 0)
        return testing::AssertionFailure() << "wrote outside C, at element " << i;
    return testing::AssertionSuccess();
  }

 private:
  const stored_matrix<C>& c_;
  std::vector<C> before_;
  std::vector<bool> in_c_;
};

/// Runs the case with A of type T and B of type B, judges every element of C, of type C, and every element around it.
template <class T, class C = T, class B = T>
testing::AssertionResult run(gemm_case g, std::uint64_t seed) {
  using number = wider_element<T, B>;
  using scalar = scaled_as<number, C>;
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
  judged_storage<C> judged(c);

  queue q;
  gemm_options options{.op_a = g.op_a, .op_b = g.op_b, .block = g.block, .compute = g.compute};
  gemm_plan plan = plan_gemm(q, a.view, b.view, c.view, options);
  if (g.change_plan) {
    g.change_plan(plan);
    options = {.op_a = g.op_a, .op_b = g.op_b, .plan = plan, .compute = g.compute};
  }
  gemm(q, alpha, a.view, b.view, beta, c.view, options);
  q.wait();
  record_support("product", a.view, b.view, c.view, g.op_a, g.op_b, g.compute);
  c.download();

  const auto how = arithmetic_of<number>(g.compute);
  auto result = judged.judge(reference::element_judge<number, C>(alpha, beta, how), a.applied(g.op_a),
                             b.applied(g.op_b), c.applied(), g.m, g.n, reads_ab ? g.k : 0, how);
  if (result) result = judged.judge_rest();
  if (!result) result << "; " << g.describe() << " seed " << seed << "\n" << to_string(plan);
  return result;
}

/// Changes a plan of one part to copy the operands first, in bands, and to leave a strip of ten rows to a part of its own: what
/// the library does for large products alone. `k_tile` is that of hosts, if not 0.
void pack_and_cut(gemm_plan& plan, int k_tile = 0);

/// A fresh seed each run, printed so that a failure can be repeated with KERAMOS_TEST_SEED.
std::uint64_t fresh_seed();

}  // namespace keramos::test
