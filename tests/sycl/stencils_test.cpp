// Stencils on SYCL's backend, beside plain loops, with each kind of boundary; elements are small integers.
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "arguments.hpp"
#include "program.hpp"

namespace keramos::test::device {
namespace {

class SyclStencils : public testing::Test {
 protected:
  static void SetUpTestSuite() { program_ = std::make_unique<program>("stencils.cpp"); }
  static void TearDownTestSuite() { program_.reset(); }

  static void compute(const std::vector<int>& radii, const std::vector<std::int64_t>& extents) {
    std::string name;
    for (const int r : radii) (name += "_") += std::to_string(r);
    auto& q = program_->queue();
    const int rank = int(radii.size());
    grid g;
    for (int d = 0; d < rank; ++d) g.extent[d] = extents[std::size_t(d)];
    std::int64_t stride[3], size = 1;
    for (int d = rank - 1; d >= 0; --d) stride[d] = size, size *= g.extent[d] + (d == rank - 1 ? 3 : 0);
    for (g.boundary = 0; g.boundary < 4; ++g.boundary) {
      SCOPED_TRACE("stencil" + name + ", boundary " + std::to_string(g.boundary));
      std::mt19937 random(unsigned(size + g.boundary));
      const shared<float> in(q, std::size_t(size), 0), out(q, std::size_t(size), -1);
      for (std::int64_t i = 0; i < size; ++i) in[std::size_t(i)] = float(int(random() % 9) - 4);
      g.in = in.data(), g.out = out.data();
      const shared<int> groups(q, 2, 0);
      program_->once("groups" + name, g, groups.data());
      program_->on_teams("stencil" + name, groups[0], groups[1], g);

      std::int64_t at[3] = {0, 0, 0}, wrong = 0;
      const auto element = [&](int dimension, int by) {
        std::int64_t offset = 0;
        for (int d = 0; d < rank; ++d) {
          std::int64_t i = at[d] + (d == dimension ? by : 0);
          const std::int64_t n = g.extent[d];
          if (i < 0 || i >= n) {
            if (g.boundary == 1) return 0.0f;            // zero
            if (g.boundary == 2) i = i < 0 ? 0 : n - 1;  // clamp
            if (g.boundary == 3) i = (i % n + n) % n;    // periodic
          }
          offset += i * stride[d];
        }
        return in[std::size_t(offset)];
      };
      std::vector<float> expected(std::size_t(size), -1);
      for (at[0] = 0; at[0] < g.extent[0]; ++at[0])
        for (at[1] = 0; at[1] < g.extent[1]; ++at[1])
          for (at[2] = 0; at[2] < (rank == 3 ? g.extent[2] : 1); ++at[2]) {
            bool inside = true;
            std::int64_t offset = 0;
            for (int d = 0; d < rank; ++d) {
              const int r = radii[std::size_t(d)];
              inside = inside && r <= at[d] && at[d] + r < g.extent[d];
              offset += at[d] * stride[d];
            }
            if (g.boundary == 0 && !inside) continue;  // interior: left as it was
            float sum = 0;
            for (int d = 0; d < rank; ++d)
              for (int r = -radii[std::size_t(d)]; r <= radii[std::size_t(d)]; ++r)
                sum += float(weight_of(d, r)) * element(d, r);
            expected[std::size_t(offset)] = sum;
          }
      for (std::int64_t i = 0; i < size; ++i)
        if (out[std::size_t(i)] != expected[std::size_t(i)] && ++wrong <= 3) ADD_FAILURE() << "element " << i;
      EXPECT_EQ(wrong, 0);
    }
  }

  static std::unique_ptr<program> program_;
};
std::unique_ptr<program> SyclStencils::program_;

TEST_F(SyclStencils, InTwoDimensions) {
  compute({1, 1}, {1, 1});
  compute({1, 1}, {97, 131});
  compute({2, 5}, {66, 140});
  compute({2, 5}, {4, 3});
}
TEST_F(SyclStencils, InThreeDimensions) {
  compute({2, 1, 3}, {12, 18, 67});
  compute({2, 1, 3}, {3, 2, 4});
  compute({4, 4, 4}, {11, 19, 37});
}

}  // namespace
}  // namespace keramos::test::device
