// Epilogues that know where they are, on every path: the caller's row, column and problem, whatever the library
// transposes, cuts, packs and divides. (The library's own epilogues by themselves: epilogue_blocks_test.cpp.)
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fused_case.hpp"
#include "fused_mixes.hpp"
#include "last_tiles.hpp"
#include "repeat_case.hpp"

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

/// What plans have done that were followed.
struct ways {
  std::set<gemm_path> paths;
  bool transposed = false, divided = false, packed = false, strips = false;

  void note(const gemm_plan& plan) {
    strips |= plan.size > 1 && plan.parts[0].corner_n == 0;
    for (int i = 0; i < plan.size; ++i) {
      const gemm_part& part = plan.parts[i];
      paths.insert(part.path);
      transposed |= part.transposed, divided |= part.split.parts > 1, packed |= part.pack_a || part.pack_b;
    }
  }
};

// Tiny, few rows, dot products, vectors, tiles, strips, a divided k, copies of operands, nothing to multiply. What the library
// does by itself of large products alone, or with many threads, hosts do by plans that are given.
TYPED_TEST(FusedPlaces, EveryPathOfOneProduct) {
  const index_t shapes[][3] = {{3, 5, 2},       {8, 4, 70},      {1, 300, 500},     {700, 1, 333},
                               {16, 16, 30000}, {200, 90, 61},   {513, 520, 40},    {70, 80, 0},
                               {1025, 67, 19},  {300, 310, 270}, {1550, 1503, 507}, {1536, 1536, 507},
                               {900, 33, 200},  {900, 33, 200},  {17, 1400, 300},   {17, 1400, 300}};
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  std::uint64_t seed = fresh_seed();
  ways seen;
  for (const auto& [m, n, k] : shapes)
    for (const layout lc : layouts)
      for (const bool reads : {false, true}) {
        // Strips of large ones, and packing where C is not cut, are paths of GPUs alone.
        if (m * n * k > 100'000'000 && (reads || on_host)) continue;
        const layout la = layouts[seed % 3], lb = layouts[seed / 3 % 3];
        operands<TypeParam> x(m, n, k, la, lb, lc, seed++, reads);
        queue q;
        const gemm_plan plan = plan_gemm(q, x.a.view, x.b.view, x.c.view, place_of_each<TypeParam>{reads});
        SCOPED_TRACE(to_string(plan));
        seen.note(plan);
        run_fused(q, x, reads);
        q.wait();
        ASSERT_TRUE(x.judge(reads, 0));
      }
  EXPECT_TRUE(seen.transposed);
  if (!on_host) {
    EXPECT_TRUE(seen.divided);
    EXPECT_TRUE(seen.packed);
  }
  const std::set<gemm_path> of_hosts{gemm_path::dots, gemm_path::unpacked, gemm_path::tiled},
      of_devices{gemm_path::vector, gemm_path::tiled};
  EXPECT_EQ(seen.paths, on_host ? of_hosts : of_devices);
}

TYPED_TEST(FusedPlaces, EveryOpAndLayout) {
  expect_with_every_op_and_layout<TypeParam, TypeParam, TypeParam>(
      place_of_each<TypeParam>{false}, [](const auto& sum, index_t i, index_t j, index_t batch) {
        return TypeParam(sum) + code_of<TypeParam>(i, j, batch);
      });
}

// With operands elsewhere in memory and other calls in between: in tiles, with k in parts, with a vector, and in a batch.
// Integers are small: the epilogue adds to their sum, which must not overflow.
TYPED_TEST(FusedPlaces, TheSameBitsAgain) {
  using T = TypeParam;
  const auto value = std::is_integral_v<T> ? small<T> : random_value<T>;
  std::mt19937_64 rng(fresh_seed());
  const index_t shapes[][4] = {
      {1, 4, 5, 6}, {1, 233, 244, 300}, {1, 16, 16, 30000}, {1, 300, 1, 3000}, {7, 20, 23, 30}};
  for (const auto& [count, m, n, k] : shapes) {
    if (count > 1 && !on_host) continue;  // kernels of batches take minutes to compile there
    const moved a = moved::random<T>(count * m * k, rng, value),
                b = moved::random<T>(count * k * n, rng, value), c(std::size_t(count * m * n) * sizeof(T));
    const auto batch = [count = count](T* data, index_t rows, index_t cols) {
      return batched_matrix_view<T>{data, count, rows, cols, rows * cols, cols, 1};
    };
    const std::string what = std::to_string(m) + 'x' + std::to_string(n) + 'x' + std::to_string(k);
    expect_same_bits(c, what, [&, count = count, m = m, n = n, k = k](queue& q, bool elsewhere) {
      const auto x = batch(a.at<T>(elsewhere), m, k), y = batch(b.at<T>(elsewhere), k, n),
                 z = batch(c.at<T>(elsewhere), m, n);
      const place_of_each<T> epilogue{false};
      if (count == 1)
        gemm(q, x[0], y[0], z[0], epilogue);
      else if constexpr (on_host)
        gemm_batched(q, x, y, z, epilogue);
    });
    if (this->HasFatalFailure()) return;
  }
}

