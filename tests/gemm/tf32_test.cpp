// Products of f32 whose elements are rounded to tf32: on GPUs with tensor cores for them; others refuse, and say so.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include <keramos/gemm/fused.hpp>

#include "product_cases.hpp"

namespace keramos::test {
namespace {

constexpr bool on_host = backend::traits<default_execution_space>::is_host;

/// What a call throws, or "".
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(GemmTf32, IsRefusedWhereItCannotBeHad) {
  const stored_matrix<double> x(9, 9, layout::right, 0, 0);
  const stored_matrix<float> y(9, 9, layout::right, 0, 0), c(9, 9, layout::right, 0, 0);
  queue q;
  const gemm_options options{.compute = gemm_compute::tf32};
  EXPECT_EQ(refusal([&] {
              gemm(q, 1, x.view, x.view, 0, stored_matrix<double>(9, 9, layout::right, 0, 0).view, options);
            }),
            "keramos::gemm: options.compute is tf32, which is for matrices of float, but these are f64; pass "
            "gemm_compute::standard");
  EXPECT_NE(refusal([&] {
              gemm(q, y.view, y.view, c.view, epilogue::linear(1, 0) | epilogue::relu(), options);
            }).find("with an epilogue"),
            std::string::npos);
  if (!on_host) return;
  const std::string message = "keramos::gemm: options.compute is tf32, which the backend " +
                              std::string(backend::traits<default_execution_space>::name) +
                              " does not have; pass gemm_compute::standard";
  EXPECT_EQ(refusal([&] { gemm(q, 1, y.view, y.view, 0, c.view, options); }), message);
  EXPECT_EQ(refusal([&] { plan_gemm(q, y.view, y.view, c.view, options); }), message);
  const std::vector<matrix_view<float>> list{y.view}, result{c.view};
  EXPECT_EQ(refusal([&] { gemm_batched(q, 1, list, list, 0, result, {.compute = gemm_compute::tf32}); }),
            message);
}

TEST(GemmTf32, SizesOpsAndLayouts) {
  if (on_host) return;  // see above
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{1, 1, 1},     {7, 5, 3},    {16, 16, 16}, {33, 65, 17},   {128, 128, 64},
                              {129, 63, 77}, {1, 200, 90}, {200, 1, 33}, {300, 257, 40}, {20, 30, 9000}};
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  for (const auto& [m, n, k] : sizes)
    for (const op a : {op::N, op::T})
      for (const op b : {op::N, op::T}) {
        gemm_case g{.m = m, .n = n, .k = k, .op_a = a, .op_b = b, .alpha = 1.5, .beta = double(rng() % 2)};
        g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
        g.gap = index_t(rng() % 5), g.offset = index_t(rng() % 5);
        g.compute = gemm_compute::tf32;
        EXPECT_TRUE(run<float>(g, rng()));
        g.gap = g.offset = 0;
        EXPECT_TRUE(run<float>(g, rng()));
      }
}

TEST(GemmTf32, EveryOpAndLayout) {
  if (!on_host) every_op_and_layout(products_of<float>(), gemm_compute::tf32);
}

TEST(GemmTf32, PackedBeforehandAndCut) {
  if (on_host) return;
  gemm_case g{.m = 200, .n = 150, .k = 70, .gap = 3, .offset = 3, .beta = 1};
  g.compute = gemm_compute::tf32;
  g.change_plan = [](gemm_plan& plan) {
    EXPECT_EQ(plan.type, "tf32");
    pack_and_cut(plan);
  };
  EXPECT_TRUE(run<float>(g, fresh_seed()));
}

// Operands are rounded where they are copied beforehand, and units that do not round read the copies.
TEST(GemmTf32, TilesOfWarpgroups) {
  if (on_host) return;
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{128, 256, 64}, {129, 257, 65}, {272, 304, 80}, {5, 300, 333}};
  for (const tiling::shape block :
       {tiling::shape{128, 256, 32}, tiling::shape{128, 192, 32}, tiling::shape{64, 128, 32}})
    for (const auto& [m, n, k] : sizes)
      for (const op a : {op::N, op::T})
        for (const op b : {op::N, op::T}) {
          gemm_case g{.m = m, .n = n, .k = k, .op_a = a, .op_b = b, .alpha = 1.5, .beta = double(rng() % 2)};
          g.gap = index_t(rng() % 5), g.offset = g.gap;
          g.block = block, g.compute = gemm_compute::tf32;
          try {
            EXPECT_TRUE(run<float>(g, rng()));
          } catch (const launch_error& e) {  // not here, or too large for this Kokkos
            EXPECT_NE(std::string(e.what()).find(to_string(block)), std::string::npos) << e.what();
          }
        }
}

TEST(GemmTf32, BatchesAndLists) {
  if (on_host) return;
  std::mt19937_64 rng(fresh_seed());
  for (const index_t size : {3, 16, 33, 100})
    for (const spacing s : {spacing::packed, spacing::interleaved, spacing::apart, spacing::shared}) {
      batched_case g{.batch = 5, .m = size, .n = size + 1, .k = size + 2};
      g.space_a = s, g.space_c = s == spacing::shared ? spacing::packed : s;
      g.alpha = -2, g.beta = double(size % 2), g.compute = gemm_compute::tf32;
      EXPECT_TRUE(run<float>(g, rng()));
    }
  list_case list = random_list(op::T, rng());
  list.alpha = 2, list.compute = gemm_compute::tf32;
  EXPECT_TRUE(run<float>(list, rng()));
}

// 1 + 2^-11 has twelve bits, of which eleven are kept.
TEST(GemmTf32, RoundsElements) {
  if (on_host) return;
  const index_t n = 70;
  stored_matrix<float> a(n, n, layout::right, 0, 0), b(n, n, layout::right, 0, 0),
      c(n, n, layout::right, 0, 0);
  a.fill_all([] { return 0.f; }), b.fill_all([] { return 1 + 0x1p-11f; });
  for (index_t i = 0; i < n; ++i) a.at(i, i) = 1;
  a.upload(), b.upload();
  queue q;
  gemm(q, 1, a.view, b.view, 0, c.view, {.compute = gemm_compute::tf32});
  q.wait();
  c.download();
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) ASSERT_EQ(c.at(i, j), 1 + 0x1p-10f) << i << ", " << j;
}

}  // namespace
}  // namespace keramos::test
