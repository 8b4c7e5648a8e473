// Kernels that are plain functions, and the team that Kokkos would give them. A program that is compiled while another runs
// has no lambda that Kokkos could launch; all else is the backend's own.
#pragma once

#include <cstddef>

#include <sycl/sycl.hpp>

#include <Kokkos_Core.hpp>

#include <keramos/core/local_memory.hpp>
#include <keramos/enabled_backends.hpp>

/// A kernel that the host finds by its name (sycl_ext_oneapi_free_function_kernels), for teams of at most so many threads. Of two
/// dimensions, as Kokkos launches teams: the team's threads, then one a team.
#define KERAMOS_ND_RANGE_KERNEL(threads) \
  extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((::sycl::ext::oneapi::experimental::nd_range_kernel<2>))
#define KERAMOS_SINGLE_TASK_KERNEL \
  extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((::sycl::ext::oneapi::experimental::single_task_kernel))

namespace keramos::test::device {

using space = Kokkos::SYCL;
using team = Kokkos::TeamPolicy<space>::member_type;

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

template <class Collective, class Problem>
bool can_shift_m(const Problem& p) {
  return Collective::can_shift_m(p);
}
template <class Collective, class Problem>
bool can_shift_n(const Problem& p) {
  return Collective::can_shift_n(p);
}

}  // namespace keramos::test::device
