#include "samples/sample.hpp"

namespace {

using namespace keramos;
using namespace keramos::samples;

constexpr int side = 16;

// Tiles of A and B through local memory; n is a multiple of 16.
// [kernel]
void multiply(queue& q, const float* A, const float* B, float* C, int n) {
  using tile = local_array<float, side, side>;                                  //~
  using work_group = group<local_range<side, side>, local_memory<tile, tile>>;  //~
  q.parallel_for_work_group<work_group>(                                        //~
      "multiply", range{n / side, n / side}, KERAMOS_LAMBDA(work_group & g) {   //~
        const auto a = g.local<0>();                                            //~
        const auto b = g.local<1>();                                            //~
        auto sum = g.make_private(0.0f);                                        //~
        for (int k0 = 0; k0 < n; k0 += side) {
          g.parallel_for_work_item([=](h_item it) {                           //~
            a(it.i, it.j) = A[it.gi * n + k0 + it.j];                         //~
            b(it.i, it.j) = B[(k0 + it.i) * n + it.gj];                       //~
          });                                                                 //~
          g.barrier();                                                        //~
          g.parallel_for_work_item(                                           //~
              [=](h_item it, float& s) {                                      //~
                for (int k = 0; k < side; ++k) s += a(it.i, k) * b(k, it.j);  //~
              },                                                              //~
              sum);                                                           //~
          g.barrier();                                                        //~
        }
        g.parallel_for_work_item([=](h_item it, float& s) { C[it.gi * n + it.gj] = s; }, sum);  //~
      });
}
// [end]

TEST(Samples, MatrixMultiplyWithLocalMemory) {
  queue q;
  const int n = 64;
  std::vector<float> a(n * n), b(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = float(i % 7 - 3), b[i] = float(i % 5 - 2);
  const auto da = to_device(q, a), db = to_device(q, b), dc = to_device(q, a);
  multiply(q, da.data(), db.data(), dc.data(), n);
  const auto c = to_host(q, dc);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      ASSERT_EQ(c[i * n + j], sum);
    }
}

}  // namespace
