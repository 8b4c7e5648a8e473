// Events: a point of a queue's order that can be waited on, polled and timed.
#pragma once

#include <memory>
#include <utility>

#include <keramos/config.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos {

/// Completion of everything queued before it. Cheap to copy; waiting is the caller's choice.
template <class Exec>
class basic_event {
 public:
  explicit basic_event(backend::native_event<Exec> native) : native_(std::move(native)) {}

  /// Blocks the host until the work before this event is done.
  void wait() const { native_.wait(); }
  /// Whether that work is done; never blocks.
  bool is_complete() const { return native_.is_complete(); }

  /// Device time from `start` to `stop` in seconds; both must be complete marks of one queue.
  /// @throws error if one has no time: see basic_queue::mark.
  friend double elapsed_seconds(const basic_event& start, const basic_event& stop) {
    return backend::native_event<Exec>::seconds_between(start.native_, stop.native_);
  }

 private:
  backend::native_event<Exec> native_;
};

using event = basic_event<default_execution_space>;

}  // namespace keramos
