// One batched GEMM under test: every matrix of a batch is judged like the C of gemm_case.hpp.
#pragma once

#include <memory>
#include <vector>

#include "gemm_case.hpp"

namespace keramos::test {

/// How a batch lies: each matrix after the other, or the batch as the fastest index, or matrices apart by
/// more than their size, or the same matrix for all.
enum class spacing { packed, interleaved, apart, shared };

struct batch_placement : placement {
  batch_placement(index_t batch, index_t rows, index_t cols, layout l, spacing s, index_t gap,
                  index_t offset);

  index_t stride;
};

/// A batch in a storage of its own that is larger than it: what surrounds it must stay as it was.
template <class T>
struct stored_batch {
  stored_batch(index_t batch, index_t rows, index_t cols, layout l, spacing s, index_t gap, index_t offset)
      : stored_batch(batch, rows, cols, batch_placement(batch, rows, cols, l, s, gap, offset)) {}

  T& at(index_t b, index_t i, index_t j) {
    return matrix_.host(offset_ + b * view.batch_stride + i * view.row_stride + j * view.col_stride);
  }
  /// op of a matrix as the host has it.
  reference::operand<T> applied(index_t b, op o = op::N) const {
    const T* const first = matrix_.host.data() + offset_ + b * view.batch_stride;
    return o == op::N ? reference::operand<T>{first, view.row_stride, view.col_stride}
                      : reference::operand<T>{first, view.col_stride, view.row_stride, o == op::C};
  }
  const stored_matrix<T>& storage() const { return matrix_; }
  std::vector<T> content() const {
    return {matrix_.host.data(), matrix_.host.data() + matrix_.host.extent(0)};
  }
  void upload() { matrix_.upload(); }
  void download() { matrix_.download(); }
  template <class F>
  void fill_all(const F& f) {
    matrix_.fill_all(f);
  }
  template <class F>
  void fill_matrices(const F& f) {
    for (index_t b = 0; b < view.batch; ++b)
      for (index_t i = 0; i < view.rows; ++i)
        for (index_t j = 0; j < view.cols; ++j) at(b, i, j) = f();
  }

 private:
  stored_batch(index_t batch, index_t rows, index_t cols, const batch_placement& at)
      : matrix_(at.size, 1, layout::left, 0, 0),
        offset_(at.offset),
        view{matrix_.device.data() + at.offset, batch, rows, cols, at.stride, at.down, at.along} {}

  stored_matrix<T> matrix_;
  index_t offset_;

 public:
  batched_matrix_view<T> view;
};

/// The matrices of a batch by their addresses, which lie where the device reads them, as long as this lives: one behind the
/// other, or each in a matrix_view.
template <class T>
class stored_addresses {
 public:
  explicit stored_addresses(const batched_matrix_view<T>& v, bool in_views = false)
      : addresses_(std::size_t(v.batch) * sizeof(matrix_view<T>)),
        array(matrix_array<T>::from(static_cast<T* const*>(addresses_.device()), v.batch, v[0])) {
    if (in_views) array.step = sizeof(matrix_view<T>);
    for (index_t b = 0; b < v.batch; ++b) {
      T* const address = v[b].data;
      std::memcpy(static_cast<char*>(addresses_.host()) + b * array.step, &address, sizeof address);
    }
    addresses_.upload();
  }

 private:
  stored_bytes addresses_;

 public:
  matrix_array<T> array;
};

struct batched_case {
  index_t batch, m, n, k;
  op op_a = op::N, op_b = op::N;
  layout a = layout::right, b = layout::right, c = layout::right;
  spacing space_a = spacing::packed, space_b = spacing::packed, space_c = spacing::packed;
  index_t gap = 0, offset = 0;
  double alpha = 1, beta = 0;
  double alpha_imag = 0, beta_imag = 0;  ///< of complex products
  gemm_compute compute = gemm_compute::standard;

