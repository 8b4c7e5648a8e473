// The block tiles that warpgroups have on GPUs of compute capability 9.0, asked for by name: all ops, layouts and edges, more
// tiles than teams, and a divided k. Hosts take blocks of any size, and multiply the same. Other GPUs, and a Kokkos that
// gives less local memory, refuse them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include <keramos/keramos.hpp>

#include "batched_case.hpp"
#include "gemm_case.hpp"
#include "last_tiles.hpp"

namespace keramos::test {
namespace {

constexpr bool on_host = backend::traits<default_execution_space>::is_host;

template <class Elements>
class GemmWarpgroups : public testing::Test {
 public:
  using a = typename Elements::a;
  using b = typename Elements::b;
  using c = typename Elements::c;

 protected:
  static constexpr int k_tile = 128 / int(sizeof(a));
  static constexpr tiling::shape blocks[5] = {
      {128, 256, k_tile}, {128, 192, k_tile}, {128, 128, k_tile}, {64, 128, k_tile}, {128, 64, k_tile}};

  /// Whether its row of the tile table divides k: not where sums take most registers, of eight-bit floats two for each.
  static bool divides_k(const tiling::shape& block) {
    return block.n < 256 &&
           !(detail::scalar_type_of<a>::value == scalar_type::f8 && block.m * block.n > 64 * 128);
  }
  /// Whether the tile is there. If not, a product that asks for it must say so.
  static bool has(const tiling::shape& block) {
    if (on_host) return true;
    const stored_matrix<a> x(64, 64, layout::right, 0, 0);
    const stored_matrix<b> y(64, 64, layout::right, 0, 0);
    const stored_matrix<c> z(64, 64, layout::right, 0, 0);
    queue q;
    try {
      gemm(q, 1, x.view, y.view, 0, z.view, {.block = block});
      q.wait();
      return true;
    } catch (const launch_error& e) {
      EXPECT_NE(std::string(e.what()).find(to_string(block)), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("or none"), std::string::npos) << e.what();
      return false;
    }
  }
  static testing::AssertionResult product(const gemm_case& g, std::uint64_t seed) {
    return run<a, c, b>(g, seed);
  }
};

using element_types = testing::Types<
    elements<float16, float16, float16>, elements<float16, float16, float>,
    elements<bfloat16, bfloat16, bfloat16>, elements<bfloat16, bfloat16, float>,
    elements<std::int8_t, std::int8_t, std::int32_t>, elements<std::int8_t, std::uint8_t, std::int32_t>,
    elements<std::uint8_t, std::int8_t, std::int32_t>, elements<std::uint8_t, std::uint8_t, std::int32_t>,
    elements<std::int8_t, std::int8_t, std::int8_t>, elements<std::uint8_t, std::int8_t, std::uint8_t>,
    elements<float8_e4m3, float8_e4m3, float16>, elements<float8_e4m3, float8_e5m2, bfloat16>,
    elements<float8_e5m2, float8_e4m3, float>, elements<float8_e5m2, float8_e5m2, float>>;
TYPED_TEST_SUITE(GemmWarpgroups, element_types);

// Whole tiles, a little more and a little less, and less than one, of rows that can be copied as they lie and of others.
TYPED_TEST(GemmWarpgroups, SizesOpsAndLayouts) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{128, 256, 128}, {129, 257, 129}, {272, 304, 80},
                              {127, 500, 7},   {1, 1, 1},       {5, 300, 333}};
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  for (const tiling::shape& block : this->blocks) {
    if (!this->has(block)) continue;
    if (on_host && block.m == 128 && block.n != 256) continue;  // the largest and the smallest there
    for (const auto& [m, n, k] : sizes)
      for (const op a : {op::N, op::T})
        for (const op b : {op::N, op::T}) {
          gemm_case g{.m = m,
                      .n = n,
                      .k = k,
                      .op_a = a,
                      .op_b = b,
                      .alpha = 3 * scale_to<typename TestFixture::c>,
                      .beta = double(rng() % 2),
                      .block = block};
          EXPECT_TRUE(this->product(g, rng()));
          g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
          g.gap = index_t(rng() % 9), g.offset = index_t(rng() % 9);
          EXPECT_TRUE(this->product(g, rng()));
        }
  }
}

// Teams go on to their next tiles: there are more of these than a device has multiprocessors for.
TYPED_TEST(GemmWarpgroups, MoreTilesThanTeams) {
  std::mt19937_64 rng(fresh_seed());
  const index_t m = on_host ? 265 : 2065, n = on_host ? 310 : 2310;
  for (const tiling::shape& block : this->blocks) {
    if (!this->has(block)) continue;
    EXPECT_TRUE(this->product(
        {.m = m, .n = n, .k = 32, .alpha = scale_to<typename TestFixture::c>, .beta = 1, .block = block},
        rng()));
  }
}

