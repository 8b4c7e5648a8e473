#include <cmath>

#include "samples/sample.hpp"

namespace {

using namespace keramos;
using namespace keramos::samples;

struct body {
  float x, y, z, mass;
};
struct vec3 {
  float x, y, z;
};

constexpr int block = 128;

KERAMOS_INLINE_FUNCTION void attract(const body& p, const body& q, vec3& a) {
  const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
  const float r2 = dx * dx + dy * dy + dz * dz + 1e-2f;  // softened
  const float inverse = 1 / std::sqrt(r2);
  const float s = q.mass * inverse * inverse * inverse;
  a.x += s * dx, a.y += s * dy, a.z += s * dz;
}

// All pairs, blocks of bodies through local memory (Nyland, Harris and Prins, GPU Gems 3, chapter 31).
// [kernel]
void accelerate(queue& q, const body* bodies, vec3* acceleration, index_t n) {           //~
  using work_group = group<local_range<block>, local_memory<local_array<body, block>>>;  //~
  q.parallel_for_work_group<work_group>(                                                 //~
      "accelerate", range{(n + block - 1) / block}, KERAMOS_LAMBDA(work_group & g) {     //~
        const auto local = g.local<0>();                                                 //~
        auto sum = g.make_private(vec3{0, 0, 0});                                        //~
        for (index_t first = 0; first < n; first += block) {                             //~
          g.parallel_for_work_item([=](h_item it) {                                      //~
            local(it.i) = first + it.i < n ? bodies[first + it.i] : body{0, 0, 0, 0};    //~
          });                                                                            //~
          g.barrier();                                                                   //~
          g.parallel_for_work_item(                                                      //~
              [=](h_item it, vec3& a) {                                                  //~
                if (it.gi < n)                                                           //~
                  for (int j = 0; j < block; ++j) attract(bodies[it.gi], local(j), a);   //~
              },                                                                         //~
              sum);                                                                      //~
          g.barrier();                                                                   //~
        }
        g.parallel_for_work_item(                      //~
            [=](h_item it, vec3& a) {                  //~
              if (it.gi < n) acceleration[it.gi] = a;  //~
            },                                         //~
            sum);                                      //~
      });
}
// [end]

TEST(Samples, NBody) {
  queue q;
  const int n = 300;
  std::mt19937 random(std::random_device{}());
  std::uniform_real_distribution<float> place(-1, 1), mass(0.1f, 1);
  std::vector<body> bodies(n);
  for (auto& b : bodies) b = {place(random), place(random), place(random), mass(random)};
  const auto on_device = to_device(q, bodies);
  const auto result = to_device(q, std::vector<vec3>(n));
  accelerate(q, on_device.data(), result.data(), n);
  const auto got = to_host(q, result);
  for (int i = 0; i < n; ++i) {
    double x = 0, y = 0, z = 0, size = 0;
    for (const auto& b : bodies) {
      const double dx = b.x - bodies[i].x, dy = b.y - bodies[i].y, dz = b.z - bodies[i].z;
      const double s = b.mass / std::pow(dx * dx + dy * dy + dz * dz + 1e-2, 1.5);
      x += s * dx, y += s * dy, z += s * dz, size += s * std::sqrt(dx * dx + dy * dy + dz * dz);
    }
    ASSERT_NEAR(got[i].x, x, 1e-5 * size);
    ASSERT_NEAR(got[i].y, y, 1e-5 * size);
    ASSERT_NEAR(got[i].z, z, 1e-5 * size);
  }
}

}  // namespace
