// The same kernels by Keramos and by Kokkos alone, each in a function of its own: tests/overhead/count.cmake
// counts their machine instructions. Host only.
#include <keramos/keramos.hpp>

namespace {

using namespace keramos;
using exec = Kokkos::DefaultHostExecutionSpace;
using member = Kokkos::TeamPolicy<exec>::member_type;

constexpr int side = 32, lanes = 8;

}  // namespace

extern "C" {

void saxpy_keramos(float a, const float* x, float* y, index_t n) {
  const auto f = KERAMOS_LAMBDA(id<1> i) { y[i] += a * x[i]; };
  const detail::range_kernel<exec, 1, std::remove_const_t<decltype(f)>> kernel{f};
  for (index_t i = 0; i < n; ++i) kernel(i);
}
void saxpy_kokkos(float a, const float* x, float* y, index_t n) {
  const auto f = KOKKOS_LAMBDA(index_t i) { y[i] += a * x[i]; };
  for (index_t i = 0; i < n; ++i) f(i);
}

void transpose_keramos(const backend::traits<exec>::team_member& team, const double* from, double* to,
                       index_t n, index_t groups) {
  using tile = local_array<double, side, side + 1>;
  using wg = group<local_range<lanes, side>, local_memory<tile>, exec>;
  const auto f = KERAMOS_LAMBDA(wg & g) {
    const auto t = g.template local<0>();
    const index_t i0 = g.get_group_id(0) * side, j0 = g.get_group_id(1) * side;
    g.parallel_for_work_item([=](h_item it) {
      for (int i = it.i; i < side; i += lanes) t(i, it.j) = from[(i0 + i) * n + j0 + it.j];
    });
    g.barrier();
    g.parallel_for_work_item([=](h_item it) {
      for (int j = it.i; j < side; j += lanes) to[(j0 + j) * n + i0 + it.j] = t(it.j, j);
    });
  };
  const detail::work_group_kernel<wg, std::remove_const_t<decltype(f)>> kernel{f, {groups, groups}, {}, ""};
  kernel(team);
}
void transpose_kokkos(const member& team, const double* from, double* to, index_t n, index_t groups) {
  const auto f = KOKKOS_LAMBDA(const member& m) {
    double* const t =
        static_cast<double*>(m.team_scratch(0).get_shmem_aligned(sizeof(double) * side * (side + 1), 128));
    const index_t i0 = m.league_rank() / groups * side, j0 = m.league_rank() % groups * side;
    for (int i1 = 0; i1 < lanes; ++i1)
      for (int j = 0; j < side; ++j)
        for (int i = i1; i < side; i += lanes) t[i * (side + 1) + j] = from[(i0 + i) * n + j0 + j];
    m.team_barrier();
    for (int j1 = 0; j1 < lanes; ++j1)
      for (int i = 0; i < side; ++i)
        for (int j = j1; j < side; j += lanes) to[(j0 + j) * n + i0 + i] = t[i * (side + 1) + j];
  };
  f(team);
}

}  // extern "C"
