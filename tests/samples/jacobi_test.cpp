#include <cmath>
#include <utility>

#include "samples/sample.hpp"

namespace {

using namespace keramos;
using namespace keramos::samples;

// x' = D^-1 (b - (A - D) x), and the largest change for the host to look at.
// [kernel]
double jacobi_step(queue& q, const double* A, const double* b, const double* x, double* next, index_t n,  //~
                   double* largest) {
  q.parallel_for(
      "jacobi", range{n}, reduction(largest, maximum{}, initialize_to_identity),  //~
      KERAMOS_LAMBDA(id<1> i, reducer<double, maximum> & change) {                //~
        double sum = b[i];
        for (index_t j = 0; j < n; ++j)  //~
          if (j != i) sum -= A[i * n + j] * x[j];
        next[i] = sum / A[i * n + i];
        change.combine(next[i] < x[i] ? x[i] - next[i] : next[i] - x[i]);
      });
  double result;
  q.copy<double>(largest, &result, 1).wait();
  return result;
}
// [end]

TEST(Samples, Jacobi) {
  queue q;
  const int n = 200;
  std::mt19937 random(std::random_device{}());
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double> A(n * n), solution(n), b(n, 0.0);
  for (auto& s : solution) s = value(random);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) A[i * n + j] = i == j ? 1.5 * n : value(random);  // dominant diagonal
    for (int j = 0; j < n; ++j) b[i] += A[i * n + j] * solution[j];
  }
  const auto dA = to_device(q, A), db = to_device(q, b), largest = to_device(q, std::vector<double>(1));
  auto x = to_device(q, std::vector<double>(n)), next = to_device(q, std::vector<double>(n));
  int steps = 0;
  double error = 1;
  for (; error > 1e-13 && steps < 200; ++steps) {
    error = jacobi_step(q, dA.data(), db.data(), x.data(), next.data(), n, largest.data());
    std::swap(x, next);
  }
  EXPECT_LT(steps, 200);
  const auto got = to_host(q, x);
  for (int i = 0; i < n; ++i) ASSERT_NEAR(got[i], solution[i], 1e-11);
}

}  // namespace
