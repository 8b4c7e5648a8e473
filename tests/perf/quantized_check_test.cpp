// The judgement of a C of eight-bit integers: right results pass, and each kind of wrong one is found.
#include "measure/core/quantized_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "measure/core/host_workspace.hpp"

namespace keramos::perf {
namespace {

using i8 = std::int8_t;

struct product {
  gemm_case g;
  std::uint64_t seed = std::random_device()();
  host_workspace data;
  std::vector<i8> c;
  std::vector<float> exact;  // of each element, before it was rounded

  explicit product(const gemm_case& of) : g(of), data(g, 1, seed) {
    const auto& set = data.operands().front();
    const auto* const a = static_cast<const i8*>(set.a);
    const auto* const b = static_cast<const i8*>(set.b);
    const auto* const c0 = static_cast<const i8*>(set.c);
    c.resize(g.c_bytes()), exact.resize(c.size());
    const placed_problems places(g);
    for (std::int64_t l = 0; l < g.products(); ++l) {
      const auto place = places[l];
      const auto one = one_of(g, place.extents);
      const auto at_a = strides_of_op_a(one), at_b = strides_of_op_b(one), at_c = strides_of_c(one);
      for (std::int64_t i = 0; i < one.m; ++i)
        for (std::int64_t j = 0; j < one.n; ++j) {
          int sum = 0;
          for (std::int64_t p = 0; p < one.k; ++p)
            sum += a[place.a + i * at_a.row + p * at_a.col] * b[place.b + p * at_b.row + j * at_b.col];
          const auto at = place.c + i * at_c.row + j * at_c.col;
          exact[at] = float(alpha_of_sums(g)) * float(sum) + float(g.beta) * float(g.beta != 0 ? c0[at] : 0);
          c[at] = i8(std::clamp(std::nearbyint(exact[at]), -128.f, 127.f));
        }
    }
  }
  verdict judged(double limit = 1e9) {
    const auto& set = data.operands().front();
    return (*make_quantized_check(g, set.a, set.b, set.c, seed, limit))(c.data());
  }
};

gemm_case of(std::int64_t m, std::int64_t n, std::int64_t k, double beta = 0, std::int64_t batch = 0) {
  gemm_case g;
  g.type = data_type::i8;
  g.m = m, g.n = n, g.k = k, g.beta = beta, g.batch = batch;
  return g;
}

TEST(QuantizedCheck, RightResultsPassInEveryOpAndLayout) {
  for (const auto op_a : {transpose::N, transpose::T})
    for (const auto op_b : {transpose::N, transpose::T})
      for (const auto layout : {matrix_layout::right, matrix_layout::left})
        for (const std::int64_t batch : {0, 3}) {
          auto g = of(37, 29, 150, 0.5, batch);
          g.op_a = op_a, g.op_b = op_b, g.layout = layout;
          product p(g);
          const auto v = p.judged();
          EXPECT_TRUE(v.passed) << v.where << ": " << v.error << " of " << v.bound << ", seed " << p.seed;
          EXPECT_GT(v.error, 0);
          EXPECT_LT(v.bound, 0.501);
        }
}

TEST(QuantizedCheck, ListsOfProblemsOfDifferentSizes) {
  for (const auto layout : {matrix_layout::right, matrix_layout::left})
    for (const double limit : {1e9, 1.0}) {
      auto g = of(0, 0, 0);
      g.layout = layout, g.op_b = transpose::T;
      g.make_grouped("list", {{37, 29, 150}, {0, 29, 150}, {5, 64, 40}});
      product p(g);
      const auto v = p.judged(limit);
      EXPECT_TRUE(v.passed) << v.where << ", seed " << p.seed;
      p.c.back() ^= 0x40;
      EXPECT_EQ(p.judged(limit).where, "element (4, 63) of matrix 2") << "seed " << p.seed;
    }
}

// Elements are spread over C's range, and some are beyond it: otherwise wrong ones could look right.
TEST(QuantizedCheck, DataReachAllOfTheRange) {
  const product p(of(100, 100, 300));
  const auto at_limits = std::count_if(p.c.begin(), p.c.end(), [](i8 x) { return x == 127 || x == -128; });
  EXPECT_GT(at_limits, 100) << "seed " << p.seed;
  EXPECT_LT(at_limits, 1200) << "seed " << p.seed;
  EXPECT_GT(std::count_if(p.c.begin(), p.c.end(), [](i8 x) { return std::abs(x) > 30; }), 4000) << p.seed;
}

// The wrong one is on the other side of the exact value: where that is close to the middle of two whole numbers, both are right.
TEST(QuantizedCheck, AnElementThatIsOneOffIsFound) {
  for (const std::int64_t batch : {0, 3}) {
    product p(of(37, 29, 150, 0, batch));
    const auto last = (p.g.products() - 1) * 37 * 29;
    auto at = last + 20 * 29 + 11;
    while (p.c[at] == -128 || p.c[at] == 127) ++at;  // has no other side
    p.c[at] = i8(p.c[at] + (p.exact[at] < float(p.c[at]) ? 1 : -1));
    const auto v = p.judged();
    EXPECT_FALSE(v.passed) << "seed " << p.seed;
    EXPECT_EQ(v.where, fmt::format("element ({}, {}){}", (at - last) / 29, (at - last) % 29,
                                   batch > 0 ? " of matrix 2" : ""));
  }
}

TEST(QuantizedCheck, WhatWrapsInsteadOfBeingClampedIsFound) {
  product p(of(60, 60, 200));
  const auto at = std::find(p.c.begin(), p.c.end(), i8(127));
  ASSERT_NE(at, p.c.end()) << "seed " << p.seed;
  *at = -120;
  EXPECT_FALSE(p.judged().passed) << "seed " << p.seed;
}

// Of large products rows are judged: a block of wrong elements lies across some, and the last row is one of them.
TEST(QuantizedCheck, LargeProductsAreJudgedByRows) {
  product p(of(200, 20, 20));
  EXPECT_TRUE(p.judged(1).passed) << "seed " << p.seed;
  const auto spoil = [&](std::int64_t row) {
    for (std::int64_t j = 0; j < 20; ++j) p.c[row * 20 + j] ^= 0x40;
  };
  spoil(199);
  EXPECT_FALSE(p.judged(1).passed) << "seed " << p.seed;
  spoil(199);
  for (std::int64_t i = 90; i < 98; ++i) spoil(i);
  EXPECT_FALSE(p.judged(1).passed) << "seed " << p.seed;
}

}  // namespace
}  // namespace keramos::perf
