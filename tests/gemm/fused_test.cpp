// Epilogues that know where they are, on every path: the caller's row, column and problem, whatever the library
// transposes, cuts, packs and divides. (The library's own epilogues by themselves: epilogue_blocks_test.cpp.)
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "fused_case.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
void run_fused(queue& q, operands<T>& x, bool reads, const gemm_options& options = {}) {
  gemm(q, x.a.view, x.b.view, x.c.view, place_of_each<T>{reads}, options);
  record_support("epilogue", x.a.view, x.b.view, x.c.view, op::N, op::N);
}

template <class T>
class FusedPlaces : public testing::Test {};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(FusedPlaces, types);

// Tiny, few rows, dot products, vectors, tiles, strips, a divided k, copies of operands, nothing to multiply.
TYPED_TEST(FusedPlaces, EveryPathOfOneProduct) {
  const index_t shapes[][3] = {{3, 5, 2},       {8, 4, 70},      {1, 300, 500},    {700, 1, 333},
                               {16, 16, 30000}, {200, 90, 61},   {513, 520, 40},   {70, 80, 0},
                               {1025, 67, 19},  {300, 310, 270}, {1550, 1503, 507}};
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  std::uint64_t seed = fresh_seed();
  std::set<gemm_path> seen;
  bool transposed = false, split = false;
  for (const auto& [m, n, k] : shapes)
    for (const layout lc : layouts)
      for (const bool reads : {false, true}) {
        // Strips of large ones are a path of GPUs alone.
        if (m * n * k > 100'000'000 && (reads || on_host)) continue;
        const layout la = layouts[seed % 3], lb = layouts[seed / 3 % 3];
        operands<TypeParam> x(m, n, k, la, lb, lc, seed++, reads);
        queue q;
        const gemm_plan plan = plan_gemm(q, x.a.view, x.b.view, x.c.view, place_of_each<TypeParam>{reads});
        SCOPED_TRACE(to_string(plan));
        for (int i = 0; i < plan.size; ++i) {
          seen.insert(plan.parts[i].path);
          transposed |= plan.parts[i].transposed, split |= plan.parts[i].split.parts > 1;
        }
        run_fused(q, x, reads);
        q.wait();
        ASSERT_TRUE(x.judge(reads, 0));
      }
  EXPECT_TRUE(transposed);
  if (!on_host) {
    EXPECT_TRUE(split);
  }
  EXPECT_EQ(seen.size(), on_host ? 3u : 2u);
}

// What the library chooses for large products, or on machines of many cores, of a small one whose plan is given: a
// divided k; C in three parts, with operands packed beforehand, or not, in bands of rows and columns.
TYPED_TEST(FusedPlaces, PlansThatAreGiven) {
  std::uint64_t seed = fresh_seed();
  const index_t m = 50, n = 60, k = 4096;
  for (const bool reads : {false, true})
    for (const bool transposed : {false, true}) {
      const auto follow = [&](const auto& change) {
        operands<TypeParam> x(m, n, k, layout::right, layout::left, layout::right, seed++, reads);
        queue q;
        gemm_plan plan = plan_gemm(q, x.a.view, x.b.view, x.c.view, place_of_each<TypeParam>{reads});
        plan.size = 1;
        gemm_part& part = plan.parts[0];
        part.m0 = part.n0 = 0, part.m = m, part.n = n;
        part.transposed = transposed;
        part.pack_a = part.pack_b = false, part.band_m = part.band_n = 1000;
        part.split = {};
        change(plan);
        run_fused(q, x, reads, {.plan = plan});
        q.wait();
        ASSERT_TRUE(x.judge(reads, 0)) << to_string(plan);
      };
      follow([](gemm_plan& plan) {
        gemm_part& part = plan.parts[0];
        if (on_host) part.path = gemm_path::unpacked, part.block = {17, 16, 512};
        part.split = {8, 3, 512};
      });
      for (const bool packs : {false, true})
        follow([&](gemm_plan& plan) {
          gemm_part& part = plan.parts[0];
          if (on_host) {
            part.path = gemm_path::tiled;
            part.block = {13, 96, 100};  // 96: whole panels of all instruction sets
          }
          part.pack_a = packs && !on_host, part.pack_b = packs;
          part.band_m = 11, part.band_n = 13;
          plan.parts[1] = plan.parts[2] = part;
          part.m = 20;
          plan.parts[1].m0 = plan.parts[2].m0 = 20, plan.parts[1].m = plan.parts[2].m = m - 20;
          plan.parts[1].n = plan.parts[2].n0 = 25, plan.parts[2].n = n - 25;
          plan.parts[1].transposed = !transposed;
          plan.size = 3;
        });
    }
}

// alpha and beta alone are what gemm without an epilogue does, bit for bit.
TYPED_TEST(FusedPlaces, LinearIsGemm) {
  const std::uint64_t seed = fresh_seed();
  for (const auto& [alpha, beta] : {std::array<int, 2>{3, 0}, {-2, 1}, {0, 3}, {0, 1}, {1, 0}}) {
    operands<TypeParam> x(93, 81, 207, layout::right, layout::left, layout::right, seed, beta != 0),
        y(93, 81, 207, layout::right, layout::left, layout::right, seed, beta != 0);
    queue q;
    gemm(q, alpha, x.a.view, x.b.view, beta, x.c.view);
    gemm(q, y.a.view, y.b.view, y.c.view, epilogue::linear(alpha, beta));
    q.wait();
    x.c.download(), y.c.download();
    EXPECT_EQ(std::memcmp(x.c.host.data(), y.c.host.data(), x.c.host.extent(0) * sizeof(TypeParam)), 0)
        << alpha << ' ' << beta;
  }
}

// What people fuse: alpha and beta, a bias, an activation, a residual.
TEST(Fused, LinearBiasGeluResidual) {
  const index_t m = 150, n = 133, k = 70;
  std::mt19937_64 rng(fresh_seed());
  stored_matrix<float> a(m, k, layout::right, 0, 0), b(k, n, layout::right, 0, 0),
      c(m, n, layout::left, 0, 0), bias(1, n, layout::right, 0, 0), residual(m, n, layout::right, 0, 0);
  for (auto* x : {&a, &b, &c, &bias, &residual})
    x->fill_all([&] { return random_value<float>(rng); }), x->upload();
  std::vector<float> before(c.host.data(), c.host.data() + c.host.extent(0));
  queue q;
  gemm(q, a.view, b.view, c.view,
       epilogue::linear(1.5f, 0.5f) | epilogue::bias_by_column(bias.device.data()) | epilogue::gelu() |
           epilogue::residual(residual.view));
  q.wait();
  c.download();
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t p = 0; p < k; ++p) sum += double(a.at(i, p)) * b.at(p, j);
      const double x = 1.5 * sum + 0.5 * before[std::size_t(i + j * m)] + bias.at(0, j);
      const double expected = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))) + residual.at(i, j);
      ASSERT_NEAR(c.at(i, j), expected, 2e-5) << i << ' ' << j;
    }
}

}  // namespace
