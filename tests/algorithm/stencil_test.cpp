#include <cmath>

#include "algorithm/test_data.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

/// Whole numbers and weights that differ in every direction: sums are exact, and no two errors cancel.
template <class Halo>
struct weights {
  template <class T>
  KERAMOS_INLINE_FUNCTION static T of(int di, int dj, int dk) {
    return T(1 + di * 3 + dj * 7 + dk * 31 + di * dj * 2);
  }
};

template <class T, class Halo>
void run_2d(queue& q, const grid_view<const T, 2>& in, const grid_view<T, 2>& out, boundary b) {
  stencil<Halo>(
      q, in, out,
      KERAMOS_LAMBDA(const neighborhood<T, Halo>& u) {
        T sum = T(1000 * u.index()[0] + u.index()[1]);
        for (int di = -Halo::radius(0); di <= Halo::radius(0); ++di)
          for (int dj = -Halo::radius(1); dj <= Halo::radius(1); ++dj)
            sum += weights<Halo>::template of<T>(di, dj, 0) * u(di, dj);
        return sum;
      },
      b);
}
template <class T, class Halo>
void run_3d(queue& q, const grid_view<const T, 3>& in, const grid_view<T, 3>& out, boundary b) {
  stencil<Halo>(
      q, in, out,
      KERAMOS_LAMBDA(const neighborhood<T, Halo>& u) {
        T sum = T(1000 * (100 * u.index()[0] + u.index()[1]) + u.index()[2]);
        for (int di = -Halo::radius(0); di <= Halo::radius(0); ++di)
          for (int dj = -Halo::radius(1); dj <= Halo::radius(1); ++dj)
            for (int dk = -Halo::radius(2); dk <= Halo::radius(2); ++dk)
              sum += weights<Halo>::template of<T>(di, dj, dk) * u(di, dj, dk);
        return sum;
      },
      b);
}

/// The value at `i` as boundary b has it.
template <class T, int Rank>
T value_at(const std::vector<T>& in, const grid_view<T, Rank>& g, const index_t* i, boundary b) {
  index_t at = 0;
  for (int d = 0; d < Rank; ++d) {
    const index_t n = g.extent[d];
    index_t j = i[d];
    if (b == boundary::clamp) j = std::min(std::max<index_t>(j, 0), n - 1);
    if (b == boundary::periodic) j = (j % n + n) % n;
    if (j < 0 || j >= n) return T(0);
    at += j * g.stride[d];
  }
  return in[at];
}

template <int Rank>
void set_strides(grid_view<double, Rank>& g, bool left) {
  index_t stride = 1;
  for (int s = 0; s < Rank; ++s) {
    const int d = left ? s : Rank - 1 - s;
    g.stride[d] = stride;
    stride *= g.extent[d] + (s == 0 ? 2 : 0);
  }
}

template <class Halo>
void test_stencil(std::initializer_list<index_t> extents, bool in_left, bool out_left, boundary b,
                  std::mt19937_64& random) {
  constexpr int rank = Halo::rank;
  grid_view<double, rank> gi, go;
  std::copy(extents.begin(), extents.end(), gi.extent);
  std::copy(extents.begin(), extents.end(), go.extent);
  set_strides(gi, in_left);
  set_strides(go, out_left);
  index_t memory = 1;
  for (int d = 0; d < rank; ++d) memory *= gi.extent[d] + 2;
  std::vector<double> in(memory), expected(memory);
  for (auto& x : in) x = double(index_t(random() % 201) - 100);
  for (auto& x : expected) x = double(random() % 1000);
  const auto din = to_device(in), dout = to_device(expected);
  grid_view<double, rank> from = gi, to = go;
  from.data = din.data(), to.data = dout.data();
  queue q;
  if constexpr (rank == 2)
    run_2d<double, Halo>(q, from, to, b);
  else
    run_3d<double, Halo>(q, from, to, b);
  q.wait();

  const index_t depth = rank == 3 ? gi.extent[rank - 1] : 1;
  const int rk = rank == 3 ? Halo::radius(rank - 1) : 0;
  for (index_t i = 0; i < gi.extent[0]; ++i)
    for (index_t j = 0; j < gi.extent[1]; ++j)
      for (index_t k = 0; k < depth; ++k) {
        const index_t p[] = {i, j, k};
        bool inside = true;
        index_t at = 0;
        for (int d = 0; d < rank; ++d) {
          inside = inside && p[d] >= Halo::radius(d) && p[d] + Halo::radius(d) < gi.extent[d];
          at += p[d] * go.stride[d];
        }
        if (b == boundary::interior && !inside) continue;
        double sum = rank == 2 ? 1000.0 * i + j : 1000.0 * (100 * i + j) + k;
        for (int di = -Halo::radius(0); di <= Halo::radius(0); ++di)
          for (int dj = -Halo::radius(1); dj <= Halo::radius(1); ++dj)
            for (int dk = -rk; dk <= rk; ++dk) {
              const index_t n[] = {i + di, j + dj, k + dk};
              sum += weights<Halo>::template of<double>(di, dj, dk) * value_at<double, rank>(in, gi, n, b);
            }
        expected[at] = sum;
      }
  const auto got = to_host(dout);
  for (index_t e = 0; e < memory; ++e) ASSERT_EQ(got[e], expected[e]) << "element " << e;
}

