#include "product_cases.hpp"

#include <random>
#include <vector>

#include "ops_and_layouts.hpp"

namespace keramos::test {
namespace {

constexpr op all_ops[] = {op::N, op::T, op::C};
constexpr layout layouts[] = {layout::right, layout::left, layout::strided};

using some_ops = std::vector<op>;

testing::AssertionResult judge_list(const judged_products& of, list_case list) {
  list.alpha = 2 * of.unit;
  return of.list(list, fresh_seed());
}

}  // namespace

void sizes_and_ops(const judged_products& of) {
  std::mt19937_64 rng(fresh_seed());
  std::vector<gemm_case> sizes = {{1, 1, 1},    {7, 5, 3},     {16, 16, 16}, {33, 65, 17}, {128, 128, 64},
                                  {64, 64, 32}, {129, 63, 77}, {1, 200, 90}, {200, 1, 333}};
  sizes.push_back(of.is_complex ? gemm_case{140, 257, 40} : gemm_case{300, 257, 240});
  for (gemm_case g : sizes)
    for (const op a : of.is_complex ? some_ops{op::N, op::T, op::C} : some_ops{op::N, op::T})
      for (const op b : of.is_complex ? some_ops{op::N, op::T, op::C} : some_ops{op::N, op::C}) {
        g.op_a = a, g.op_b = b;
        g.alpha = of.is_whole ? -3 * of.unit : 1.5, g.beta = double(rng() % 2);
        if (of.is_complex) g.alpha_imag = 0.5, g.beta_imag = -double(rng() % 2);
        EXPECT_TRUE(of.product(g, rng()));
      }
}

void random_layouts_and_scalars(const judged_products& of) {
  std::mt19937_64 rng(fresh_seed());
  const double scalars[] = {0, 1, -1, of.is_whole ? 7 : 0.75};
  for (int i = 0; i < 80; ++i) {
    gemm_case g{.m = index_t(1 + rng() % 200), .n = index_t(1 + rng() % 200), .k = index_t(rng() % 300)};
    g.op_a = all_ops[rng() % 3], g.op_b = all_ops[rng() % 3];
    g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
    g.gap = i % 2 ? index_t(rng() % 20) : 16, g.offset = i % 2 ? index_t(rng() % 20) : 0;
    if (i % 4 == 0) g.m = (g.m + 15) / 16 * 16, g.n = (g.n + 15) / 16 * 16, g.k = (g.k + 15) / 16 * 16;
    g.alpha = of.unit * scalars[rng() % 4], g.beta = scalars[rng() % 4];
    if (of.is_complex) g.alpha_imag = scalars[rng() % 4], g.beta_imag = scalars[rng() % 4];
    EXPECT_TRUE(of.product(g, rng()));
  }
}

void long_k(const judged_products& of) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {
      {20, 30, of.is_complex ? 5000 : 20000}, {1, 40, 3000}, {40, 1, 3000}, {100, 70, 1000}};
  for (const auto& [m, n, k] : sizes)
    for (const op a : {op::N, of.is_complex ? op::C : op::T})
      for (const op b : {of.is_complex ? op::C : op::N, op::T})
        for (const layout c : {layout::right, layout::left}) {
          gemm_case g{.m = m, .n = n, .k = k, .op_a = a, .op_b = b, .c = c, .alpha = of.unit};
          g.beta = of.is_whole ? 2 : 0.5, g.beta_imag = of.is_complex;
          EXPECT_TRUE(of.product(g, rng()));
        }
}

void packed_beforehand_and_cut(const judged_products& of, void (*cut)(gemm_plan&, int k_tile)) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t gap : {0, 3})
    for (const op a : of.is_complex ? some_ops{op::N, op::T, op::C} : some_ops{op::N, op::T})
      for (const op b : of.is_complex ? some_ops{op::N, op::T, op::C} : some_ops{op::N, op::T}) {
        gemm_case g{.m = 200, .n = 150, .k = 300, .op_a = a, .op_b = b};
        g.gap = g.offset = gap, g.alpha = of.unit, g.beta = 1;
        const int k_tile = gap > 0 && !of.is_complex ? 7 : 0;
        g.change_plan = [=](gemm_plan& plan) { cut(plan, k_tile); };
        EXPECT_TRUE(of.product(g, rng()));
      }
}

