// Barriers of SYCL's queues, of which Keramos' events are made. No Kokkos here: tests/sycl reads it.
#pragma once

#include <optional>

#include <sycl/sycl.hpp>

namespace keramos::backend::sycl_backend {

/// A barrier in a queue, over once all work before it is.
class barrier {
 public:
  barrier() = default;  // over
  static barrier in(::sycl::queue q) {
    barrier b;
    b.event_ = q.ext_oneapi_submit_barrier();
    b.queue_ = q;
    return b;
  }
  /// Later work in q begins after it; the host goes on. In its own queue, if that is in order, it does so at any rate. (With DPC++
  /// 2026.2 the event of a second barrier there is over before the first one.) True if that took another barrier.
  bool hold(::sycl::queue q) const {
    if (!queue_ || (*queue_ == q && q.is_in_order())) return false;
    q.ext_oneapi_submit_barrier({event_});
    return true;
  }
  const ::sycl::event& event() const { return event_; }

 private:
  ::sycl::event event_;
  std::optional<::sycl::queue> queue_;
};

}  // namespace keramos::backend::sycl_backend
