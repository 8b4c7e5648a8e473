// Kernels that are plain functions, and the team that Kokkos would give them. A program that is compiled while another runs
// has no lambda that Kokkos could launch; all else is the backend's own.
#pragma once

#include <cstddef>

#include <sycl/sycl.hpp>

#include <Kokkos_Core.hpp>

#include <keramos/core/local_memory.hpp>
#include <keramos/enabled_backends.hpp>

// Kernels for matrix units say for which sub-groups they are, as -fsycl-default-sub-group-size does for all of a library.
#if KERAMOS_SYCL_UNITS
#define KERAMOS_SUB_GROUPS \
  SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((::sycl::ext::oneapi::experimental::sub_group_size<16>))
#else
#define KERAMOS_SUB_GROUPS
#endif

/// A kernel that the host finds by its name (sycl_ext_oneapi_free_function_kernels), for teams of at most so many threads. Of two
/// dimensions, as Kokkos launches teams: the team's threads, then one a team.
#define KERAMOS_ND_RANGE_KERNEL(threads)                                                                \
  extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((::sycl::ext::oneapi::experimental::nd_range_kernel<2>)) \
      KERAMOS_SUB_GROUPS
#define KERAMOS_SINGLE_TASK_KERNEL \
  extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((::sycl::ext::oneapi::experimental::single_task_kernel))

namespace keramos::test::device {

using space = Kokkos::SYCL;
using team = Kokkos::TeamPolicy<space>::member_type;

#if KERAMOS_SYCL_UNITS

/// What kernels ask of a team, whose threads run along the dimension of which processors make sub-groups: the last one. Kokkos'
/// run along the one before, where a sub-group has one thread.
struct team_of_lanes {
  using execution_space = space;
  struct scratch {
    std::byte* memory;
    void* get_shmem_aligned(std::size_t, std::size_t) const { return memory; }
  };

  std::byte* memory;
  ::sycl::nd_item<2> item = ::sycl::ext::oneapi::this_work_item::get_nd_item<2>();

  int team_rank() const { return int(item.get_local_id(1)); }
  int league_rank() const { return int(item.get_group(0)); }
  int league_size() const { return int(item.get_group_range(0)); }
  scratch team_scratch(int) const { return {memory}; }
  void team_barrier() const { ::sycl::group_barrier(item.get_group()); }
  template <class T>
  void team_broadcast(T& x, int from) const {
    x = ::sycl::group_broadcast(item.get_group(), x, ::sycl::id<2>(0, std::size_t(from)));
  }
};
template <int Threads, std::size_t Bytes>
team_of_lanes team_with() {
  struct alignas(16) block {
    std::byte bytes[Bytes];
  };
  ::sycl::ext::oneapi::experimental::work_group_static<block> memory;
  return {(&memory)->bytes};
}

#else

/// This work-group as a team of `Threads` with `Bytes` of scratch. Kokkos keeps a number of each thread, and two, before it.
template <int Threads, std::size_t Bytes>
team team_with() {
  constexpr std::size_t own = sizeof(double) * (Threads + 2);
  struct alignas(16) block {
    std::byte bytes[own + Bytes + detail::local_alignment];
  };
  ::sycl::ext::oneapi::experimental::work_group_static<block> memory;
  const auto item = ::sycl::ext::oneapi::this_work_item::get_nd_item<2>();
  return {::sycl::local_ptr<void>((&memory)->bytes),
          own,
          Bytes + detail::local_alignment,
          ::sycl::global_ptr<void>(nullptr),
          0,
          item,
          int(item.get_group_linear_id()),
          int(item.get_group_range(1))};
}

#endif

template <class Collective, class Problem>
bool can_shift_m(const Problem& p) {
  return Collective::can_shift_m(p);
}
template <class Collective, class Problem>
bool can_shift_n(const Problem& p) {
  return Collective::can_shift_n(p);
}

}  // namespace keramos::test::device
