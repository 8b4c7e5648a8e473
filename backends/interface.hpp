// What a backend provides: the names below, specialised for its Kokkos execution space.
//
//   traits<Exec>           name, is_host, team_member (what kernels get of their team), team_size(items),
//                          local_memory_limit(exec, team), sure_local_bytes; on hosts may_launch(), whether Kokkos takes
//                          launches from the calling thread; runs_in_caller(exec), whether that thread runs what it launches
//                          without Kokkos; launch_lock, held while Kokkos runs a kernel;
//                          for_each_team<policy>(label, exec, league, bytes, kernel);
//                          on devices teams_per_unit(wanted, team, bytes), vector_teams_per_unit<T>, several_dies,
//                          most_kernel_bytes, most_local_bytes (simt/traits.hpp);
//                          sends_bytes, whether kernels become bytes before Kokkos copies them;
//                          fence_covers_team, whether a thread's fence behind a barrier is one for all its team's stores
//   native_event<Exec>     record(exec), completion(exec) (which may lack the time), hold(exec, event), wait(),
//                          is_complete(), seconds_between(start, stop)
//   stream<Exec>           what is queued on an instance besides kernels: copy, prefetch, call_on_host; its end:
//                          synchronize; where pointers lead to: kind_of; memory spaces of each memory_kind
//   describe_device(exec)  a keramos::device_info
//   device_list<Exec>      all(): those of the backend, whether Kokkos is initialised or not
//   collectives<Exec, items, team>  (collectives.hpp) reductions, scans and shuffles of a group's private values
//   staging<Exec>          the copy atom: copy<count>(local, global, valid), commit(), wait<pending>(); on devices
//                          copy<count>(local, global), advance(pointer, bytes), recompute(x), thread_of(team),
//                          by_registers<T>, most_groups_unrolled<T>, most_words_ahead, shifts<T> (simt/staging.hpp);
//                          where it shifts also shifted<T> and bounds, as simt/shifted_run.hpp has them, and
//                          copies_words, whether it copies short elements in words of 4 and 8 bytes; for rows with
//                          config::ping_pong direct_bytes, copy_direct(local, global, offset), wait_for_direct_copies<left>()
//                          (backends/hip/staging.hpp). It may have prefetch(global), which begins to bring a line to the cache
//   mma<Exec>              the multiply atom, below
//   warpgroups<Exec>       where there are any: tensor cores that read local memory, and barriers in it
//                          (backends/cuda/warpgroup.hpp)
//   device_link<Exec>      where a vendor's library carries bytes between devices of several ranks (device_link.hpp)
//   tiles<Exec>            on devices: table, an array of simt::tile_row; arch(exec), which rows serve it; model(exec), a
//                          simt::device_model. Hosts have host/tiles.hpp, by instruction set
//
// backends/host and backends/simt hold what backends of one family share.
#pragma once

#include <Kokkos_Core.hpp>

#include <keramos/base/macros.hpp>

namespace keramos::backend {

template <class Exec>
struct traits;
template <class Exec>
class native_event;
template <class Exec>
struct stream;
template <class Exec>
struct device_list;
template <class Exec, int Size, int Team>
struct collectives;
template <class Exec>
struct staging;
template <class Exec>
struct tiles;

/// What a machine without matrix units multiplies with: the compiler's own FMAs.
struct fma_units {
  /// Where there is one, `multiply_16x8(d, a, b)` adds a product of 16 x 8 x K to a warp's sums, of elements that
  /// `rounded(x)` has prepared (backends/cuda/mma.hpp).
  template <class T>
  static constexpr bool has_matrix_unit = false;
  /// Whether matrix units take elements E by `load_8x8x4` and `multiply_short` instead, several in a register. C passes through
  /// local memory then, as it does for sums of four bytes by `multiply_16x8` (has_c_blocks in concepts.hpp).
  template <class E>
  static constexpr bool multiplies_short = false;
  /// Whether these are bytes that are multiplied as float16s, which `widen` makes of them.
  template <class E>
  static constexpr bool widens = false;
  /// Whether they take elements E by `multiply_16x16` instead: a lane's run of k at once, in fragments of which
  /// `fragment<E>` says how they are shared out (backends/simt/wave_fragment.hpp, backends/hip/mma.hpp). Rows with
  /// config::ping_pong need begin_turn(), end_turn() and opaque(x) as well, and are for single products.
  template <class E>
  static constexpr bool multiplies_in_waves = false;
  // Rows of math_unit::joint need fragments that a sub-group loads from local memory and holds together; `fragment<E>` says how
  // large they are (backends/simt/joint_fragment.hpp, backends/sycl/mma.hpp).
  /// Whether the device at hand has it.
  template <class Exec>
  static bool matrix_unit_works(const Exec&) {
    return false;
  }
  // Where there are `meet_warp()`, `any_in_warp(x)` and `opaque(x)`, sums of FMA units pass through local memory on their way to C,
  // if it has room (gemm/collective/sum_block.hpp).
  /// What is done to sums after each step of k, so that the compiler forms them there.
  template <class T, int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void settle(T (&/*sums*/)[Count]) {}
};
template <class Exec>
struct mma : fma_units {};

/// None.
template <class Exec>
struct warpgroups {
  /// Whether they read elements E along m or n too, not along k alone.
  template <class E>
  static constexpr bool reads_along_mn = false;
  /// Whether threads can load A of such elements and give it to them in registers.
  template <class E>
  static constexpr bool takes_loaded_a = false;
};

}  // namespace keramos::backend
