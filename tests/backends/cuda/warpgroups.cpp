#include "warpgroups.hpp"

#include <cstdint>

#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/collective/warpgroup.hpp>
#include <keramos/tile/pipeline.hpp>

namespace keramos::test {
namespace {

using unit = backend::warpgroups<Kokkos::Cuda>;
using copier = backend::staging<Kokkos::Cuda>;
using member = Kokkos::TeamPolicy<Kokkos::Cuda>::member_type;
constexpr int warpgroup = 128;  // threads

template <class Kernel>
void run_team(const Kokkos::Cuda& exec, int threads, int bytes, const Kernel& kernel) {
  Kokkos::parallel_for(
      "run_team",
      Kokkos::TeamPolicy<Kokkos::Cuda>(exec, 1, threads).set_scratch_size(0, Kokkos::PerTeam(bytes)), kernel);
  exec.fence();
}

constexpr int stages = 4;
using ring_of_stages = tiling::handoff_pipeline<stages, copier, unit>;

template <bool ByOneThread>
struct hand_over_kernel {
  static constexpr int bytes = (stages + 1) * warpgroup * int(sizeof(int)) + 256;
  const int* from;
  int *to, count;

  KERAMOS_FUNCTION void operator()(const member& team) const {
    char* const local = static_cast<char*>(team.team_scratch(0).get_shmem_aligned(std::size_t(bytes), 128));
    int* const numbers =
        reinterpret_cast<int*>(local);  // (stage, thread), and one stage more for those that read
    int* const turned = numbers + stages * warpgroup;
    ring_of_stages ring(turned + warpgroup);
    const int thread = team.team_rank() % warpgroup;
    if (team.team_rank() == 0) ring.start(ByOneThread ? 1 : warpgroup, warpgroup);
    team.team_barrier();
    if (ByOneThread && team.team_rank() >= warpgroup) {
      for (int s = 0; thread == 0 && s < count; ++s) {
        int* const stage = numbers + ring.acquire() * warpgroup;
        constexpr int stage_bytes = warpgroup * int(sizeof(int));
        unit::copy(stage, from + s * warpgroup, stage_bytes, ring.expect(stage_bytes));
        ring.advance();
      }
    } else if (team.team_rank() >= warpgroup) {
      for (int s = 0; s < count; ++s) {
        const int at = s * warpgroup + thread;
        copier::copy<1>(numbers + ring.acquire() * warpgroup + thread, from + at);
        ring.commit();
      }
      ring.drain();
    } else {
      for (int s = 0; s < count; ++s) {
        const int stage = ring.wait();
        turned[thread] = numbers[stage * warpgroup + (thread + 64) % warpgroup];  // another thread's copy
        ring.advance();
        ring.release(stage);
        unit::meet(1, warpgroup);
        to[s * warpgroup + thread] = turned[(thread + 65) % warpgroup];
        unit::meet(1, warpgroup);
      }
    }
  }
};

template <class E, class T, bool AlongMN, bool KindA, bool KindB>
struct multiply_kernel {
  static constexpr int m = 64, n = 128, k = 128 / int(sizeof(E));
  static constexpr int bytes = (m + n) * 128 + 1024 + 256;
  static constexpr auto rows =
      AlongMN && unit::reads_along_mn<E> ? tiling::direction::mn : tiling::direction::k;
  static constexpr bool loads_a = AlongMN && unit::takes_loaded_a<E>;
  using panel_a = detail::simt::line_panel<E, m, k, rows>;
  using panel_b = detail::simt::line_panel<E, n, k, rows>;
  const E *a, *b;
  T* d;

