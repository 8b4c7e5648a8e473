// A backend for cases of this folder, which add what it lacks, but for one name: it gives events, copies and devices.
#pragma once

#include <keramos/backends/host/collectives.hpp>
#include <keramos/backends/host/queue.hpp>
#include <keramos/backends/host/staging.hpp>
#include <keramos/backends/simt/staging.hpp>
#include <keramos/keramos.hpp>

struct incomplete_space : Kokkos::DefaultHostExecutionSpace {};
inline keramos::device_info describe_device(const incomplete_space&) { return {}; }

namespace keramos::backend {

template <>
class native_event<incomplete_space> : public host::native_event<incomplete_space> {};
template <>
struct stream<incomplete_space> : host::stream<Kokkos::DefaultHostExecutionSpace> {};
template <>
struct device_list<incomplete_space> : host::device_list<Kokkos::DefaultHostExecutionSpace> {};

/// As if it were a GPU.
struct traits_of_a_gpu : traits<Kokkos::DefaultHostExecutionSpace> {
  static constexpr bool is_host = false;
  static constexpr int warp_size = 32, max_team_size = 1024, sector_bytes = 32, most_kernel_bytes = 350;
  static constexpr int teams_per_unit(int, int, std::size_t) { return 1; }
};
struct tiles_of_a_gpu {
  static constexpr simt::tile_row table[] = {
      {0, simt::f16, {{64, 64, 32}, {32, 32}, {16, 8, 16}, 2, 2, tiling::math_unit::matrix}, 1}};
  static int arch(const incomplete_space&) { return 0; }
  static simt::device_model model(const incomplete_space&) { return {}; }
};

}  // namespace keramos::backend