/// The product in one part, for a test to change, and what it then gives.
template <class T>
class given_plan {
 public:
  given_plan(index_t m, index_t n, index_t k, layout of_c, bool reads, std::uint64_t seed)
      : reads_(reads),
        x_(m, n, k, layout::right, layout::left, of_c, seed, reads),
        plan(plan_gemm(q_, x_.a.view, x_.b.view, x_.c.view, place_of_each<T>{reads})) {
    plan.size = 1;
    gemm_part& part = plan.parts[0];
    part.m0 = part.n0 = 0, part.m = m, part.n = n;
    part.pack_a = part.pack_b = false;
    part.band_m = part.transposed ? n : m, part.band_n = part.transposed ? m : n;
    part.split = {};
    part.corner_m = part.corner_n = 0;
  }

  /// Follows it.
  testing::AssertionResult run() {
    run_fused(q_, x_, reads_, {.plan = plan});
    q_.wait();
    auto result = x_.judge(reads_, 0);
    if (!result) result << '\n' << to_string(plan);
    return result;
  }

 private:
  bool reads_;
  operands<T> x_;
  queue q_;

 public:
  gemm_plan plan;
};

// What the library chooses for large products, or on machines of many cores, of a small one whose plan is given: a
// divided k; C in three parts, with operands packed beforehand, or not, in bands of rows and columns.
TYPED_TEST(FusedPlaces, PlansThatAreGiven) {
  std::uint64_t seed = fresh_seed();
  const index_t m = 50, n = 60, k = 4096;
  ways followed;
  for (const bool reads : {false, true})
    for (const bool transposed : {false, true}) {
      const auto follow = [&](const auto& change) {
        given_plan<TypeParam> given(m, n, k, layout::right, reads, seed++);
        given.plan.parts[0].transposed = transposed;
        given.plan.parts[0].band_m = given.plan.parts[0].band_n = 1000;
        change(given.plan);
        followed.note(given.plan);
        ASSERT_TRUE(given.run());
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
  EXPECT_TRUE(followed.transposed && followed.divided && followed.packed && followed.strips);
}

// The last tiles are a part of their own, whose rows and columns are the caller's as well. (Hosts refuse such plans:
// plan_test.cpp.)
TYPED_TEST(FusedPlaces, TheLastTilesAreAnotherPart) {
  if (on_host) GTEST_SKIP() << "tiles of hosts leave no corner to another part";
  std::uint64_t seed = fresh_seed();
  for (const layout lc : {layout::right, layout::left})
    for (const int columns : {1, 3}) {
      given_plan<TypeParam> given(1150, 1160, 130, lc, columns == 3, seed++);
      gemm_part& part = given.plan.parts[0];
      ASSERT_EQ(part.path, gemm_path::tiled);
      EXPECT_EQ(part.transposed, lc == layout::left);
      const auto corner = last_tiles(part, columns);
      leave_corner(given.plan, corner.m, corner.n);
      ASSERT_TRUE(given.run());
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
  const reference_sums sums(a.applied(), b.applied(), m, n, k);
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      const double x = 1.5 * sums(i, j).value + 0.5 * before[std::size_t(i + j * m)] + bias.at(0, j);
      const double expected = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))) + residual.at(i, j);
      ASSERT_NEAR(c.at(i, j), expected, 2e-5) << i << ' ' << j;
    }
}

}  // namespace
