// Queues: kernels in order on one Kokkos execution space instance. Nothing here waits unless asked to.
//
//   keramos::queue q;                                                              // on the default instance
//   q.parallel_for("scale", keramos::range{n}, KERAMOS_LAMBDA(keramos::index_t i) { x(i) *= 2; });
//   q.parallel_for_work_group<wg>("sums", keramos::range{groups}, KERAMOS_LAMBDA(wg& g) { ... });   // group.hpp
//   q.wait();
//
// The order of work, host tasks and copies are in queue_base.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <keramos/config.hpp>
#include <keramos/core/detail/invoke.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/event.hpp>
#include <keramos/core/group.hpp>
#include <keramos/core/queue_base.hpp>
#include <keramos/core/reduction.hpp>

namespace keramos {

template <class Exec>
class basic_queue;
template <class Exec>
class handler;

namespace detail {

/// Whether arguments of parallel_for begin with a label, a range and what may stand behind it.
struct absent {};
template <class Events, class Label = absent, class Range = absent, class Third = absent, class... Rest>
inline constexpr bool begins_launch =
    std::is_convertible_v<const Label&, std::string>&& is_range<Range> && !std::is_same_v<Third, absent> &&
    (sizeof...(Rest) == 0 || is_reduction<Third> || std::is_convertible_v<const Third&, Events>);

template <class Exec>
workspace<Exec>& workspace_of(basic_queue<Exec>& q) {
  return q.core_->memory;
}

}  // namespace detail

/// A queue on `Exec`; `keramos::queue` is the one on the backend chosen when configuring.
///
/// It wraps a Kokkos execution space instance: make one from yours, or take it with
/// execution_space() and launch Kokkos kernels that stay in order with Keramos'. Work of one queue is in order;
/// queues of different instances overlap if the device can, and wait for each other's events without the host
/// (depends_on). Kernels are launched with the label given, which Kokkos Tools shows. A device gets what they capture
/// as bytes: a launch may leave out copy constructors.
///
/// Threads: any number of host threads may work at once, each on a queue of its own, whether the queues have
/// instances of their own or share one; so may the threads of an OpenMP parallel region, of which each then does
/// its own work alone, and host tasks, on queues of the host. Copies of a queue are one queue, for one thread at a
/// time. Kokkos' own calls and Views keep Kokkos' rules: built with Serial alone, as Debian's 3.4 is, it counts
/// the owners of a View without atomics, so threads must not copy one View at the same time.
/// Kokkos::finalize ends a queue: work that is asked of it then throws not_initialized.
template <class Exec>
class basic_queue : public detail::queue_base<Exec> {
  using base = detail::queue_base<Exec>;

 public:
  using typename base::event_type;
  using typename base::events;

  /// On an instance of its own, the default one, or one of yours: queue_base.hpp.
  using base::base;
  using base::depends_on;

  /// SYCL's command group: `f(handler&)` makes accessors and launches one kernel or copy; see buffer.hpp.
  template <class F>
  event_type submit(const F& f) {
    handler<Exec> h(*this);
    f(h);
    return h.finish();
  }

  // --- Kernels; with `after` they begin when those events are complete -------------------------

  /// `f(id<Rank>)`, or `f(i)`, `f(i, j)`, `f(i, j, k)`, for every point of `r`, in any order and at once.
  /// @throws invalid_argument if an extent is negative or the range has more than 2^63 - 1 points.
  template <int Rank, class F>
  event_type parallel_for(const std::string& label, range<Rank> r, F&& f) {
    if constexpr (detail::fits_range<Exec, Rank, std::remove_cvref_t<F>>()) {
      detail::check_range("keramos::parallel_for", label, r);
      return enqueue(label, [&] { detail::range_for(label, exec(), r, std::forward<F>(f)); });
    } else {
      return event_type();
    }
  }

  /// `f(nd_item<Rank>)` for every point of `r.global`; items know their group, but share nothing.
  /// @throws invalid_argument if the local range does not divide the global one.
  template <int Rank, class F>
  event_type parallel_for(const std::string& label, nd_range<Rank> r, F&& f) {
    detail::check_nd_range(label, r);
    if constexpr (detail::fits_nd_range<Exec, Rank, std::remove_cvref_t<F>>())
      return parallel_for(label, r.global,
                          detail::nd_kernel<Rank, detail::sent_type<Exec, F>>{
                              detail::send<Exec>(std::forward<F>(f)), r.local});
    else
      return event_type();
  }

  /// With reductions: `parallel_for(label, range or nd_range, reduction(...), ..., f)`; see reduction.hpp.
  template <int Rank, class T, class Op, class Next, class... Rest>
  event_type parallel_for(const std::string& label, range<Rank> r, const detail::reduction_of<T, Op>& first,
                          const Next& next, const Rest&... rest) {
    return reduce(label, r, detail::plain_index<Rank>{}, std::tie(first, next, rest...));
  }
  template <int Rank, class T, class Op, class Next, class... Rest>
  event_type parallel_for(const std::string& label, nd_range<Rank> r,
                          const detail::reduction_of<T, Op>& first, const Next& next, const Rest&... rest) {
    detail::check_nd_range(label, r);
    return reduce(label, r.global, detail::nd_index<Rank>{r.local}, std::tie(first, next, rest...));
  }

