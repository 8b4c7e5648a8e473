// Every step of the ladder, for every type and tile width, against the reference.
#include "ladder/step.hpp"

#include <gtest/gtest.h>

#include "measure/core/check.hpp"
#include "measure/device/machine.hpp"

namespace keramos::perf {
namespace {

struct extents {
  std::int64_t m, n, k;
};

class Ladder : public testing::TestWithParam<std::tuple<data_type, int>> {
 protected:
  static void SetUpTestSuite() {
    static int argc = 0;
    machine_ = std::make_unique<machine>(argc, nullptr);
  }
  static void TearDownTestSuite() { machine_.reset(); }

  static void check(data_type type, int width, const extents& x) {
    constexpr std::uint64_t seed = 20251121;
    for (const bool transposed : {false, true}) {
      gemm_case g;
      g.type = type;
      g.m = x.m, g.n = x.n, g.k = x.k;
      g.op_b = transposed ? transpose::T : transpose::N;
      workspace memory(g, 1, seed);
      const auto& host = memory.operands().host.front();
      const auto reference = make_gemm_check(g, host.a, host.b, nullptr, seed, default_device_is_host());
      for (const auto& step : ladder_steps(type, width)) {
        if (step.transposed_b != transposed || !step.cannot(g).empty()) continue;
        memory.reset_c(false);
        step.enqueue(g, memory.operands().device.front());
        const auto verdict = (*reference)(memory.fetch_c(false));
        EXPECT_TRUE(verdict.passed) << step.name << ", width " << width << ", " << x.m << "x" << x.n << "x"
                                    << x.k << ": " << verdict.where << " is off by " << verdict.error;
      }
    }
  }

  static std::unique_ptr<machine> machine_;
};
std::unique_ptr<machine> Ladder::machine_;

TEST_P(Ladder, IsRightForOddShapes) {
  const auto [type, width] = GetParam();
  for (const extents& x : {extents{200, 500, 400},
                           {1, 1, 1},
                           {1, 7, 3},
                           {17, 1, 9},
                           {31, 33, 65},
                           {5, 3, 130},
                           {130, 131, 2},
                           {64, 64, 64},
                           {129, 260, 15},
                           {129, 264, 72},
                           {1, 8, 8},
                           {300, 520, 200}}) {
    check(type, width, x);
  }
}

TEST_P(Ladder, CountsWhatItsItemsAskFor) {
  const auto [type, width] = GetParam();
  for (const auto& step : ladder_steps(type, width)) {
    const double n = 256, cubed = n * n * n;
    const double moved = step.elements_moved(n, n, n);
    if (step.tile_k == 1) {
      EXPECT_EQ(moved, 2 * cubed + n * n) << step.name;
    } else {
      EXPECT_EQ(moved, cubed / double(step.tile_m) + cubed / double(step.tile_n) + n * n) << step.name;
    }
    // A block that is cut off reads no more than what is there: A and B once, C once.
    EXPECT_EQ(step.elements_moved(1, 1, 10), 10 + 10 + 1) << step.name;
  }
}

// The early steps have one item for each element: explain's arithmetic is theirs.
TEST_P(Ladder, EarlyTilesAreTheWidthAsked) {
  const auto [type, width] = GetParam();
  const auto steps = ladder_steps(type, width);
  const std::size_t early = type == data_type::bf16 ? 2 : 6;
  ASSERT_GE(steps.size(), early);
  for (std::size_t i = 0; i < early; ++i) {
    EXPECT_EQ(steps[i].tile_m, width) << steps[i].name;
    EXPECT_EQ(steps[i].tile_n, width) << steps[i].name;
  }
}

// Where a type has fewer steps than elsewhere, a sentence says so.
TEST(LadderSteps, ThoseThatAreMissingAreTold) {
  EXPECT_EQ(ladder_steps_missing(data_type::f32), "");
  EXPECT_EQ(ladder_steps(data_type::bf16, 16).size() == 2, !ladder_steps_missing(data_type::bf16).empty());
}

INSTANTIATE_TEST_SUITE_P(All, Ladder,
                         testing::Combine(testing::ValuesIn(ladder_types), testing::ValuesIn(ladder_widths)),
                         [](const auto& tested) {
                           return std::string(name(std::get<0>(tested.param))) + "_width_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

}  // namespace
}  // namespace keramos::perf
