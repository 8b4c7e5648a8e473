// The same kernels by Keramos and by Kokkos alone, for a device: tests/overhead/count_device.cmake counts their machine
// instructions.
#include <keramos/keramos.hpp>

namespace {

using namespace keramos;
using exec = default_execution_space;

constexpr int side = 32, lanes = 8;
using tile_type = local_array<double, side, side + 1>;
using work_group = group<local_range<lanes, side>, local_memory<tile_type>>;
constexpr int team = work_group::team_size, tile_bytes = int(tile_type::bytes);
using policy = Kokkos::TeamPolicy<exec, Kokkos::LaunchBounds<team, 1>>;
using member = policy::member_type;

}  // namespace

struct saxpy_keramos {
  float a;
  const float* x;
  float* y;
  KERAMOS_INLINE_FUNCTION void operator()(id<1> i) const { y[i] += a * x[i]; }
};
struct saxpy_kokkos {
  float a;
  const float* x;
  float* y;
  KOKKOS_INLINE_FUNCTION void operator()(index_t i) const { y[i] += a * x[i]; }
};

struct transpose_keramos {
  const double* from;
  double* to;
  index_t n;
  KERAMOS_INLINE_FUNCTION void operator()(work_group& g) const {
    const auto t = g.local<0>();
    const index_t i0 = g.get_group_id(0) * side, j0 = g.get_group_id(1) * side;
    const transpose_keramos& k = *this;
    g.parallel_for_work_item([=](h_item it) {
      for (int i = it.i; i < side; i += lanes) t(i, it.j) = k.from[(i0 + i) * k.n + j0 + it.j];
    });
    g.barrier();
    g.parallel_for_work_item([=](h_item it) {
      for (int j = it.i; j < side; j += lanes) k.to[(j0 + j) * k.n + i0 + it.j] = t(it.j, j);
    });
  }
};
struct transpose_kokkos {
  const double* from;
  double* to;
  index_t n, groups;
  KOKKOS_INLINE_FUNCTION void operator()(const member& m) const {
    double* const t = static_cast<double*>(m.team_scratch(0).get_shmem_aligned(std::size_t(tile_bytes), 128));
    const index_t i0 = m.league_rank() / groups * side, j0 = m.league_rank() % groups * side;
    for (int e = m.team_rank(); e < lanes * side; e += team)
      for (int i = e / side, j = e % side; i < side; i += lanes)
        t[i * (side + 1) + j] = from[(i0 + i) * n + j0 + j];
    m.team_barrier();
    for (int e = m.team_rank(); e < lanes * side; e += team)
      for (int j = e / side, i = e % side; j < side; j += lanes)
        to[(j0 + j) * n + i0 + i] = t[i * (side + 1) + j];
  }
};

void launch_all(queue& q, const float* x, float* y, const double* from, double* to, index_t n) {
  const exec& e = q.execution_space();
  q.parallel_for("saxpy", range{n}, saxpy_keramos{2, x, y});
  Kokkos::parallel_for("saxpy", Kokkos::RangePolicy<exec, Kokkos::IndexType<index_t>>(e, 0, n),
                       saxpy_kokkos{2, x, y});
  const index_t groups = n / side;
  q.parallel_for_work_group<work_group>("transpose", range{groups, groups}, transpose_keramos{from, to, n});
  policy p(e, int(groups * groups), team);
  p.set_scratch_size(0, Kokkos::PerTeam(tile_bytes + 128));
  Kokkos::parallel_for("transpose", p, transpose_kokkos{from, to, n, groups});
}