  KERAMOS_FUNCTION void operator()(const member& team) const {
    auto address = reinterpret_cast<std::uintptr_t>(team.team_scratch(0).get_shmem_aligned(bytes - 256, 128));
    address = (address + 1023) / 1024 * 1024;
    E* const a_local = reinterpret_cast<E*>(address);
    E* const b_local = a_local + m * k;
    const int thread = team.team_rank(), warp = thread / 32, g = thread % 32 / 4, t = thread % 4;
    for (int i = thread; i < m * k; i += warpgroup) a_local[panel_a::offset(i / k, i % k)] = a[i];
    for (int i = thread; i < n * k; i += warpgroup) b_local[panel_b::offset(i / k, i % k)] = b[i];
    unit::show_to_matrix_units();
    team.team_barrier();
    const std::uint64_t of_a = unit::describe(a_local, panel_a::column_bytes),
                        of_b = unit::describe(b_local, panel_b::column_bytes);
    T sums[n / 2];
    [[maybe_unused]] unsigned loaded[4][4];
    if constexpr (loads_a) {
      KERAMOS_UNROLL
      for (int i = 0; i < 16; ++i)
        loaded[i / 4][i % 4] =
            __float_as_uint(a[(16 * warp + g + i % 2 * 8) * k + i / 4 * 8 + t + i / 2 % 2 * 4]);
    }
    unit::begin();
    KERAMOS_UNROLL
    for (int step = 0; step < 4; ++step) {  // 32 bytes along k
      const auto at_a = unit::advance(of_a, panel_a::bytes_to(0, step)),
                 at_b = unit::advance(of_b, panel_b::bytes_to(0, step));
      if constexpr (tiling::reading<E>::has_kinds)
        unit::multiply_bytes<KindA, KindB>(sums, at_a, at_b, step > 0);
      else if constexpr (loads_a)
        unit::multiply(sums, loaded[step], at_b, step > 0);
      else
        unit::multiply<E, AlongMN, AlongMN>(sums, at_a, at_b, step > 0);
    }
    unit::commit();
    unit::finish<0>();
    KERAMOS_UNROLL
    for (int i = 0; i < n / 2; ++i) unit::settle(sums[i]);
    KERAMOS_UNROLL
    for (int i = 0; i < n / 2; ++i)  // d[4j + 2h + e]
      d[(16 * warp + g + i / 2 % 2 * 8) * n + i / 4 * 8 + 2 * t + i % 2] = sums[i];
  }
};

template <bool AlongMN, bool KindA, bool KindB, class E, class T>
void multiply_as(const Kokkos::Cuda& exec, const E* a, const E* b, T* d) {
  using kernel = multiply_kernel<E, T, AlongMN, KindA, KindB>;
  run_team(exec, warpgroup, kernel::bytes, kernel{a, b, d});
}

}  // namespace

void hand_over(const Kokkos::Cuda& exec, const int* from, int* to, int count, bool by_one_thread) {
  const auto run = [&](const auto& kernel) { run_team(exec, 2 * warpgroup, kernel.bytes + 256, kernel); };
  if (by_one_thread)
    run(hand_over_kernel<true>{from, to, count});
  else
    run(hand_over_kernel<false>{from, to, count});
}

template <class E, class T>
void multiply(const Kokkos::Cuda& exec, const E* a, const E* b, T* d, [[maybe_unused]] bool along_mn,
              [[maybe_unused]] bool kind_a, [[maybe_unused]] bool kind_b) {
  if constexpr (tiling::reading<E>::has_kinds) {
    if (kind_a)
      kind_b ? multiply_as<false, true, true>(exec, a, b, d) : multiply_as<false, true, false>(exec, a, b, d);
    else
      kind_b ? multiply_as<false, false, true>(exec, a, b, d)
             : multiply_as<false, false, false>(exec, a, b, d);
  } else {
    if constexpr (unit::reads_along_mn<E> || unit::takes_loaded_a<E>)
      if (along_mn) return multiply_as<true, false, false>(exec, a, b, d);
    multiply_as<false, false, false>(exec, a, b, d);
  }
}
#define KERAMOS_MULTIPLY(E, T) \
  template void multiply(const Kokkos::Cuda&, const E*, const E*, T*, bool, bool, bool);
KERAMOS_MULTIPLY(float, float)
KERAMOS_MULTIPLY(float16, float)
KERAMOS_MULTIPLY(bfloat16, float)
KERAMOS_MULTIPLY(integer8, std::uint32_t)
KERAMOS_MULTIPLY(float8, float)

}  // namespace keramos::test