/// Numbers that take a while.
struct long_sums {
  Kokkos::View<float*, default_execution_space> to;
  KERAMOS_FUNCTION void operator()(index_t i) const {
    float x = float(i);
    for (int step = 0; step < (on_host ? 100 : 400'000); ++step) x = x * 0.5f + 1.0f;
    to[i] = x;
  }
};

// Devices' teams draw their tiles, and those that another kernel keeps from running have fewer. What they count is as
// before when they are done: the same queue makes a second product.
TYPED_TEST(GemmWarpgroups, WhileAnotherKernelRuns) {
  using fixture = TestFixture;
  using C = typename fixture::c;
  std::mt19937_64 rng(fresh_seed());
  const tiling::shape block = fixture::blocks[0];
  if (!this->has(block)) return;
  const index_t m = on_host ? 265 : 2064, n = on_host ? 310 : 4608, k = 16;
  stored_matrix<typename fixture::a> a(m, k, layout::right, 0, 0);
  stored_matrix<typename fixture::b> b(n, k, layout::right, 0, 0);
  a.fill_all([&] { return random_value<typename fixture::a>(rng); });
  b.fill_all([&] { return random_value<typename fixture::b>(rng); });
  a.upload(), b.upload();
  stored_matrix<C> first(m, n, layout::right, 0, 0), second(m, n, layout::right, 0, 0);
  queue q, other(queue_options{.own_instance = true});
  const index_t items = on_host ? 100 : 64 * 1024;
  const long_sums sums{Kokkos::View<float*, default_execution_space>("to", std::size_t(items))};
  for (const auto* c : {&first, &second}) {
    other.parallel_for("long sums", range{items}, sums);
    gemm(q, scaled_as<double, C>(scale_to<C>), a.view, b.view, 0, c->view, {.op_b = op::T, .block = block});
  }
  q.wait(), other.wait();
  first.download(), second.download();
  EXPECT_EQ(std::memcmp(first.host.data(), second.host.data(), std::size_t(m * n) * sizeof(C)), 0);
  for (const double beta : {0, 1})
    EXPECT_TRUE(this->product(
        {.m = m, .n = n, .k = k, .op_b = op::T, .alpha = scale_to<C>, .beta = beta, .block = block}, rng()));
}

// The same of fewer k-tiles than there are stages, and of more, in rows that are copied as they lie.
TYPED_TEST(GemmWarpgroups, MoreKTilesThanStages) {
  using fixture = TestFixture;
  std::mt19937_64 rng(fresh_seed());
  const struct {
    tiling::shape block;
    int k_tiles;
    index_t m, n;
  } cases[] = {{fixture::blocks[0], 6, 2064, 2304},
               {fixture::blocks[3], 3, 1040, 2176},
               {fixture::blocks[3], 19, 144, 272},
               {fixture::blocks[4], 19, 272, 144}};
  for (const auto& [block, k_tiles, m, n] : cases) {
    if (!this->has(block)) continue;
    for (const double beta : {0, 1})
      EXPECT_TRUE(this->product({.m = on_host ? 272 : m,
                                 .n = on_host ? 320 : n,
                                 .k = (k_tiles - 1) * block.k + 16,
                                 .op_b = op::T,
                                 .alpha = scale_to<typename fixture::c>,
                                 .beta = beta,
                                 .block = block},
                                rng()));
  }
}

// On devices the parts of k meet in the order of the plan, also where teams have several tiles.
TYPED_TEST(GemmWarpgroups, DividedK) {
  std::mt19937_64 rng(fresh_seed());
  for (const tiling::shape& block : this->blocks) {
    if (!this->divides_k(block) || !this->has(block)) continue;
    // Bytes along k, so that none are copied: sums would lie where the copies do.
    gemm_case g{.m = on_host ? 200 : 600,
                .n = on_host ? 272 : 400,
                .k = 1024,
                .op_b = op::T,
                .alpha = scale_to<typename TestFixture::c>,
                .beta = 1,
                .block = block};
    for (const int whole_tiles : {0, 5}) {
      g.change_plan = [&](gemm_plan& plan) {
        ASSERT_EQ(plan.size, 1);
        if (!on_host) plan.parts[0].split = {8, 3, 128, whole_tiles};
      };
      EXPECT_TRUE(this->product(g, rng())) << whole_tiles;
    }
  }
}

// Teams take turns until the last of their tiles; those in a corner are another part's.
TYPED_TEST(GemmWarpgroups, TheLastTilesAreAnotherPart) {
  if (on_host) return;  // plan_test.cpp: hosts refuse such plans
  std::mt19937_64 rng(fresh_seed());
  for (const tiling::shape& block : this->blocks) {
    if (!this->has(block)) continue;
    gemm_case g{.m = 1299,
                .n = 1111,
                .k = 150,
                .alpha = scale_to<typename TestFixture::c>,
                .beta = 1,
                .block = block};
    g.op_a = rng() % 2 ? op::T : op::N, g.op_b = rng() % 2 ? op::T : op::N;
    g.change_plan = [&](gemm_plan& plan) {
      ASSERT_EQ(plan.size, 1);
      const auto corner = last_tiles(plan.parts[0], 2);
      leave_corner(plan, corner.m, corner.n);
    };
    EXPECT_TRUE(this->product(g, rng()));
  }
}

// The library chooses the tiles: at these extents those of warpgroups, where it has them, small ones and large ones.
TYPED_TEST(GemmWarpgroups, BatchesAndLists) {
  using fixture = TestFixture;
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][4] = {{3, 640, 768, 128}, {2, 1280, 1280, 64}, {5, 200, 272, 144}};
  for (const auto& [batch, m, n, k] : sizes)
    for (const op b : {op::N, op::T}) {
      const index_t part = on_host ? 5 : 1;
      batched_case g{.batch = batch,
                     .m = m / part,
                     .n = n / part,
                     .k = k,
                     .op_b = b,
                     .alpha = 2 * scale_to<typename fixture::c>,
                     .beta = 1};
      EXPECT_TRUE((run<typename fixture::a, typename fixture::c, typename fixture::b>(g, rng())));
    }
  list_case list = random_list(op::N, rng(), 16);
  list.alpha = 2 * scale_to<typename fixture::c>;
  EXPECT_TRUE((run<typename fixture::a, typename fixture::c, typename fixture::b>(list, rng())));
}

// More tiles than a device has teams for, few of each problem, so that teams draw them; by the library's tiles, and by those of
// narrow products. What teams count is as before when they are done: of two calls on one queue the second is right.
TYPED_TEST(GemmWarpgroups, BatchesOfMoreTilesThanTeams) {
  using fixture = TestFixture;
  using A = typename fixture::a;
  std::mt19937_64 rng(fresh_seed());
  const struct {
    index_t batch, m, n, k;
    bool narrow;
  } cases[] = {{1100, 64, 64, 32, false},  {300, 80, 128, 144, false}, {200, 176, 256, 16, false},
               {100, 240, 384, 48, false}, {150, 272, 40, 80, true},   {140, 100, 64, 1104, true}};
  for (const auto& x : cases) {
    const batched_case g{.batch = on_host ? 3 : x.batch,
                         .m = x.m,
                         .n = x.n,
                         .k = x.k,
                         .op_b = sizeof(A) == 1 || rng() % 2 ? op::T : op::N,  // bytes are read along k
                         .alpha = 2 * scale_to<typename fixture::c>,
                         .beta = double(rng() % 2)};
    const auto call = [&](queue& q, auto alpha, const auto& a, const auto& b, auto beta, const auto& c,
                          gemm_batched_options options) {
      if (x.narrow && !on_host && fixture::has(fixture::blocks[4])) {
        gemm_batch_plan plan = plan_gemm_batched(q, a, b, c, options);
        const gemm_plan of_one = plan_gemm(
            q, a[0], b[0], c[0], {.op_a = options.op_a, .op_b = options.op_b, .block = fixture::blocks[4]});
        static_cast<gemm_tile&>(plan) = of_one.parts[0];
        plan.way = batch_way::tiled, plan.transposed = false, plan.products.clear();
        options.plan = plan;
      }
      if (g.beta == 0) gemm_batched(q, alpha + alpha, a, b, beta, c, options);
      gemm_batched(q, alpha, a, b, beta, c, options);
    };
    EXPECT_TRUE((run_batched<A, typename fixture::c, typename fixture::b>(g, rng(), call)));
  }
}

// Narrow products, as mixtures of experts have them: of a few rows each, or none, or without terms.
TYPED_TEST(GemmWarpgroups, ListsOfFewRows) {
  using fixture = TestFixture;
  std::mt19937_64 rng(fresh_seed());
  for (const double beta : {0, 1}) {
    list_case list{.members = {}, .op_b = op::T, .alpha = 2 * scale_to<typename fixture::c>, .beta = beta};
    for (const index_t rows : {29, 15, 0, 11, 64, 1, 10, 17, 12, 48})
      list.members.push_back({rows, on_host ? 100 : 4096, rows == 12 ? 0 : on_host ? 96 : 512});
    EXPECT_TRUE((run<typename fixture::a, typename fixture::c, typename fixture::b>(list, rng())));
  }
}

}  // namespace
}  // namespace keramos::test
