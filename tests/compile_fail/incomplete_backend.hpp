// Two backends for cases of this folder, which add what is missing, but for one name: of hosts, with traits, events, copies and
// devices, and of GPUs, with all but its tiles and what multiplies.
#pragma once

#include <keramos/backends/host/collectives.hpp>
#include <keramos/backends/host/queue.hpp>
#include <keramos/backends/host/staging.hpp>
#include <keramos/backends/simt/staging.hpp>
#include <keramos/keramos.hpp>

struct incomplete_host : Kokkos::DefaultHostExecutionSpace {};
struct incomplete_gpu : Kokkos::DefaultHostExecutionSpace {};
inline keramos::device_info describe_device(const incomplete_host&) { return {}; }
inline keramos::device_info describe_device(const incomplete_gpu&) { return {}; }

namespace keramos::backend {

template <class Exec>
concept incomplete = std::is_same_v<Exec, incomplete_host> || std::is_same_v<Exec, incomplete_gpu>;
template <incomplete Exec>
class native_event<Exec> : public host::native_event<Exec> {};
template <incomplete Exec>
struct stream<Exec> : host::stream<Kokkos::DefaultHostExecutionSpace> {};
template <incomplete Exec>
struct device_list<Exec> : host::device_list<Kokkos::DefaultHostExecutionSpace> {};

template <>
struct traits<incomplete_host> : traits<Kokkos::DefaultHostExecutionSpace> {};

template <>
struct traits<incomplete_gpu> : traits<Kokkos::DefaultHostExecutionSpace> {
  static constexpr bool is_host = false;
  static constexpr int warp_size = 32, max_team_size = 1024, most_kernel_bytes = 350;
  static constexpr std::size_t most_local_bytes = 49152;
  static constexpr bool several_dies = false;
  template <class T>
  static constexpr int vector_teams_per_unit = 3;
  static constexpr int teams_per_unit(int, int, std::size_t) { return 1; }
};
template <int Size, int Team>
struct collectives<incomplete_gpu, Size, Team> : host::collectives<Size> {};
template <>
struct staging<incomplete_gpu> : simt::plain_copier {};

struct tiles_of_a_gpu {
  static constexpr simt::tile_row table[] = {
      {0, simt::f16, {{64, 64, 32}, {32, 32}, {16, 8, 16}, 2, 2, tiling::math_unit::matrix}, 1}};
  static int arch(const incomplete_gpu&) { return 0; }
  static simt::device_model model(const incomplete_gpu&) { return {}; }
};
/// All that multiplies such a row's elements but `multiply_short`.
struct mma_without_multiply : fma_units {
  template <class E>
  static constexpr bool multiplies_short = true;
  template <bool Transposed>
  static void load_8x8x4(unsigned (&)[4], const void*) {}
  static unsigned from_lane(unsigned x, int) { return x; }
  static void meet_warp() {}
  template <class T>
  static T opaque(T x) {
    return x;
  }
  static void load_16_bytes(const char*, unsigned (&)[4]) {}
  static void store_16_bytes(char*, const unsigned (&)[4]) {}
  static bool any_in_warp(bool x) { return x; }
  static void read_16_bytes(const void*, unsigned (&)[4], bool) {}
  static void write_16_bytes(void*, const unsigned (&)[4], bool = true) {}
};

}  // namespace keramos::backend
