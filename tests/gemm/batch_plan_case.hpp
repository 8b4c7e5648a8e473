// Batches and lists that are multiplied with plans.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "batched_case.hpp"

namespace keramos::test {

inline constexpr bool on_host = backend::traits<default_execution_space>::is_host;

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

/// A batch of one shape, filled at random.
template <class T>
struct batches {
  stored_batch<T> a, b, c;

  batches(index_t count, index_t m, index_t n, index_t k, layout l = layout::right,
          spacing s = spacing::packed, spacing of_b = spacing::packed)
      : a(count, m, k, l, s, 0, 0), b(count, k, n, l, of_b, 0, 0), c(count, m, n, l, s, 0, 0) {
    std::mt19937_64 rng(std::uint64_t(count) * 131 + std::uint64_t(m) * 7919 + n * 31 + k);
    a.fill_all([&] { return random_value<T>(rng); }), b.fill_all([&] { return random_value<T>(rng); });
    a.upload(), b.upload();
  }

  gemm_batch_plan plan() {
    queue q;
    return plan_gemm_batched(q, a.view, b.view, c.view);
  }
  std::vector<T> product(const gemm_batched_options& options) {
    return product_by([&](queue& q) { gemm_batched(q, 1, a.view, b.view, 0, c.view, options); });
  }
  bool is_untouched() {
    c.download();
    const auto all = c.content();
    return std::all_of(all.begin(), all.end(), [](T x) { return x != x; });
  }
  template <class Call>
  std::vector<T> product_by(const Call& call) {
    queue q;
    c.fill_all(poison<T>);
    c.upload();
    call(q);
    q.wait();
    c.download();
    return c.content();
  }
};

/// A list of problems of some extents, in all layouts, filled at random.
template <class T>
struct list_of {
  std::vector<stored_matrix<T>> a, b, c;
  std::vector<matrix_view<T>> av, bv, cv;

  explicit list_of(const std::vector<tiling::shape>& extents, std::uint64_t seed = fresh_seed()) {
    std::mt19937_64 rng(seed);
    int i = 0;
    for (const auto& s : extents) {
      const layout l[] = {layout(i % 3), layout(i / 3 % 3), layout(i / 2 % 3)};
      a.emplace_back(s.m, s.k, l[0], i % 2, 0), b.emplace_back(s.k, s.n, l[1], 0, i % 4);
      c.emplace_back(s.m, s.n, l[2], i % 3, 0);
      for (auto* x : {&a.back(), &b.back()}) x->fill_all([&] { return random_value<T>(rng); }), x->upload();
      av.push_back(a.back().view), bv.push_back(b.back().view), cv.push_back(c.back().view);
      ++i;
    }
  }
  gemm_batch_plan plan() {
    queue q;
    return plan_gemm_batched(q, av, bv, cv);
  }
  gemm_plan plan_of(std::size_t i) {
    queue q;
    return plan_gemm(q, av[i], bv[i], cv[i]);
  }
  std::vector<T> product(const gemm_batched_options& options) {
    for (auto& x : c) x.fill_all(poison<T>), x.upload();
    queue q;
    gemm_batched(q, 1, av, bv, 0, cv, options);
    q.wait();
    std::vector<T> all;
    for (auto& x : c) {
      x.download();
      all.insert(all.end(), x.host.data(), x.host.data() + x.host.extent(0));
    }
    return all;
  }
  bool is_untouched() {
    return std::all_of(c.begin(), c.end(), [](stored_matrix<T>& x) {
      x.download();
      return std::all_of(x.host.data(), x.host.data() + x.host.extent(0), [](T e) { return e != e; });
    });
  }
  /// Whether what product() left is right.
  testing::AssertionResult judge() {
    const reference::element_judge<T> judge(1, 0);
    for (std::size_t l = 0; l < c.size(); ++l) {
      const reference_sums sums(a[l].applied(), b[l].applied(), cv[l].rows, cv[l].cols, av[l].cols);
      for (index_t i = 0; i < cv[l].rows; ++i)
        for (index_t j = 0; j < cv[l].cols; ++j)
          if (!judge.accepts(c[l].at(i, j), sums(i, j), T(0)))
            return testing::AssertionFailure()
                   << "C[" << l << "](" << i << ", " << j << ") is " << c[l].at(i, j);
    }
    return testing::AssertionSuccess();
  }
};

inline const std::vector<tiling::shape> small_ones{{3, 4, 5}, {32, 20, 17}, {1, 30, 32},
                                                   {8, 8, 0}, {0, 4, 3},    {16, 16, 16}};
inline const std::vector<tiling::shape> mixed_ones{{200, 150, 170}, {4, 4, 4},       {0, 40, 9},
                                                   {65, 129, 0},    {150, 190, 160}, {33, 70, 90},
                                                   {128, 64, 1},    {300, 80, 240}};

}  // namespace keramos::test