  /// Each of these with the events that it waits for: `parallel_for(label, range, {e1, e2}, ..., f)`.
  template <int Rank, class First, class... Rest>
  event_type parallel_for(const std::string& label, range<Rank> r, const events& after, const First& first,
                          const Rest&... rest) {
    depends_on(after);
    return parallel_for(label, r, first, rest...);
  }
  template <int Rank, class First, class... Rest>
  event_type parallel_for(const std::string& label, nd_range<Rank> r, const events& after, const First& first,
                          const Rest&... rest) {
    depends_on(after);
    return parallel_for(label, r, first, rest...);
  }

  /// Other arguments.
  template <class... A>
  requires(!detail::begins_launch<events, A...>) event_type parallel_for(const A&...) {
    static_assert(detail::never<A...>,
                  "keramos: parallel_for: its arguments are a label, a range or nd_range, events, "
                  "reductions, the kernel: "
                  "parallel_for(\"name\", range{n}, {event}, reduction(...), kernel); events and reductions "
                  "may be left out");
    return event_type();
  }

  /// `f()` once.
  template <class F>
  event_type single_task(const std::string& label, F&& f) {
    if constexpr (detail::fits_task<Exec, std::remove_cvref_t<F>>())
      return parallel_for(
          label, range<1>(1),
          detail::single_kernel<detail::sent_type<Exec, F>>{detail::send<Exec>(std::forward<F>(f))});
    else
      return event_type();
  }
  template <class F>
  event_type single_task(const std::string& label, const events& after, F&& f) {
    depends_on(after);
    return single_task(label, std::forward<F>(f));
  }
  template <class F>
  event_type single_task(const F&) {
    static_assert(detail::never<F>,
                  "keramos: single_task: the first argument is a label: single_task(\"name\", kernel)");
    return event_type();
  }

  /// A kernel of phases: `f(Group&)` for every work-group of `groups` (see group.hpp for the contract). A
  /// functor's `static constexpr int groups_per_unit` says for how many groups at once a multiprocessor shall
  /// have registers (CUDA's launch bounds); without it, one.
  /// @throws launch_error if the group's local memory exceeds the device's limit.
  template <class Group, int Rank, class F>
  event_type parallel_for_work_group(const std::string& label, range<Rank> groups, F&& f) {
    return parallel_for_work_group<Group>(label, groups, detail::dynamic_extents<0>(), std::forward<F>(f));
  }
  /// With dynamic local arrays: `local_extents(range{n}, ...)`, see local_memory.hpp.
  template <class Group, int Rank, int Dynamic, class F>
  event_type parallel_for_work_group(const std::string& label, range<Rank> groups,
                                     const detail::dynamic_extents<Dynamic>& extents, F&& f) {
    if constexpr (detail::fits_groups<Exec, Group, Rank, Dynamic, std::remove_cvref_t<F>>()) {
      return enqueue(
          label, [&] { detail::launch_groups<Group>(label, exec(), groups, std::forward<F>(f), extents); });
    } else {
      return event_type();
    }
  }
  template <class Group, int Rank, class First, class... Rest>
  event_type parallel_for_work_group(const std::string& label, range<Rank> groups, const events& after,
                                     const First& first, const Rest&... rest) {
    depends_on(after);
    return parallel_for_work_group<Group>(label, groups, first, rest...);
  }
  /// Other arguments.
  template <class Group, int Rank, class... A>
  event_type parallel_for_work_group(range<Rank>, const A&...) {
    static_assert(
        detail::never<A...>,
        "keramos: parallel_for_work_group: its arguments are a label, the range of groups, events, the "
        "extents "
        "of dynamic local arrays, the kernel: parallel_for_work_group<Group>(\"name\", range{n}, kernel)");
    return event_type();
  }
  template <class... A>
  event_type parallel_for_work_group(const A&...) {
    static_assert(
        detail::never<A...>,
        "keramos: parallel_for_work_group: name the group's type: parallel_for_work_group<Group>(\"name\", "
        "range{n}, kernel)");
    return event_type();
  }

 private:
  using base::core_;
  using base::enqueue;
  using base::exec;

  template <int Rank, class Index, class... Args>
  event_type reduce(const std::string& label, const range<Rank>& r, const Index& index,
                    const std::tuple<const Args&...>& args) {
    detail::check_range("keramos::parallel_for", label, r);
    constexpr std::size_t count = sizeof...(Args) - 1;
    constexpr std::make_index_sequence<count> each;
    using item = decltype(index(id<Rank>()));
    if constexpr (detail::fits_reductions<Exec, item, Args...>(each)) {
      const auto reductions = detail::reductions_among(args, each);
      return enqueue(label, [&] {
        detail::reduce_for(label, exec(), r, std::get<count>(args), index, reductions,
                           [&]<class V>() { return core_->memory.template reserve<V>(exec(), 1); });
      });
    } else {
      return event_type();
    }
  }

  friend detail::workspace<Exec>& detail::workspace_of<Exec>(basic_queue&);
};

template <class Exec>
basic_queue(Exec) -> basic_queue<Exec>;
template <class Exec>
basic_queue(Exec, queue_options) -> basic_queue<Exec>;

using queue = basic_queue<default_execution_space>;

}  // namespace keramos
