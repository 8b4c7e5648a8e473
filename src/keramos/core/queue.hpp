// Queues: in-order work on one Kokkos execution space instance. Nothing here waits unless asked to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <keramos/base/device_info.hpp>
#include <keramos/base/error.hpp>
#include <keramos/config.hpp>
#include <keramos/core/detail/instance.hpp>
#include <keramos/core/detail/invoke.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/queue_core.hpp>
#include <keramos/core/event.hpp>
#include <keramos/core/group.hpp>
#include <keramos/core/reduction.hpp>
#include <keramos/enabled_backends.hpp>

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
/// Kokkos::finalize ends a queue: what is asked of it then throws not_initialized.
template <class Exec>
class basic_queue {
 public:
  using execution_space_type = Exec;
  using event_type = basic_event<Exec>;
  /// An event, `{e1, e2}` or a vector of events.
  using events = detail::event_list<Exec>;

  /// A queue on the execution space's default instance, or on one of its own.
  /// @throws not_initialized before Kokkos is initialised.
  basic_queue() : basic_queue(queue_options()) {}
  explicit basic_queue(queue_options options) : basic_queue(checked_instance(options), options) {}
  /// A queue on an instance of yours (`own_instance` has no meaning here).
  explicit basic_queue(Exec instance, queue_options options = {})
      : core_(std::make_shared<detail::queue_core<Exec>>(std::move(instance), options.enable_profiling)) {
    if (options.enable_profiling) core_->origin = mark();
  }

  /// The instance. Ask again before each time that you queue work on it yourself, lest events that the queue
  /// gave out before wait for that work too.
  const Exec& execution_space() const {
    settle();
    return exec();
  }
  /// Tells queues apart: copies of one have the same number, and no other queue ever has it.
  std::uint64_t number() const { return core_->state->number(); }
  device_info device() const { return backend::describe_device(exec()); }

  // --- Order -----------------------------------------------------------------------------------

