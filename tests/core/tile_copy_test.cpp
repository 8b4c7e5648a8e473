// tiling::copy: tiles of a matrix into local memory, on every side of its borders, and in stages.
#include <gtest/gtest.h>

#include <vector>

#include <keramos/keramos.hpp>

namespace {

using namespace keramos;

template <class T>
using device_view = Kokkos::View<T, default_execution_space>;

/// Writes the tile at (i0, j0) as the group sees it; what lies behind the tile's columns stays -1.
template <class T, int Rows, int Cols, int Pitch>
void fetch_tile(queue& q, const matrix_view<const T>& from, index_t i0, index_t j0,
                const device_view<T**>& out) {
  using array = local_array<T, Rows, Pitch>;
  using wg = group<local_range<3, 32>, local_memory<array>>;
  q.parallel_for_work_group<wg>(
      "fetch", range{1, 1}, KERAMOS_LAMBDA(wg & g) {
        const auto a = g.template local<0>();
        g.parallel_for_work_item([=](h_item it) {
          for (int e = it.linear; e < array::size; e += 96) a[e] = T(-1);
        });
        g.barrier();
        tiling::copy<Rows, Cols>(g, a, from, i0, j0);
        tiling::commit(g);
        tiling::wait(g);
        g.parallel_for_work_item([=](h_item it) {
          for (int e = it.linear; e < array::size; e += 96) out(e / Pitch, e % Pitch) = a[e];
        });
      });
}

template <class T, int Rows, int Cols, int Pitch>
void test_tile(bool columns) {
  constexpr index_t rows = 50, cols = 72;
  std::vector<T> data(rows * cols);
  for (std::size_t e = 0; e < data.size(); ++e) data[e] = T(e % 97 + 1);
  device_view<T*> memory("memory", data.size());
  auto mirror = Kokkos::create_mirror_view(memory);
  for (std::size_t e = 0; e < data.size(); ++e) mirror(e) = data[e];
  Kokkos::deep_copy(memory, mirror);
  const auto from = columns ? matrix_view<const T>::column_major(memory.data(), rows, cols)
                            : matrix_view<const T>::row_major(memory.data(), rows, cols);
  queue q;
  for (const index_t i0 : {-40, -3, 0, 7, 45, 60})
    for (const index_t j0 : {-50, -5, -4, 0, 1, 4, 8, 60, 70, 90}) {
      device_view<T**> out("out", Rows, Pitch);
      fetch_tile<T, Rows, Cols, Pitch>(q, from, i0, j0, out);
      q.wait();
      const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
      for (int i = 0; i < Rows; ++i)
        for (int j = 0; j < Pitch; ++j) {
          const index_t r = i0 + i, c = j0 + j;
          const bool inside = 0 <= r && r < rows && 0 <= c && c < cols;
          const T expected = j >= Cols ? T(-1) : !inside ? T(0) : data[columns ? c * rows + r : r * cols + c];
          ASSERT_EQ(h(i, j), expected) << i0 << ' ' << j0 << ": " << i << ' ' << j;
        }
    }
}
TEST(TileCopy, VectorsOfFloats) { test_tile<float, 8, 32, 36>(false); }
TEST(TileCopy, VectorsOfDoubles) { test_tile<double, 20, 16, 16>(false); }
TEST(TileCopy, SingleElements) { test_tile<float, 9, 17, 18>(false); }
TEST(TileCopy, ColumnMajor) { test_tile<double, 16, 16, 17>(true); }
TEST(TileCopy, BytesAndWideTypes) {
  test_tile<signed char, 8, 16, 16>(false);
  test_tile<short, 8, 16, 20>(true);
}

// The pipeline of tile_copy.hpp's header: sums over tiles that arrive while others are worked on.
template <int Stages>
void sum_rows(queue& q, const matrix_view<const float>& m, const device_view<double*>& sums) {
  using ring_type = local_array<float, Stages, 16, 32>;
  using wg = group<local_range<16, 8>, local_memory<ring_type>>;
  q.parallel_for_work_group<wg>(
      "sum_rows", range{(m.rows + 15) / 16, 1}, KERAMOS_LAMBDA(wg & g) {
        const auto ring = g.template local<0>();
        const index_t i0 = g.get_group_id(0) * 16;
        const int tiles = int((m.cols + 31) / 32);
        auto sum = g.make_private(0.0);
        for (int s = 0; s < Stages - 1; ++s) {
          if (s < tiles) tiling::copy(g, ring.sub(s), m, i0, s * 32);
          tiling::commit(g);
        }
        for (int s = 0; s < tiles; ++s) {
          tiling::wait<Stages - 2>(g);
          const int next = s + Stages - 1;
          if (next < tiles) tiling::copy(g, ring.sub(next % Stages), m, i0, next * 32);
          tiling::commit(g);
          const auto now = ring.sub(s % Stages);
          g.parallel_for_work_item(
              [=](h_item it, double& x) {
                // All items read the whole row, so that one that comes early or late shows.
                for (int j = 0; j < 32; ++j) x += (1 + (it.j + j) % 3) * double(now(it.i, j));
              },
              sum);
        }
        g.parallel_for_work_item(
            [=](h_item it, double& x) {
              if (it.gi < m.rows) sums(it.gi * 8 + it.j) = x;
            },
            sum);
      });
}
template <int Stages>
void test_pipeline(index_t rows, index_t cols) {
  device_view<float**> m("m", rows, cols);
  const auto h = Kokkos::create_mirror_view(m);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) h(i, j) = float((i * 31 + j * 17) % 101);
  Kokkos::deep_copy(m, h);
  device_view<double*> sums("sums", rows * 8);
  queue q;
  sum_rows<Stages>(q, as_matrix(m), sums);
  q.wait();
  const auto s = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
  for (index_t i = 0; i < rows; ++i)
    for (int k = 0; k < 8; ++k) {
      double expected = 0;
      for (index_t j = 0; j < cols; ++j) expected += (1 + (k + j % 32) % 3) * double(h(i, j));
      ASSERT_EQ(s(i * 8 + k), expected) << i << ' ' << k;
    }
}
TEST(TilePipeline, TwoStages) { test_pipeline<2>(40, 300); }
TEST(TilePipeline, FourStages) { test_pipeline<4>(33, 1000); }
TEST(TilePipeline, FewerTilesThanStages) { test_pipeline<4>(16, 40); }