void batches(const judged_products& of) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t size : {3, 16, 33, 100})
    for (const spacing s : {spacing::packed, spacing::interleaved, spacing::apart, spacing::shared}) {
      batched_case g{.batch = 5, .m = size, .n = size + 1, .k = size + 2};
      g.op_a = all_ops[rng() % 3], g.op_b = all_ops[rng() % 3];
      g.a = layouts[rng() % 3], g.c = layouts[rng() % 3];
      g.space_a = s, g.space_c = s == spacing::shared ? spacing::packed : s;
      g.alpha = -2 * of.unit, g.alpha_imag = of.is_complex, g.beta = double(size % 2);
      EXPECT_TRUE(of.batch(g, rng()));
    }
}

void small_batches(const judged_products& of) {
  std::mt19937_64 rng(fresh_seed());
  for (index_t size = 1; size <= 33; ++size)
    for (const op a : all_ops)
      for (const op b : all_ops) {
        batched_case g{.batch = 21, .m = size, .n = size, .k = size, .op_a = a, .op_b = b};
        g.alpha = 2 * of.unit, g.beta = double(rng() % 2);
        switch (rng() % 4) {
          case 0:  // as it is
            break;
          case 1:  // rows of whole runs of 16 bytes, or none
            g.gap = rng() % 2 ? 15 - (size + 15) % 16 : index_t(rng() % 9);
            g.offset = 16;
            break;
          case 2:
            g.m = 1 + index_t(rng() % size), g.n = 1 + index_t(rng() % size), g.k = 1 + index_t(rng() % 80);
            g.gap = index_t(rng() % 3), g.offset = index_t(rng() % 4);
            break;
          default:
            g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
            g.space_a = rng() % 2 ? spacing::apart : spacing::packed;
        }
        EXPECT_TRUE(of.batch(g, rng()));
        EXPECT_TRUE(of.by_addresses(g, rng()));
      }
  for (const op a : all_ops) EXPECT_TRUE(judge_list(of, random_list(a, rng(), 4, 30)));
}

void lists(const judged_products& of) {
  for (const op a : all_ops) EXPECT_TRUE(judge_list(of, random_list(a, fresh_seed() + std::uint64_t(a))));
}

void many_tiles(const judged_products& of) {
  std::mt19937_64 rng(fresh_seed());
  const int count = backend::traits<default_execution_space>::is_host ? 30 : 300;
  for (const op a : {op::N, op::T})
    for (const op b : {op::N, op::T}) {
      batched_case g{.batch = count, .m = 48, .n = 80, .k = 80, .op_a = a, .op_b = b};
      g.alpha = of.unit, g.beta = double(a == b);
      EXPECT_TRUE(of.batch(g, rng()));
    }
  // Of one tile each, and of a few: at equal distances, with one B for all, and anywhere.
  for (const spacing b : {spacing::packed, spacing::apart, spacing::shared})
    for (const index_t extent : {64, 128}) {
      batched_case g{.batch = 128 * count / extent, .m = extent, .n = extent, .k = 64, .space_b = b};
      g.space_c = b == spacing::shared ? spacing::packed : b;
      g.gap = 16, g.alpha = of.unit, g.beta = double(extent == 64);
      EXPECT_TRUE(of.batch(g, rng()));
      EXPECT_TRUE(of.by_addresses(g, rng()));
    }
  for (const op a : {op::N, op::T}) EXPECT_TRUE(judge_list(of, random_list(a, rng(), 16, count)));
}

void every_op_and_layout(const judged_products& of, gemm_compute compute) {
  std::mt19937_64 rng(fresh_seed());
  for_ops_and_layouts([&](op op_a, op op_b, layout a, layout b, layout c) {
    gemm_case one{13, 9, 21, op_a, op_b, a, b, c, 3, 1, 2 * of.unit, 1};
    one.compute = compute;
    EXPECT_TRUE(of.product(one, rng()));
    batched_case batch{3, 7, 5, 11, op_a, op_b, a, b, c};
    batch.gap = 2, batch.offset = 1, batch.alpha = 2 * of.unit, batch.beta = 1, batch.compute = compute;
    EXPECT_TRUE(of.batch(batch, rng()));
    EXPECT_TRUE(of.by_addresses(batch, rng()));
  });
  for_ops([&](op op_a, op op_b) {
    list_case list = list_of_every_layout(op_a, op_b);
    list.alpha = 2 * of.unit, list.beta = 1, list.compute = compute;
    EXPECT_TRUE(of.list(list, rng()));
  });
}

}  // namespace keramos::test
