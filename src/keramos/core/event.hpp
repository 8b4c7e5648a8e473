// Events: a point of a queue's order that can be waited on, polled and timed.
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <keramos/config.hpp>
#include <keramos/core/error.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos {

namespace detail {

/// The end of a queue's present work, which need not be recorded as long as nothing is queued behind it:
/// whoever asks first records it, the queue before it goes on, or the holder of an event.
template <class Exec>
class completion_point {
 public:
  using native_type = backend::native_event<Exec>;

  explicit completion_point(const Exec& exec) : exec_(exec) {}

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

 private:
  std::mutex mutex_;
  std::atomic<bool> recorded_ = false;
  std::optional<Exec> exec_;
  std::optional<native_type> native_;
};

/// The last completion point that a queue gave out; the copies of a queue share it.
template <class Exec>
class last_completion {
 public:
  last_completion() = default;
  last_completion(const last_completion&) = delete;
  last_completion& operator=(const last_completion&) = delete;
  ~last_completion() { settle(); }

  /// Before anything is queued: records the point, if anybody still has it. Most events are dropped by then,
  /// and cost nothing.
  void settle() {
    if (!point_) return;
    if (point_.use_count() > 1) point_->native();
    if (point_->recorded()) point_.reset();
  }
  std::shared_ptr<completion_point<Exec>> point(const Exec& exec) {
    settle();
    if (!point_) point_ = std::make_shared<completion_point<Exec>>(exec);
    return point_;
  }

 private:
  std::shared_ptr<completion_point<Exec>> point_;
};

}  // namespace detail

/// Completion of everything queued before it. Cheap to copy; waiting is the caller's choice.
template <class Exec>
class basic_event {
 public:
  using native_type = backend::native_event<Exec>;

  explicit basic_event(native_type native) : native_(std::move(native)) {}
  explicit basic_event(std::shared_ptr<detail::completion_point<Exec>> point) : point_(std::move(point)) {}
  /// With device times: work began after `start`; `origin` is what times are counted from.
  basic_event(native_type native, native_type start, native_type origin)
      : native_(std::move(native)),
        times_(std::make_shared<times>(times{std::move(start), std::move(origin)})) {}

  /// Blocks the host until the work before this event is done.
  void wait() const { native().wait(); }
  static void wait(const std::vector<basic_event>& events) {
    for (const basic_event& e : events) e.wait();
  }
  /// Whether that work is done; never blocks.
  bool is_complete() const { return native().is_complete(); }

  /// Device times of the one operation that returned this event, in seconds since its queue was made (SYCL's
  /// command_start and command_end). They wait for it, as SYCL's do.
  /// @throws error unless the queue was made with `{.enable_profiling = true}`.
  double start_seconds() const { return since(profiled().start); }
  double end_seconds() const {
    (void)profiled();
    return since(native());
  }
  /// end - start, without the rounding of times that are far from the queue's beginning.
  double duration_seconds() const {
    const times& t = profiled();
    wait();
    return native_type::seconds_between(t.start, native());
  }

  /// Device time from `start` to `stop` in seconds; both must be complete marks of one queue.
  /// @throws error if one has no time: see basic_queue::mark.
  friend double elapsed_seconds(const basic_event& start, const basic_event& stop) {
    return native_type::seconds_between(start.native(), stop.native());
  }

  /// The backend's event, for queues.
  const native_type& native() const { return point_ ? point_->native() : *native_; }

 private:
  struct times {
    native_type start, origin;
  };
  const times& profiled() const {
    if (!times_)
      throw error(
          "keramos::event: it has no device times; make its queue with {.enable_profiling = true} and ask "
          "the "
          "event that a kernel or copy returned");
    return *times_;
  }
  double since(const native_type& e) const {
    wait();
    return native_type::seconds_between(times_->origin, e);
  }

  std::optional<native_type> native_;
  std::shared_ptr<detail::completion_point<Exec>> point_;  // instead of native_
  std::shared_ptr<const times> times_;
};

using event = basic_event<default_execution_space>;

namespace detail {

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