// One dimension.
void reverse_blocks(queue& q, const device_view<int*>& from, const device_view<int*>& to) {
  using line = local_array<int, 100>;
  using wg = group<local_range<100>, local_memory<line>>;
  const index_t n = from.extent(0);
  q.parallel_for_work_group<wg>(
      "reverse", range{(n + 99) / 100}, KERAMOS_LAMBDA(wg & g) {
        const auto block = g.local<0>();
        tiling::copy(g, block, from.data(), n, g.get_group_id(0) * 100);
        tiling::commit(g);
        tiling::wait(g);
        g.parallel_for_work_item([=](h_item it) {
          if (it.gi < n) to(it.gi) = block(99 - it.i);
        });
      });
}
TEST(TileCopy, OneDimension) {
  device_view<int*> from("from", 250), to("to", 250);
  const auto h = Kokkos::create_mirror_view(from);
  for (int i = 0; i < 250; ++i) h(i) = 1000 + i;
  Kokkos::deep_copy(from, h);
  queue q;
  reverse_blocks(q, from, to);
  q.wait();
  const auto r = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
  for (int i = 0; i < 250; ++i) {
    const int source = i / 100 * 100 + 99 - i % 100;
    ASSERT_EQ(r(i), source < 250 ? 1000 + source : 0);
  }
}

}  // namespace
