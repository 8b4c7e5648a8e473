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

/// A problem of a list, whose matrices lie as those of gemm_case.
struct list_member {
  index_t m, n, k;
  layout a = layout::right, b = layout::right, c = layout::right;
  index_t gap = 0, offset = 0;
};

struct list_case {
  std::vector<list_member> members;
  op op_a = op::N, op_b = op::N;
  double alpha = 1, beta = 0;
  double alpha_imag = 0, beta_imag = 0;  ///< of complex products
  gemm_compute compute = gemm_compute::standard;
};

/// A list of random extents, with every mix of layouts of A and B among nine. If extents are to be multiples of something, A is
/// row-major, B column-major, and nothing lies between rows or columns; one problem is wide then, which alone is transposed, and
/// one is tall. Of many problems each is small, and one has no terms.
list_case random_list(op op_a, std::uint64_t seed, int multiples_of = 1, int count = 9);
/// A list with every mix of layouts, of small matrices.
list_case list_of_every_layout(op op_a, op op_b);

/// Runs the case as one list and judges every element of every C, and every element around it.
template <class T, class C = T, class B = T>
testing::AssertionResult run(const list_case& g, std::uint64_t seed) {
  using number = wider_element<T, B>;
  using scalar = scaled_as<number, C>;
  const auto alpha = scalar_for<scalar>(g.alpha, g.alpha_imag),
             beta = scalar_for<scalar>(g.beta, g.beta_imag);
  const auto zero = scalar_for<scalar>(0);
  std::mt19937_64 rng(seed);
  const bool ta = g.op_a != op::N, tb = g.op_b != op::N;
  const auto add = [&]<class E>(std::vector<stored_matrix<E>>& to, index_t rows, index_t cols, layout l,
                                const list_member& x, bool is_read) {
    auto& matrix = to.emplace_back(rows, cols, l, x.gap, x.offset);
    matrix.fill_all(poison<E>);
    for (index_t i = 0; is_read && i < rows; ++i)
      for (index_t j = 0; j < cols; ++j) matrix.at(i, j) = random_value<E>(rng);
    matrix.upload();
    return matrix.view;
  };
  std::vector<stored_matrix<T>> a;
  std::vector<stored_matrix<B>> b;
  std::vector<stored_matrix<C>> c;
  std::vector<matrix_view<const T>> av;
  std::vector<matrix_view<const B>> bv;
  std::vector<matrix_view<C>> cv;
  for (const list_member& x : g.members) {
    av.push_back(add(a, ta ? x.k : x.m, ta ? x.m : x.k, x.a, x, alpha != zero));
    bv.push_back(add(b, tb ? x.n : x.k, tb ? x.k : x.n, x.b, x, alpha != zero));
    cv.push_back(add(c, x.m, x.n, x.c, x, beta != zero));
  }
  std::vector<judged_storage<C>> judged(c.begin(), c.end());

  queue q;
  gemm_batched(q, alpha, av, bv, beta, cv, {.op_a = g.op_a, .op_b = g.op_b, .compute = g.compute});
  q.wait();
  const auto how = arithmetic_of<number>(g.compute);
  const reference::element_judge<number, C> judge(alpha, beta, how);
  for (std::size_t l = 0; l < g.members.size(); ++l) {
    const auto& [m, n, k, of_a, of_b, of_c, gap, offset] = g.members[l];
    record_support("list", a[l].view, b[l].view, c[l].view, g.op_a, g.op_b, g.compute);
    c[l].download();
    auto result = judged[l].judge(judge, a[l].applied(g.op_a), b[l].applied(g.op_b), c[l].applied(), m, n,
                                  alpha != zero ? k : 0, how);
    if (result) result = judged[l].judge_rest();
    if (!result)
      return result << "; problem " << l << " of " << g.members.size() << " (" << m << 'x' << n << 'x' << k
                    << ' ' << char(g.op_a) << char(g.op_b) << " layouts " << int(of_a) << int(of_b)
                    << int(of_c) << " gap " << gap << " offset " << offset << "), seed " << seed;
  }
  return testing::AssertionSuccess();
}

}  // namespace keramos::test
