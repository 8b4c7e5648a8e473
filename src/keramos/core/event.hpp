// Events: a point of a queue's order that can be waited on, polled and timed.
//
//   keramos::event e = q.parallel_for("name", range{n}, kernel);   // what queues' functions return
//   e.wait();
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <keramos/base/error.hpp>
#include <keramos/config.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos {

namespace detail {

/// What the copies of an event share. As long as nothing is queued behind it, it need not be recorded: whoever asks
/// first does that, the queue before it goes on, or the holder of an event.
template <class Exec>
class event_state {
 public:
  using native_type = backend::native_event<Exec>;
  struct times {
    native_type start, origin;
  };

  explicit event_state(const Exec& exec) : exec_(exec) {}
  explicit event_state(native_type native) : recorded_(true), native_(std::move(native)) {}
  event_state(native_type native, times t)
      : recorded_(true), native_(std::move(native)), times_(std::move(t)) {}

  const native_type& native() {
    std::lock_guard lock(mutex_);
    if (!native_) {
      native_ = native_type::completion(*exec_);
      exec_.reset();  // events may outlive queues, and Kokkos
      recorded_.store(true, std::memory_order_release);
    }
    return *native_;
  }
  bool recorded() const { return recorded_.load(std::memory_order_acquire); }
  const std::optional<times>& device_times() const { return times_; }

 private:
  std::atomic<bool> recorded_ = false;  // whether there is a native_, for those who do not hold the mutex
  std::mutex mutex_;
  std::optional<Exec> exec_;
  std::optional<native_type> native_;
  std::optional<times> times_;
};

/// The last completion that a queue gave out; the copies of a queue share it.
template <class Exec>
class last_completion {
 public:
  last_completion() = default;
  last_completion(const last_completion&) = delete;
  last_completion& operator=(const last_completion&) = delete;
  ~last_completion() {
    try {
      settle();
    } catch (...) {  // of a device that faulted: its queue's wait_and_throw tells
    }
  }

  /// Before anything is queued: records the completion, if anybody still has it. Most events are dropped by then,
  /// and cost nothing.
  void settle() {
    if (!state_) return;
    const bool is_shared = state_.use_count() > 1;
    std::atomic_thread_fence(std::memory_order_acquire);  // who dropped it may have recorded it before
    if (is_shared || state_->recorded()) retire();
  }
  /// The same, and keeps nothing of the instance: for a queue that Kokkos ends before.
  void drop() {
    settle();
    state_.reset();
  }
  /// The end of what is queued so far, after settle().
  const std::shared_ptr<event_state<Exec>>& get(const Exec& exec) {
    if (!state_) state_ = std::make_shared<event_state<Exec>>(exec);
    return state_;
  }

 private:
  [[gnu::noinline]] void retire() {
    (void)state_->native();
    state_.reset();
  }

  std::shared_ptr<event_state<Exec>> state_;
};

}  // namespace detail

/// Completion of everything queued before it. Cheap to copy; waiting is the caller's choice.
template <class Exec>
class basic_event {
  using state_type = detail::event_state<Exec>;

 public:
  using native_type = backend::native_event<Exec>;

  /// Of work that is done, as SYCL's.
  basic_event() = default;
  explicit basic_event(std::shared_ptr<state_type> state) : state_(std::move(state)) {}
  explicit basic_event(native_type native) : state_(std::make_shared<state_type>(std::move(native))) {}
  /// With device times: work began after `start`; `origin` is what times are counted from.
  basic_event(native_type native, native_type start, native_type origin)
      : state_(std::make_shared<state_type>(
            std::move(native), typename state_type::times{std::move(start), std::move(origin)})) {}

  /// Blocks the host until the work before this event is done.
  void wait() const {
    if (state_) native().wait();
  }
  static void wait(const std::vector<basic_event>& events) {
    for (const basic_event& e : events) e.wait();
  }
  /// Whether that work is done; never blocks.
  bool is_complete() const { return !state_ || native().is_complete(); }
  /// What is queued on `exec` from here on begins after this event; the host goes on.
  void hold(const Exec& exec) const {
    if (state_) native_type::hold(exec, native());
  }

  /// Device times of the one operation that returned this event, in seconds since its queue was made (SYCL's
  /// command_start and command_end). They wait for it, as SYCL's do.
  /// @throws error unless the queue was made with `{.enable_profiling = true}`.
  double start_seconds() const {
    const auto& t = times();
    return since(t.origin, t.start);
  }
  double end_seconds() const { return since(times().origin, native()); }
  /// end - start, without the rounding of times that are far from the queue's beginning.
  double duration_seconds() const { return since(times().start, native()); }

  /// Device time from `start` to `stop` in seconds; both must be complete marks of queues of one device.
  /// @throws error if one has no time: see basic_queue::mark.
  friend double elapsed_seconds(const basic_event& start, const basic_event& stop) {
    return native_type::seconds_between(start.native(), stop.native());
  }

  /// The backend's event.
  /// @throws error if there is none: the work was done when this event was made.
  const native_type& native() const {
    if (!state_)
      throw error(
          "keramos::event: work that was done when its event was made has no native event and no time; pass "
          "queue.mark()");
    return state_->native();
  }

 private:
  const typename state_type::times& times() const {
    if (!state_ || !state_->device_times())
      throw error(
          "keramos::event: it has no device times; make its queue with {.enable_profiling = true} and ask "
          "the "
          "event that a kernel or copy returned");
    return *state_->device_times();
  }
  double since(const native_type& first, const native_type& e) const {
    wait();
    return native_type::seconds_between(first, e);
  }

  std::shared_ptr<state_type> state_;
};

using event = basic_event<default_execution_space>;

namespace detail {

/// Of all that `exec` holds when the event is first asked; hosts are done.
template <class Exec>
basic_event<Exec> completion_of([[maybe_unused]] const Exec& exec) {
  if constexpr (backend::traits<Exec>::is_host)
    return {};
  else
    return basic_event<Exec>(std::make_shared<event_state<Exec>>(exec));
}

/// What an operation waits for: an event, `{e1, e2}`, or a vector of events. Lives as long as its argument.
template <class Exec>
class event_list {
 public:
  event_list(const basic_event<Exec>& e) : first_(&e), count_(1) {}
  event_list(std::initializer_list<basic_event<Exec>> events) : count_(events.size()) {
    first_ = events.begin();  // used in the same full expression
  }
  event_list(const std::vector<basic_event<Exec>>& events) : first_(events.data()), count_(events.size()) {}

  const basic_event<Exec>* begin() const { return first_; }
  const basic_event<Exec>* end() const { return first_ + count_; }

 private:
  const basic_event<Exec>* first_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace detail
}  // namespace keramos
