// Products with an epilogue of the caller's, with every op of A and B and every mix of layouts; of whole numbers, whose sums are
// exact.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <type_traits>
#include <vector>

#include <keramos/gemm/fused.hpp>

#include "batched_case.hpp"
#include "fused_case.hpp"
#include "ops_and_layouts.hpp"

namespace keramos::test {

/// `expected(sum, i, j, batch)` is what the epilogue makes of a sum, as an element of C. Batches too, as they lie, by addresses
/// and listed, but on hosts alone: on GPUs each epilogue's kernels for these take minutes to compile.
template <class A, class B, class C, class Epilogue, class Expected>
void expect_with_every_op_and_layout(const Epilogue& epilogue, const Expected& expected) {
  constexpr index_t batch = 2, m = 13, n = 9, k = 21;
  std::mt19937_64 rng(fresh_seed());
  queue q;
  for_ops_and_layouts([&](op op_a, op op_b, layout la, layout lb, layout lc) {
    if (testing::Test::HasFailure()) return;
    const bool ta = op_a != op::N, tb = op_b != op::N;
    stored_batch<A> a(batch, ta ? k : m, ta ? m : k, la, spacing::apart, 2, 1);
    stored_batch<B> b(batch, tb ? n : k, tb ? k : n, lb, spacing::apart, 1, 2);
    stored_batch<C> c(batch, m, n, lc, spacing::apart, 3, 1);
    a.fill_all(poison<A>), b.fill_all(poison<B>);
    a.fill_matrices([&] { return small<A>(rng); });
    b.fill_matrices([&] { return small<B>(rng); });
    a.upload(), b.upload();
    const auto judge = [&](const char* form, index_t count, const auto& call) {
      c.fill_all(poison<C>);
      c.upload();
      call();
      q.wait();
      record_support(form, a.view, b.view, c.view, op_a, op_b);
      c.download();
      for (index_t l = 0; l < count; ++l)
        for (index_t i = 0; i < m; ++i)
          for (index_t j = 0; j < n; ++j) {
            const auto sum =
                reference::product_element(a.applied(l, op_a), b.applied(l, op_b), i, j, k).value;
            ASSERT_TRUE(c.at(l, i, j) == expected(sum, i, j, l))
                << form << ' ' << char(op_a) << char(op_b) << " layouts " << int(la) << int(lb) << int(lc)
                << ": C[" << l << "](" << i << ", " << j << ") is " << printable(c.at(l, i, j)) << ", not "
                << printable(expected(sum, i, j, l));
          }
    };
    judge("epilogue", 1,
          [&] { gemm(q, a.view[0], b.view[0], c.view[0], epilogue, {.op_a = op_a, .op_b = op_b}); });
    if constexpr (backend::traits<default_execution_space>::is_host) {
      const gemm_batched_options options{.op_a = op_a, .op_b = op_b};
      judge("batched epilogue", batch, [&] { gemm_batched(q, a.view, b.view, c.view, epilogue, options); });
      judge("batched epilogue", batch, [&] {
        const stored_addresses<A> of_a(a.view);
        const stored_addresses<B> of_b(b.view, true);
        const stored_addresses<C> of_c(c.view);
        gemm_batched(q, of_a.array, of_b.array, of_c.array, epilogue, options).wait();
      });
      judge("batched epilogue", batch, [&] {
        const std::vector of_a{a.view[0], a.view[1]};
        const std::vector of_b{b.view[0], b.view[1]};
        const std::vector of_c{c.view[0], c.view[1]};
        gemm_batched(q, of_a, of_b, of_c, epilogue, options);
      });
    }
  });
}

}  // namespace keramos::test
