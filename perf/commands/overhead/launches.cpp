#include "launches.hpp"

#include <chrono>

#include <keramos/keramos.hpp>

#include "measure/device/machine_queue.hpp"

namespace keramos::perf {
namespace {

using space = keramos::default_execution_space;
using cell = Kokkos::View<int*, space>;

template <class Launch>
double wall_seconds(std::int64_t calls, const Launch& launch) {
  using clock = std::chrono::steady_clock;
  machine_queue().wait();
  const auto start = clock::now();
  for (std::int64_t c = 0; c < calls; ++c) launch();
  machine_queue().wait();
  return std::chrono::duration<double>(clock::now() - start).count();
}

using group_of_one_warp = keramos::group<keramos::local_range<32>>;
constexpr int team = group_of_one_warp::team_size;

}  // namespace

// Not in the namespace above: nvcc wants kernels' lambdas in functions with linkage. All with the same parameters, since
// these are in the lambdas' names, and on CUDA a launch takes longer for a longer name.
void keramos_range(keramos::queue& q, const space&, const cell& x) {
  q.parallel_for(
      "keramos_empty", keramos::range{1}, KERAMOS_LAMBDA(keramos::index_t i) { x(i) = 1; });
}
void kokkos_range(keramos::queue&, const space& exec, const cell& x) {
  Kokkos::parallel_for(
      "kokkos_empty", Kokkos::RangePolicy<space, Kokkos::IndexType<keramos::index_t>>(exec, 0, 1),
      KOKKOS_LAMBDA(keramos::index_t i) { x(i) = 1; });
}
void keramos_group(keramos::queue& q, const space&, const cell& x) {
  q.parallel_for_work_group<group_of_one_warp>(
      "keramos_empty_group", keramos::range{1}, KERAMOS_LAMBDA(group_of_one_warp & g) {
        g.parallel_for_work_item([=](keramos::h_item it) {
          if (it.i == 0) x(0) = 1;
        });
      });
}
void kokkos_group(keramos::queue&, const space& exec, const cell& x) {
  using policy = Kokkos::TeamPolicy<space, Kokkos::LaunchBounds<team, 1>>;
  Kokkos::parallel_for(
      "kokkos_empty_group", policy(exec, 1, team), KOKKOS_LAMBDA(const policy::member_type& member) {
        if (member.team_rank() == 0) x(0) = 1;
      });
}

std::vector<launch_pair> launch_pairs() {
  auto& q = machine_queue();
  const space exec = q.execution_space();
  const cell x("x", 1);
  const auto run = [&q, exec, x](void (*launch)(keramos::queue&, const space&, const cell&)) {
    return [&q, exec, x, launch](std::int64_t calls) {
      return wall_seconds(calls, [&] { launch(q, exec, x); });
    };
  };
  return {{"parallel_for", run(keramos_range), run(kokkos_range)},
          {"parallel_for_work_group", run(keramos_group), run(kokkos_group)}};
}

}  // namespace keramos::perf
