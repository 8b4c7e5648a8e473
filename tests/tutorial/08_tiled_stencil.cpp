// Heat spreading on a plate: a stencil on tiles with a halo, by hand and by the library.
#include <string>
#include <utility>

#include <keramos/keramos.hpp>
using plate = Kokkos::View<double**, Kokkos::LayoutRight, keramos::default_execution_space>;

void step_by_hand(keramos::queue& q, plate u, plate next) {
  using tile_type = keramos::local_array<double, 18, 66>;  // 16 x 64 points and one around them
  using wg = keramos::group<keramos::local_range<4, 64>, keramos::local_memory<tile_type>>;
  const int rows = u.extent(0), cols = u.extent(1);
  const keramos::matrix_view<const double> u_global = keramos::as_matrix(u);
  q.parallel_for_work_group<wg>(
      "heat", keramos::range{(rows + 15) / 16, (cols + 63) / 64}, KERAMOS_LAMBDA(wg & g) {
        const auto t = g.local<0>();
        const keramos::index_t i0 = g.get_group_id(0) * 16, j0 = g.get_group_id(1) * 64;
        keramos::tiling::copy(g, t, u_global, i0 - 1, j0 - 1);
        keramos::tiling::commit(g);
        keramos::tiling::wait(g);
        g.parallel_for_work_item([=](keramos::h_item it) {
          const int j = it.j + 1;  // in the tile
          for (int i = it.i + 1; i <= 16; i += 4)
            if (i0 + i < rows && j0 + j < cols && i0 + i > 1 && j0 + j > 1)
              next(i0 + i - 1, j0 + j - 1) = 0.25 * (t(i - 1, j) + t(i + 1, j) + t(i, j - 1) + t(i, j + 1));
        });
      });
}

using cross = keramos::halo<1, 1>;
void step_by_library(keramos::queue& q, plate u, plate next) {
  keramos::stencil<cross>(
      q, u, next, KERAMOS_LAMBDA(const keramos::neighborhood<double, cross>& v) {
        return 0.25 * (v(-1, 0) + v(1, 0) + v(0, -1) + v(0, 1));
      });
}

plate hot_edge(const std::string& name, int rows, int cols) {
  plate u(name, rows, cols);
  Kokkos::deep_copy(Kokkos::subview(u, 0, Kokkos::ALL), 100.0);
  return u;
}

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  const int rows = 50, cols = 130;
  plate u = hot_edge("u", rows, cols), next = hot_edge("next", rows, cols);
  plate v = hot_edge("v", rows, cols), next_v = hot_edge("next_v", rows, cols);

  keramos::queue q;
  for (int step = 0; step < 20; ++step) {
    step_by_hand(q, u, next);
    step_by_library(q, v, next_v);
    std::swap(u, next);
    std::swap(v, next_v);
  }
  q.wait();

  const auto by_hand = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  const auto by_library = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      if (by_hand(i, j) != by_library(i, j)) return 1;
  return by_hand(1, cols / 2) > 50 && by_hand(rows - 2, cols / 2) == 0 ? 0 : 1;
}
