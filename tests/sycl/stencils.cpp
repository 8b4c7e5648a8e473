// Kernels of stencils in two and three dimensions. A program compiles this when it runs (docs/elsewhere.md).
#include <sycl/sycl.hpp>

#include <keramos/algorithm/stencil_kernel.hpp>
#include <keramos/core/detail/launch.hpp>

#include <team.hpp>
#include "arguments.hpp"

using namespace keramos;
using keramos::test::device::grid;
using keramos::test::device::space;

namespace {

// A wave's next step: all axes to the full radius.
template <class Halo>
struct star {
  float operator()(const neighborhood<float, Halo>& v) const {
    float sum = 0;
    for (int d = 0; d < Halo::rank; ++d)
      for (int r = -Halo::radius(d); r <= Halo::radius(d); ++r) {
        int at[3] = {0, 0, 0};
        at[d] = r;
        const float weight = float(test::device::weight_of(d, r));
        if constexpr (Halo::rank == 2)
          sum += weight * v(at[0], at[1]);
        else
          sum += weight * v(at[0], at[1], at[2]);
      }
    return sum;
  }
};

template <class Halo>
auto kernel_of(const grid& g) {
  constexpr int rank = Halo::rank;
  using kernel = detail::stencil_kernel<space, float, float, Halo, false, star<Halo>>;
  grid_view<const float, rank> in{g.in, {}, {}};
  grid_view<float, rank> out{g.out, {}, {}};
  index_t stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    in.extent[d] = out.extent[d] = g.extent[d];
    in.stride[d] = out.stride[d] = stride;
    stride *= g.extent[d] + (d == rank - 1 ? 3 : 0);
  }
  return kernel(in, out, star<Halo>(), boundary(g.boundary), 1000);
}

template <class Halo>
void run(const grid& g) {
  const auto kernel = kernel_of<Halo>(g);
  using group_type = typename std::remove_const_t<decltype(kernel)>::group_type;
  const auto team = test::device::team_with<group_type::team_size, group_type::local_memory_type::bytes>();
  detail::work_group_kernel<group_type, std::remove_const_t<decltype(kernel)>>{
      kernel, kernel.groups(), {}, ""}(team);
}
// Groups, and the threads of each.
template <class Halo>
void describe(const grid& g, int* out) {
  const auto kernel = kernel_of<Halo>(g);
  out[0] = int(kernel.groups().size());
  out[1] = std::remove_const_t<decltype(kernel)>::group_type::team_size;
}

}  // namespace

#define KERAMOS_STENCIL(name, ...)                           \
  KERAMOS_ND_RANGE_KERNEL(256)                               \
  void stencil_##name(grid g) { run<halo<__VA_ARGS__>>(g); } \
  KERAMOS_SINGLE_TASK_KERNEL                                 \
  void groups_##name(grid g, int* out) { describe<halo<__VA_ARGS__>>(g, out); }
KERAMOS_STENCIL(1_1, 1, 1)
KERAMOS_STENCIL(2_5, 2, 5)
KERAMOS_STENCIL(2_1_3, 2, 1, 3)
KERAMOS_STENCIL(4_4_4, 4, 4, 4)