  /// Blocks the host until all work of this queue is done.
  void wait() const {
    if (!core_->has_ended()) detail::fence(exec());
  }
  /// The same, and throws what went wrong since: faults of kernels on the device and exceptions of host
  /// tasks, as one asynchronous_error that names their labels. After a device's fault its context is lost.
  void wait_and_throw() {
    throw_faults();
    core_->state->forget_labels();
    core_->state->throw_errors();
  }
  /// The present end of the queue's work. Kernels return this too: on a host queue, where work is done when
  /// the call returns, such an event costs nothing, but has no time; take a mark() where one is needed.
  /// On a device it costs something only if it is still there when more is queued.
  event_type completion() const {
    settle();
    return settled_completion();
  }
  /// The same with its time, for elapsed_seconds.
  event_type mark() const { return event_type(backend::native_event<Exec>::record(exec())); }
  /// What is queued from here on begins after these events of this or other queues; the host goes on.
  void depends_on(const events& after) {
    settle();
    for (const event_type& e : after) e.hold(exec());
  }
  /// An event of another backend's queue: the host waits for it.
  template <class Other>
  requires(!std::is_same_v<Other, Exec>) void depends_on(const basic_event<Other>& after) { after.wait(); }

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
    using memory = typename Group::local_memory_type;
    using function = std::remove_cvref_t<F>;
    if constexpr (detail::fits_groups<Exec, Group, Rank, Dynamic, function>()) {
      const index_t count = detail::checked_league(label, groups);
      return enqueue(label, [&] {
        using kernel = detail::work_group_kernel<Group, function>;
        detail::team_launch<Group::team_size, detail::groups_per_unit<Group, function>()>(
            label, exec(), int(count), memory::dynamic_offset(extents, memory::count),
            kernel{detail::send<Exec>(std::forward<F>(f)), groups, extents, label.c_str()});
      });
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

  /// `f()` on a host thread, in the queue's order. It must not use this or other queues of the device (they
  /// may wait for it). What it throws is thrown by wait_and_throw.
  template <class F>
  event_type host_task(const std::string& label, F f) {
    return enqueue(label, [&] {
      auto call = std::make_unique<detail::host_call>(detail::host_call{core_->state, label, std::move(f)});
      stream::call_on_host(exec(), &detail::host_call::run, call.get());
      (void)call.release();  // it deletes itself
    });
  }

  template <class F>
  event_type host_task(const std::string& label, const events& after, F f) {
    depends_on(after);
    return host_task(label, std::move(f));
  }

  // --- Memory. Pointers are to memory of any kind that the device's runtime knows; with `after` the work
  // --- begins when those events are complete ----------------------------------------------------

  /// Copies `bytes` from src to dst, which do not overlap.
  event_type memcpy(void* dst, const void* src, std::size_t bytes, const events& after = {}) {
    static const std::string label = "keramos::memcpy";
    if (bytes > 0 && (!dst || !src))
      throw invalid_argument(label + ": " + (dst ? "src" : "dst") + " is null but " + std::to_string(bytes) +
                             " bytes are to be copied; allocate it or pass 0 bytes");
    depends_on(after);
    return enqueue(label, [&] {
      if (bytes > 0) stream::copy(exec(), dst, src, bytes);
    });
  }
  /// Copies `count` elements from src to dst.
  template <class T>
  event_type copy(const T* src, T* dst, std::size_t count, const events& after = {}) {
    static_assert(std::is_trivially_copyable_v<T>, "keramos: copy moves bytes; the type must allow that");
    return memcpy(dst, src, count * sizeof(T), after);
  }
  /// Copies a View into another of the same extents, in any memory spaces that Kokkos copies between.
  template <class From, class To>
  requires requires(const From& from, const To& to) { from.data(), to.data(), to.label(); }
  event_type copy(const From& from, const To& to, const events& after = {}) {
    depends_on(after);
    return enqueue(to.label(), [&] {
      [[maybe_unused]] const detail::launch_lock<Exec> lock;
      Kokkos::deep_copy(exec(), to, from);
    });
  }
  /// Sets `count` elements to `value`.
  /// @throws memory_error if the device cannot reach them.
  template <class T>
  event_type fill(T* data, const std::type_identity_t<T>& value, std::size_t count,
                  const events& after = {}) {
    static const std::string label = "keramos::fill";
    detail::check_reachable<Exec>(label.c_str(), data, count);
    using view = Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    depends_on(after);
    return enqueue(label, [&] {
      if (count == 0) return;
      if constexpr (backend::traits<Exec>::is_host)
        stream::fill(exec(), data, value, count);
      else
        Kokkos::deep_copy(exec(), view(data, count), value);
    });
  }
  /// Sets all elements of a View.
  template <class V>
  requires requires(const V& v) { v.data(), v.label(); }
  event_type fill(const V& v, const typename V::non_const_value_type& value, const events& after = {}) {
    depends_on(after);
    return enqueue(v.label(), [&] {
      [[maybe_unused]] const detail::launch_lock<Exec> lock;
      Kokkos::deep_copy(exec(), v, value);
    });
  }
  /// Sets `bytes` bytes.
  event_type memset(void* data, unsigned char value, std::size_t bytes, const events& after = {}) {
    return fill(static_cast<unsigned char*>(data), value, bytes, after);
  }
  /// Moves shared memory to where this queue's kernels run before they ask for it; a hint, and nothing for
  /// other kinds of memory.
  event_type prefetch(const void* data, std::size_t bytes, const events& after = {}) {
    static const std::string label = "keramos::prefetch";
    depends_on(after);
    return enqueue(label, [&] {
      if (bytes > 0) stream::prefetch(exec(), data, bytes);
    });
  }

 private:
  using stream = backend::stream<Exec>;

  static Exec checked_instance(const queue_options& options) {
    if (!Kokkos::is_initialized())
      throw not_initialized(
          "keramos::queue: Kokkos is not initialised; call Kokkos::initialize or hold a "
          "keramos::runtime for as long as queues and Views live");
    return options.own_instance ? detail::own_instance<Exec>() : Exec();
  }

  /// Queues what `work` queues, and marks where it ends.
  template <class Work>
  [[gnu::always_inline]] event_type enqueue(const std::string& label, const Work& work) {
    settle();
    if constexpr (!backend::traits<Exec>::is_host) core_->state->note(label);
    if (core_->state->profiling()) {
      const event_type start = mark();
      detail::launch(label, work);
      return event_type(mark().native(), start.native(), core_->origin.native());
    }
    detail::launch(label, work);
    if constexpr (detail::checks) throw_faults();  // so that the label is the faulty kernel's
    return settled_completion();
  }
  const Exec& exec() const { return core_->exec(); }
  /// Before anything is queued.
  void settle() const {
    if constexpr (!backend::traits<Exec>::is_host) core_->last.settle();
  }
  event_type settled_completion() const {
    if constexpr (backend::traits<Exec>::is_host)
      return event_type();
    else
      return event_type(core_->last.get(exec()));
  }
  void throw_faults() const {
    if (const std::string fault = stream::synchronize(exec()); !fault.empty())
      throw asynchronous_error(
          "keramos: a kernel failed on the device: " + fault + "; queued last: " + core_->state->labels(),
          core_->state->last_label());
  }

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

  std::shared_ptr<detail::queue_core<Exec>> core_;
};

template <class Exec>
basic_queue(Exec) -> basic_queue<Exec>;
template <class Exec>
basic_queue(Exec, queue_options) -> basic_queue<Exec>;

using queue = basic_queue<default_execution_space>;

}  // namespace keramos