template <class Halo>
void test_boundaries(std::initializer_list<std::initializer_list<index_t>> sizes) {
  std::mt19937_64 random(fresh_seed());
  for (const auto& extents : sizes)
    for (const bool in_left : {false, true})
      for (const bool out_left : {false, true})
        for (const auto b : {boundary::interior, boundary::zero, boundary::clamp, boundary::periodic}) {
          SCOPED_TRACE(testing::Message() << "first extent " << *extents.begin() << " left " << in_left
                                          << out_left << " boundary " << int(b));
          test_stencil<Halo>(extents, in_left, out_left, b, random);
        }
}
TEST(Stencil, CrossOfTwoDimensions) {
  test_boundaries<halo<1, 1>>({{1, 1}, {3, 200}, {97, 64}, {100, 131}, {100, 128}, {0, 4}});
}
TEST(Stencil, DifferentRadii) { test_boundaries<halo<3, 0>>({{70, 70}, {2, 90}}); }
TEST(Stencil, WideHalo) { test_boundaries<halo<2, 5>>({{66, 140}, {4, 3}}); }
TEST(Stencil, CrossOfThreeDimensions) {
  test_boundaries<halo<1, 1, 1>>({{1, 1, 1}, {70, 20, 70}, {9, 33, 130}, {9, 48, 128}});
}
TEST(Stencil, DifferentRadiiInThreeDimensions) { test_boundaries<halo<2, 1, 3>>({{12, 18, 67}, {3, 2, 4}}); }
TEST(Stencil, EighthOrderInThreeDimensions) { test_boundaries<halo<4, 4, 4>>({{11, 19, 37}}); }
TEST(Stencil, WideHaloInThreeDimensions) { test_boundaries<halo<5, 5, 5>>({{12, 7, 13}}); }

using cross = halo<1, 1>;
void average(queue& q, const Kokkos::View<const float**, default_execution_space>& in,
             const Kokkos::View<double**, default_execution_space>& out) {
  stencil<cross>(
      q, in, out, KERAMOS_LAMBDA(const neighborhood<float, cross>& u) {
        return 0.25f * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1));
      });
}
TEST(Stencil, ViewsOfDifferentTypes) {
  Kokkos::View<float**, default_execution_space> in("in", 30, 40);
  Kokkos::View<double**, default_execution_space> out("out", 30, 40);
  Kokkos::deep_copy(in, 3.0f);
  queue q;
  average(q, in, out);
  q.wait();
  const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 40; ++j) ASSERT_EQ(h(i, j), i > 0 && i < 29 && j > 0 && j < 39 ? 3.0 : 0.0);
}

void refuse_extents(queue& q) {
  Kokkos::View<float**, default_execution_space> in("in", 30, 40);
  average(q, in, Kokkos::View<double**, default_execution_space>("out", 40, 30));
}
void refuse_in_place(queue& q) {
  device_view<double*> memory("m", 100);
  const grid_view<double, 2> g{memory.data(), {10, 10}, {10, 1}};
  run_2d<double, cross>(q, g, g, boundary::zero);
}
struct first_neighbour {
  template <class V>
  KERAMOS_INLINE_FUNCTION double operator()(const V& v) const {
    return v(-1, 0, 0);
  }
};
void step_in_space(index_t out_offset, index_t out_plane) {
  constexpr index_t n = 10, row = 2 * n, plane = row * 2 * n;
  device_view<double*> memory("memory", 2 * n * plane);
  queue q;
  stencil<halo<1, 1, 1>>(q, grid_view<const double, 3>{memory.data(), {n, n, n}, {plane, row, 1}},
                         grid_view<double, 3>{memory.data() + out_offset, {n, n, n}, {out_plane, row, 1}},
                         first_neighbour());
}
TEST(Stencil, RefusesGridsOfOneArrayThatOverlap) {
  constexpr index_t n = 10, row = 2 * n, plane = row * 2 * n;
  EXPECT_EQ(refusal([&] { step_in_space(n, plane); }), "nothing was refused");  // beside it
  expect_words(refusal([&] { step_in_space(plane + row + 1, plane); }), {"out (10x10x10) overlaps in"});
  expect_words(refusal([&] { step_in_space(n * plane, 3 * row + 5); }), {"out has strides", "share memory"});
}

TEST(Stencil, RefusesWhatItCannotDo) {
  queue q;
  expect_words(refusal([&] { refuse_extents(q); }), {"keramos::stencil", "out is 40x30", "must be 30x40"});
  expect_words(refusal([&] { refuse_in_place(q); }), {"out (10x10) overlaps in"});
}

}  // namespace
