#include <cmath>
#include <utility>

#include "samples/sample.hpp"

namespace {

using namespace keramos;
using namespace keramos::samples;

// The wave equation in two dimensions by second-order finite differences:
// next = 2 u - prev + (c dt / dx)^2 laplacian(u), written over prev.
// [kernel]
void wave_step(queue& q, float* prev, const float* u, const float* speed, index_t rows, index_t cols) {  //~
  q.parallel_for(
      "wave", range{rows - 2, cols - 2}, KERAMOS_LAMBDA(id<2> at) {  //~
        const index_t i = (at[0] + 1) * cols + at[1] + 1;            //~
        const float laplacian = u[i - 1] + u[i + 1] + u[i - cols] + u[i + cols] - 4 * u[i];
        prev[i] = 2 * u[i] - prev[i] + speed[i] * laplacian;
      });
}
// [end]

TEST(Samples, StencilOfTheWaveEquation) {
  queue q;
  const int rows = 70, cols = 90, steps = 40;
  std::vector<float> u(rows * cols, 0.0f), prev(u), speed(u);
  u[35 * cols + 45] = prev[35 * cols + 45] = 1;
  for (int i = 0; i < rows * cols; ++i) speed[i] = 0.1f + 0.0001f * float(i % 100);
  auto du = to_device(q, u), dprev = to_device(q, prev);
  const auto dspeed = to_device(q, speed);
  for (int s = 0; s < steps; ++s) {
    wave_step(q, dprev.data(), du.data(), dspeed.data(), rows, cols);
    std::swap(du, dprev);
    for (int i = 1; i < rows - 1; ++i)
      for (int j = 1; j < cols - 1; ++j) {
        const int at = i * cols + j;
        const float laplacian = u[at - 1] + u[at + 1] + u[at - cols] + u[at + cols] - 4 * u[at];
        prev[at] = 2 * u[at] - prev[at] + speed[at] * laplacian;
      }
    std::swap(u, prev);
  }
  const auto got = to_host(q, du);
  // A device may contract products and sums; errors grow with the steps.
  for (int i = 0; i < rows * cols; ++i) ASSERT_NEAR(got[i], u[i], 1e-5) << i;
  EXPECT_GT(std::fabs(got[35 * cols + 45 + 10]), 0);
}

}  // namespace
