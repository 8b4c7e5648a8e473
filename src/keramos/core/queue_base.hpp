// What every queue does besides kernels: the order of its work, host tasks, copies. Queues (queue.hpp) derive from it.
//
//   q.copy(from, to, n);                // elements, between memory of any kind
//   q.depends_on(event_of_another);     // what follows waits for it, on the device
//   q.wait_and_throw();                 // and late errors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <keramos/base/checks.hpp>
#include <keramos/base/device_info.hpp>
#include <keramos/base/error.hpp>
#include <keramos/core/detail/instance.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/queue_core.hpp>
#include <keramos/core/event.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos::detail {

/// The part of basic_queue<Exec> that launches no kernels.
template <class Exec>
class queue_base {
 public:
  using execution_space_type = Exec;
  using event_type = basic_event<Exec>;
  /// An event, `{e1, e2}` or a vector of events.
  using events = event_list<Exec>;

  /// A queue on the execution space's default instance, or on one of its own.
  /// @throws not_initialized before Kokkos is initialised.
  queue_base() : queue_base(queue_options()) {}
  explicit queue_base(queue_options options) : queue_base(checked_instance(options), options) {}
  /// A queue on an instance of yours (`own_instance` has no meaning here).
  explicit queue_base(Exec instance, queue_options options = {})
      : core_(std::make_shared<queue_core<Exec>>(std::move(instance), options.enable_profiling)) {
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
    if (!core_->has_ended()) fence(exec());
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

  // --- Host tasks; with `after` they begin when those events are complete -----------------------

  /// `f()` on a host thread, in the queue's order. It must not use this or other queues of the device (they
  /// may wait for it). What it throws is thrown by wait_and_throw.
  template <class F>
  event_type host_task(const std::string& label, F f) {
    return enqueue(label, [&] {
      auto call = std::make_unique<host_call>(host_call{core_->state, label, std::move(f)});
      stream::call_on_host(exec(), &host_call::run, call.get());
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
      const fill_lock<Exec> lock(by_kernels<Exec>(from, to));
      Kokkos::deep_copy(exec(), to, from);
    });
  }
  /// Sets `count` elements to `value`.
  /// @throws memory_error if the device cannot reach them.
  template <class T>
  event_type fill(T* data, const std::type_identity_t<T>& value, std::size_t count,
                  const events& after = {}) {
    static const std::string label = "keramos::fill";
    check_reachable<Exec>(label.c_str(), data, count);
    using view = Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    depends_on(after);
    return enqueue(label, [&] {
      if (count == 0) return;
      if constexpr (backend::traits<Exec>::is_host) {
        stream::fill(exec(), data, value, count);
      } else {
        const fill_lock<Exec> lock(true);
        Kokkos::deep_copy(exec(), view(data, count), value);
      }
    });
  }
  /// Sets all elements of a View.
  template <class V>
  requires requires(const V& v) { v.data(), v.label(); }
  event_type fill(const V& v, const typename V::non_const_value_type& value, const events& after = {}) {
    depends_on(after);
    return enqueue(v.label(), [&] {
      const fill_lock<Exec> lock(by_kernels<Exec>(v));
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

 protected:
  /// Queues what `work` queues, and marks where it ends.
  template <class Work>
  [[gnu::always_inline]] event_type enqueue(const std::string& label, const Work& work) {
    settle();
    if constexpr (!backend::traits<Exec>::is_host) core_->state->note(label);
    if (core_->state->profiling()) {
      const event_type start = mark();
      launch(label, work);
      return event_type(mark().native(), start.native(), core_->origin.native());
    }
    launch(label, work);
    if constexpr (checks) throw_faults();  // so that the label is the faulty kernel's
    return settled_completion();
  }
  const Exec& exec() const { return core_->exec(); }

  std::shared_ptr<queue_core<Exec>> core_;

 private:
  using stream = backend::stream<Exec>;

  static Exec checked_instance(const queue_options& options) {
    if (!Kokkos::is_initialized())
      throw not_initialized(
          "keramos::queue: Kokkos is not initialised; call Kokkos::initialize or hold a "
          "keramos::runtime for as long as queues and Views live");
    if constexpr (requires { backend::traits<Exec>::may_own_instance(); })
      if (!backend::traits<Exec>::may_own_instance()) return Exec();
    return options.own_instance ? own_instance<Exec>() : Exec();
  }

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
};

}  // namespace keramos::detail
