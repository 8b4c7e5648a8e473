#include "samples/sample.hpp"

namespace {

using namespace keramos;
using namespace keramos::samples;

// [kernel]
void vector_add(queue& q, const float* a, const float* b, float* sum, index_t n) {  //~
  q.parallel_for(
      "vector_add", range{n}, KERAMOS_LAMBDA(id<1> i) { sum[i] = a[i] + b[i]; });  //~
}
// [end]

TEST(Samples, VectorAdd) {
  queue q;
  std::vector<float> a(10000), b(10000);
  for (int i = 0; i < 10000; ++i) a[i] = float(i), b[i] = float(3 * i);
  const auto da = to_device(q, a), db = to_device(q, b), sum = to_device(q, std::vector<float>(10000));
  vector_add(q, da.data(), db.data(), sum.data(), 10000);
  const auto got = to_host(q, sum);
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(got[i], float(4 * i));
}

}  // namespace
