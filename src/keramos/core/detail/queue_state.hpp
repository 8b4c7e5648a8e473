// What the copies of a queue share besides its instance: options, labels of kernels under way, errors that
// could not be thrown where they happened. Internal, but for queue_options.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <keramos/base/error.hpp>

namespace keramos {

/// How a queue is made: `keramos::queue q({.own_instance = true});`
struct queue_options {
  /// A Kokkos execution space instance of its own (a stream), so that its work may overlap other queues'.
  /// Host spaces give the default one where Kokkos makes no others (before 4.6; OpenMP since 5 without nested
  /// parallelism, and in a parallel region; Threads): their work is done when the call returns anyway.
  bool own_instance = false;
  /// Events of its kernels and copies know their device start and end times; costs one more event each.
  bool enable_profiling = false;
};

namespace detail {

class queue_state {
 public:
  explicit queue_state(bool profiling) : profiling_(profiling) {}

  bool profiling() const { return profiling_; }
  /// From 1; no two queues of a process have the same.
  std::uint64_t number() const { return number_; }

  /// Remembers a kernel for the message of a fault that the device tells later.
  void note(const std::string& label) { labels_[queued_++ % labels_.size()] = label; }
  void forget_labels() { queued_ = 0; }
  /// The last labels queued, the newest first.
  std::string labels() const {
    std::string all;
    for (std::size_t i = 0; i < queued_ && i < labels_.size(); ++i)
      all += (i ? ", before it " : "") + labels_[(queued_ - 1 - i) % labels_.size()];
    return all.empty() ? "none" : all;
  }

  std::string last_label() const { return queued_ ? labels_[(queued_ - 1) % labels_.size()] : ""; }

  /// Called from any thread.
  void add_error(const std::string& label, std::exception_ptr cause) {
    std::lock_guard lock(mutex_);
    errors_.push_back({label, std::move(cause)});
  }
  /// Throws the errors collected so far as one asynchronous_error, and forgets them.
  void throw_errors() {
    std::vector<failure> errors;
    {
      std::lock_guard lock(mutex_);
      errors.swap(errors_);
    }
    if (errors.empty()) return;
    std::string what;
    for (const failure& f : errors) what += (what.empty() ? "keramos: " : "; ") + f.describe();
    try {
      std::rethrow_exception(errors.front().cause);
    } catch (...) {
      std::throw_with_nested(asynchronous_error(what, errors.front().label));
    }
  }

 private:
  struct failure {
    std::string label;
    std::exception_ptr cause;

    std::string describe() const {
      try {
        std::rethrow_exception(cause);
      } catch (const std::exception& e) {
        return "host task " + label + " failed: " + e.what();
      } catch (...) {
        return "host task " + label + " failed";
      }
    }
  };

  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }

  bool profiling_;
  const std::uint64_t number_ = next_number();
  std::array<std::string, 4> labels_;
  std::size_t queued_ = 0;
  std::mutex mutex_;
  std::vector<failure> errors_;
};

/// A host function on its way through a queue; it deletes itself when it has run.
struct host_call {
  std::shared_ptr<queue_state> state;
  std::string label;
  std::function<void()> function;

  static void run(void* self) {
    const std::unique_ptr<host_call> call(static_cast<host_call*>(self));
    try {
      call->function();
    } catch (...) {
      call->state->add_error(call->label, std::current_exception());
    }
  }
};

}  // namespace detail
}  // namespace keramos
