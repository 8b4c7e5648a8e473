#include "samples/sample.hpp"

namespace {

using namespace keramos;
using namespace keramos::samples;

constexpr int bins = 256;

// Each group counts into bins of its own in local memory, which it adds to the global ones at the end.
// [kernel]
void histogram(queue& q, const unsigned char* data, index_t n, unsigned* count) {                      //~
  using work_group = group<local_range<bins>, local_memory<local_array<unsigned, bins>>>;              //~
  const index_t groups = (n + 64 * bins - 1) / (64 * bins);                                            //~
  q.parallel_for_work_group<work_group>(                                                               //~
      "histogram", range{groups}, KERAMOS_LAMBDA(work_group & g) {                                     //~
        const auto local = g.local<0>();                                                               //~
        g.parallel_for_work_item([=](h_item it) { local(it.i) = 0; });                                 //~
        g.barrier();                                                                                   //~
        g.parallel_for_work_item([=](h_item it) {                                                      //~
          for (index_t i = it.gi; i < n; i += groups * bins)                                           //~
            atomic_ref(local.data()[data[i]]).fetch_add(1u);                                           //~
        });                                                                                            //~
        g.barrier();                                                                                   //~
        g.parallel_for_work_item([=](h_item it) { atomic_ref(count[it.i]).fetch_add(local(it.i)); });  //~
      });
}
// [end]

TEST(Samples, Histogram) {
  queue q;
  const int n = 100'000;
  std::mt19937 random(std::random_device{}());
  std::vector<unsigned char> data(n);
  std::vector<unsigned> expected(bins);
  for (auto& x : data) ++expected[x = static_cast<unsigned char>(random() % 200 * random() % bins)];
  const auto values = to_device(q, data);
  const auto count = to_device(q, std::vector<unsigned>(bins));
  histogram(q, values.data(), n, count.data());
  EXPECT_EQ(to_host(q, count), expected);
}

}  // namespace
