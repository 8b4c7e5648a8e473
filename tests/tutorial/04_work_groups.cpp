// Work-groups: phases over the items of a group, local memory that they share, barriers between.
#include <keramos/keramos.hpp>
using matrix = Kokkos::View<double**, Kokkos::LayoutRight, keramos::default_execution_space>;

// Reads and writes rows, though it turns them into columns: the turning happens in local memory.
void transpose(keramos::queue& q, matrix from, matrix to) {
  using tile = keramos::local_array<double, 32, 33>;  // one column more keeps its columns off one bank
  using wg = keramos::group<keramos::local_range<8, 32>, keramos::local_memory<tile>>;
  const int rows = from.extent(0), cols = from.extent(1);
  q.parallel_for_work_group<wg>(
      "transpose", keramos::range{(rows + 31) / 32, (cols + 31) / 32}, KERAMOS_LAMBDA(wg & g) {
        const auto t = g.local<0>();
        const keramos::index_t i0 = g.get_group_id(0) * 32, j0 = g.get_group_id(1) * 32;
        g.parallel_for_work_item([=](keramos::h_item it) {
          for (int i = it.i; i < 32; i += 8)
            if (i0 + i < rows && j0 + it.j < cols) t(i, it.j) = from(i0 + i, j0 + it.j);
        });
        g.barrier();  // the tile is there for all
        g.parallel_for_work_item([=](keramos::h_item it) {
          for (int j = it.i; j < 32; j += 8)
            if (i0 + it.j < rows && j0 + j < cols) to(j0 + j, i0 + it.j) = t(it.j, j);
        });
      });
}

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  const int rows = 100, cols = 75;
  matrix a("a", rows, cols), b("b", cols, rows), c("c", cols, rows);
  const auto h = Kokkos::create_mirror_view(a);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) h(i, j) = 1000 * i + j;
  Kokkos::deep_copy(a, h);

  keramos::queue q;
  transpose(q, a, b);
  keramos::transpose(q, a, c).wait();  // the library's

  const auto b_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  const auto c_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      if (b_host(j, i) != h(i, j) || c_host(j, i) != h(i, j)) return 1;
}
