// The ladder's next steps: each item computes 4 x 4 points of C from registers, and the next tiles are
// copied while these are multiplied.
#include <keramos/keramos.hpp>
using matrix = Kokkos::View<float**, Kokkos::LayoutRight, keramos::default_execution_space>;

constexpr int stages = 3, tile_m = 64, tile_n = 64, tile_k = 8;
struct fragment {
  float c[4][4];
};

void multiply(keramos::queue& q, matrix A, matrix B, matrix C) {
  using a_ring = keramos::local_array<float, stages, tile_m, tile_k>;
  using b_ring = keramos::local_array<float, stages, tile_k, tile_n>;
  using wg = keramos::group<keramos::local_range<16, 16>, keramos::local_memory<a_ring, b_ring>>;
  const int m = C.extent(0), n = C.extent(1), k = A.extent(1), tiles = (k + tile_k - 1) / tile_k;
  const keramos::matrix_view<const float> a_global = keramos::as_matrix(A), b_global = keramos::as_matrix(B);
  q.parallel_for_work_group<wg>(
      "multiply", keramos::range{(m + tile_m - 1) / tile_m, (n + tile_n - 1) / tile_n},
      KERAMOS_LAMBDA(wg & g) {
        namespace tiling = keramos::tiling;
        const auto a_local = g.local<0>();
        const auto b_local = g.local<1>();
        const keramos::index_t i0 = g.get_group_id(0) * tile_m, j0 = g.get_group_id(1) * tile_n;
        auto sums = g.make_private(fragment{});
        for (int s = 0; s < stages - 1; ++s) {
          tiling::copy(g, a_local.sub(s), a_global, i0, s * tile_k);  // what sticks out becomes 0
          tiling::copy(g, b_local.sub(s), b_global, s * tile_k, j0);
          tiling::commit(g);
        }
        for (int s = 0; s < tiles; ++s) {
          tiling::wait<stages - 2>(g);  // stage s is there, and stage s - 1 has been read by all
          const int next = s + stages - 1;
          if (next < tiles) {
            tiling::copy(g, a_local.sub(next % stages), a_global, i0, next * tile_k);
            tiling::copy(g, b_local.sub(next % stages), b_global, next * tile_k, j0);
          }
          tiling::commit(g);
          const auto a = a_local.sub(s % stages);
          const auto b = b_local.sub(s % stages);
          g.parallel_for_work_item(
              [=](keramos::h_item it, fragment& f) {
                for (int p = 0; p < tile_k; ++p)
                  for (int i = 0; i < 4; ++i)
                    for (int j = 0; j < 4; ++j) f.c[i][j] += a(it.i + 16 * i, p) * b(p, it.j + 16 * j);
              },
              sums);
        }
        g.parallel_for_work_item(
            [=](keramos::h_item it, fragment& f) {
              for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) {
                  const keramos::index_t row = i0 + it.i + 16 * i, col = j0 + it.j + 16 * j;
                  if (row < m && col < n) C(row, col) = f.c[i][j];
                }
            },
            sums);
      });
}

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  const int m = 150, n = 90, k = 61;
  matrix A("A", m, k), B("B", k, n), C("C", m, n), D("D", m, n);
  const auto a = Kokkos::create_mirror_view(A);
  const auto b = Kokkos::create_mirror_view(B);
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p) a(i, p) = float((3 * i + p) % 7 - 3);
  for (int p = 0; p < k; ++p)
    for (int j = 0; j < n; ++j) b(p, j) = float((p + 5 * j) % 9 - 4);
  Kokkos::deep_copy(A, a);
  Kokkos::deep_copy(B, b);

  keramos::queue q;
  multiply(q, A, B, C);
  keramos::gemm(q, 1, A, B, 0, D).wait();

  const auto c = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), C);
  const auto d = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), D);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float expected = 0;
      for (int p = 0; p < k; ++p) expected += a(i, p) * b(p, j);
      if (c(i, j) != expected || d(i, j) != expected) return 1;
    }
}
