// Queues: in-order work on one Kokkos execution space instance. Nothing here waits unless asked to.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <keramos/config.hpp>
#include <keramos/core/device_info.hpp>
#include <keramos/core/error.hpp>
#include <keramos/core/event.hpp>
#include <keramos/core/group.hpp>
#include <keramos/core/launch.hpp>
#include <keramos/core/workspace.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos {

template <class Exec>
class basic_queue;

namespace detail {

template <class Exec>
workspace<Exec>& workspace_of(basic_queue<Exec>& q) {
  return *q.workspace_;
}

}  // namespace detail

/// A queue on `Exec`; `keramos::queue` is the one on the backend chosen when configuring.
///
/// It wraps a Kokkos execution space instance: make one from yours, or take it with
/// execution_space() and launch Kokkos kernels that stay in order with Keramos'. Copies share it, and one
/// thread at a time uses it.
/// Kernels are launched with the label given, which Kokkos Tools shows.
template <class Exec>
class basic_queue {
 public:
  /// A queue on the execution space's default instance.
  /// @throws not_initialized before Kokkos is initialised.
  basic_queue() : basic_queue(checked_default()) {}
  explicit basic_queue(Exec instance)
      : exec_(std::move(instance)), workspace_(std::make_shared<detail::workspace<Exec>>()) {}

  const Exec& execution_space() const { return exec_; }
  device_info device() const { return backend::describe_device(exec_); }

  /// Blocks the host until all work of this queue is done.
  void wait() const { exec_.fence(); }
  /// The present end of the queue's work. Kernels return this too: on a host queue, where work is done when
  /// the call returns, such an event costs nothing, but has no time; take a mark() where one is needed.
  basic_event<Exec> completion() const {
    return basic_event<Exec>(backend::native_event<Exec>::completion(exec_));
  }
  /// The same with its time, for elapsed_seconds.
  basic_event<Exec> mark() const { return basic_event<Exec>(backend::native_event<Exec>::record(exec_)); }

  /// `f(id<Rank>)` for every point of `r`, in any order and at once; in 1-D `f(index_t)` does too.
  template <int Rank, class F>
  basic_event<Exec> parallel_for(const std::string& label, range<Rank> r, const F& f) {
    detail::launch(label, [&] { detail::range_for(label, exec_, r, f); });
    return completion();
  }

  /// `f(nd_item<Rank>)` for every point of `r.global`; items know their group, but share nothing.
  /// @throws invalid_argument if the local range does not divide the global one.
  template <int Rank, class F>
  basic_event<Exec> parallel_for(const std::string& label, nd_range<Rank> r, const F& f) {
    for (int d = 0; d < Rank; ++d)
      if (r.local[d] <= 0 || r.global[d] % r.local[d] != 0)
        throw invalid_argument("keramos::parallel_for: " + label + ": the global range is " +
                               std::to_string(r.global[d]) + " in dimension " + std::to_string(d) +
                               " but must be a multiple of the local range " + std::to_string(r.local[d]) +
                               "; round it up and test in the kernel");
    return parallel_for(label, r.global, detail::nd_kernel<Rank, F>{f, r.local});
  }

  /// A kernel of phases: `f(Group&)` for every work-group of `groups` (see group.hpp for the contract).
  /// @throws launch_error if the group's local memory exceeds the device's limit.
  template <class Group, int Rank, class F>
  basic_event<Exec> parallel_for_work_group(const std::string& label, range<Rank> groups, const F& f) {
    static_assert(Rank == Group::rank,
                  "keramos: the range of work-groups and the local_range differ in dimensions");
    static_assert(std::is_same_v<typename Group::execution_space, Exec>,
                  "keramos: the group type is for another execution space than this queue's");
    const index_t count = groups.size();
    if (count > std::numeric_limits<int>::max())
      throw launch_error("keramos::parallel_for_work_group: " + label + ": " + std::to_string(count) +
                         " work-groups are more than 2^31 - 1; use larger groups");
    detail::team_launch<Group::team_size>(label, exec_, int(count), Group::local_memory_type::bytes,
                                          detail::work_group_kernel<Group, F>{f, groups});
    return completion();
  }

 private:
  static Exec checked_default() {
    if (!Kokkos::is_initialized())
      throw not_initialized(
          "keramos::queue: Kokkos is not initialised; call Kokkos::initialize or hold a "
          "keramos::runtime for as long as queues and Views live");
    return Exec();
  }

  friend detail::workspace<Exec>& detail::workspace_of<Exec>(basic_queue&);

  Exec exec_;
  std::shared_ptr<detail::workspace<Exec>> workspace_;
};

using queue = basic_queue<default_execution_space>;

}  // namespace keramos