  std::string describe() const;
};

/// Runs the case with `call(queue, alpha, A, B, beta, C, options)` on batched_matrix_views and judges every
/// element of C, and every element around it. `form` is what record_support calls it.
template <class T, class C = T, class B = T, class Call>
testing::AssertionResult run_batched(batched_case g, std::uint64_t seed, const Call& call,
                                     const char* form = "strided batch") {
  using number = wider_element<T, B>;
  using scalar = scaled_as<number, C>;
  const auto alpha = scalar_for<scalar>(g.alpha, g.alpha_imag),
             beta = scalar_for<scalar>(g.beta, g.beta_imag);
  const auto zero = scalar_for<scalar>(0);
  std::mt19937_64 rng(seed);
  const bool ta = g.op_a != op::N, tb = g.op_b != op::N;
  stored_batch<T> a(g.batch, ta ? g.k : g.m, ta ? g.m : g.k, g.a, g.space_a, g.gap, g.offset);
  stored_batch<B> b(g.batch, tb ? g.n : g.k, tb ? g.k : g.n, g.b, g.space_b, g.gap, g.offset);
  stored_batch<C> c(g.batch, g.m, g.n, g.c, g.space_c, g.gap, g.offset);
  a.fill_all(poison<T>), b.fill_all(poison<B>), c.fill_all(poison<C>);
  if (alpha != zero) {
    a.fill_matrices([&] { return random_value<T>(rng); });
    b.fill_matrices([&] { return random_value<B>(rng); });
  }
  if (beta != zero) c.fill_matrices([&] { return random_value<C>(rng); });
  a.upload(), b.upload(), c.upload();
  judged_storage<C> judged(c.storage());

  queue q;
  call(q, alpha, a.view, b.view, beta, c.view, gemm_batched_options{g.op_a, g.op_b, g.compute});
  q.wait();
  record_support(form, a.view, b.view, c.view, g.op_a, g.op_b, g.compute);
  c.download();

  const auto how = arithmetic_of<number>(g.compute);
  const reference::element_judge<number, C> judge(alpha, beta, how);
  for (index_t l = 0; l < g.batch; ++l)
    if (auto result = judged.judge(judge, a.applied(l, g.op_a), b.applied(l, g.op_b), c.applied(l), g.m, g.n,
                                   alpha != zero ? g.k : 0, how);
        !result)
      return result << ", of matrix " << l << "; " << g.describe() << " seed " << seed;
  auto result = judged.judge_rest();
  if (!result) result << "; " << g.describe() << " seed " << seed;
  return result;
}

/// The case as gemm_batched takes it best.
template <class T, class C = T, class B = T>
testing::AssertionResult run(const batched_case& g, std::uint64_t seed) {
  return run_batched<T, C, B>(g, seed, [](auto&&... arguments) { gemm_batched(arguments...); });
}

/// The case by the addresses of its matrices.
template <class T, class C = T, class B = T>
testing::AssertionResult run_by_addresses(const batched_case& g, std::uint64_t seed) {
  const auto call = [](queue& q, auto alpha, const auto& a, const auto& b, auto beta, const auto& c,
                       const gemm_batched_options& options) {
    stored_addresses<T> of_a(a);
    stored_addresses<B> of_b(b, true);
    const stored_addresses<C> of_c(c);
    const auto say_alignment = [](auto& addresses, const auto& v) {
      const auto first = reinterpret_cast<std::uintptr_t>(v.data);
      if (first % 16 == 0 && v.batch_stride * sizeof(*v.data) % 16 == 0) addresses.array.alignment = 16;
    };
    say_alignment(of_a, a), say_alignment(of_b, b);
    gemm_batched(q, alpha, of_a.array, of_b.array, beta, of_c.array, options).wait();
  };
  return run_batched<T, C, B>(g, seed, call, "pointer array");
}

/// C[i] = alpha·op(A[i])·B[i] for a list of matrices of all layouts and of random extents, each element judged. If extents are
/// to be multiples of something, A is row-major, B column-major, and nothing lies between rows or columns; one problem is
/// wide then, which alone is transposed, and one is tall. Of many problems each is small, and one has no terms.
template <class T, class C = T, class B = T>
testing::AssertionResult run_list(op op_a, std::uint64_t seed, gemm_compute compute = gemm_compute::standard,
                                  int multiples_of = 1, int count = 9) {
  std::mt19937_64 rng(seed);
  const bool many = count > 9;
  std::vector<stored_matrix<T>> a;
  std::vector<stored_matrix<B>> b;
  std::vector<stored_matrix<C>> c;
  std::vector<matrix_view<T>> av;
  std::vector<matrix_view<B>> bv;
  std::vector<matrix_view<C>> cv;
  const bool ta = op_a != op::N;
  for (int i = 0; i < count; ++i) {
    const bool any = multiples_of == 1;
    const auto extent = [&] { return multiples_of * index_t(1 + rng() % (any ? 90 : many ? 7 : 20)); };
    index_t m = extent(), n = extent();
    const index_t k = many && i == 5 ? 0 : extent();
    if (!any && !many && i < 2) m = multiples_of * (i == 0 ? 2 : 20), n = multiples_of * (i == 0 ? 20 : 2);
    a.emplace_back(ta ? k : m, ta ? m : k, any ? layout(i % 3) : layout::right, any ? i : 0, 0);
    b.emplace_back(k, n, any ? layout(i / 3) : layout::left, 0, any ? i : 0);
    c.emplace_back(m, n, layout::right, 0, 0);
    a[i].fill_all([&] { return random_value<T>(rng); }), b[i].fill_all([&] { return random_value<B>(rng); });
    a[i].upload(), b[i].upload();
    av.push_back(a[i].view), bv.push_back(b[i].view), cv.push_back(c[i].view);
  }
  queue q;
  constexpr scaled_as<int, C> alpha = 2 * scale_to<C>;
  gemm_batched(q, alpha, av, bv, 0, cv, {.op_a = op_a, .compute = compute});
  q.wait();
  using number = wider_element<T, B>;
  const auto how = arithmetic_of<number>(compute);
  for (int l = 0; l < count; ++l) {
    judged_storage<C> judged(c[l]);
    record_support("list", a[l].view, b[l].view, c[l].view, op_a, op::N, compute);
    c[l].download();
    auto result =
        judged.judge(reference::element_judge<number, C>(alpha, decltype(alpha)(0), how), a[l].applied(op_a),
                     b[l].applied(), c[l].applied(), cv[l].rows, cv[l].cols, bv[l].rows, how);
    if (!result) return result << ", of matrix " << l << "; seed " << seed;
  }
  return testing::AssertionSuccess();
}

}  // namespace keramos::test
