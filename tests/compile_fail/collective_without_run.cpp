// expect in one error: a collective lacks a name of the concept gemm_collective
// A collective that gives all but its loop.
#include <keramos/gemm/kernel/tiled.hpp>
#include <keramos/keramos.hpp>

using types = keramos::types::f32;

struct idle_collective {
  using types = ::types;
  static constexpr int team_size = 1, teams_per_unit = 1;
  static constexpr bool splits_k = false, persistent = false;
  static constexpr keramos::tiling::shape block() { return {64, 64, 16}; }
  static constexpr std::size_t local_bytes() { return 1024; }
  static bool can_shift_m(const keramos::gemm_problem<types>&) { return false; }
  static bool can_shift_n(const keramos::gemm_problem<types>&) { return false; }
  static int recompute(int x) { return x; }
};

void product(const Kokkos::DefaultExecutionSpace& exec, const keramos::gemm_problem<types>& p) {
  keramos::detail::launch_tiled(exec, idle_collective(), p, keramos::detail::split_k<float>({}, 1, 1),
                                keramos::detail::linear_epilogue<float>());
}
