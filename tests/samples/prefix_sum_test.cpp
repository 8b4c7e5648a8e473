#include <utility>

#include "samples/sample.hpp"

namespace {

using namespace keramos;
using namespace keramos::samples;

// Hillis and Steele, "Data Parallel Algorithms" (1986): log2(n) steps, in each of which element i adds the
// one 2^s to its left. The result is where the first array was after an even number of steps.
// [kernel]
float* prefix_sum(queue& q, float* x, float* y, index_t n) {  //~
  for (index_t by = 1; by < n; by *= 2) {                     //~
    q.parallel_for(
        "prefix_sum", range{n}, KERAMOS_LAMBDA(id<1> i) { y[i] = i < by ? x[i] : x[i] + x[i - by]; });  //~
    std::swap(x, y);
  }
  return x;
}
// [end]

TEST(Samples, PrefixSum) {
  queue q;
  const int n = 5000;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = float(i % 11 - 3);
  const auto dx = to_device(q, x), dy = to_device(q, x), by_library = to_device(q, x);
  inclusive_scan(q, dx, by_library);
  const bool even = prefix_sum(q, dx.data(), dy.data(), n) == dx.data();
  const auto got = to_host(q, even ? dx : dy);
  const auto library = to_host(q, by_library);
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += x[i];
    ASSERT_EQ(got[i], sum) << i;
    ASSERT_EQ(library[i], sum) << i;
  }
}

}  // namespace
