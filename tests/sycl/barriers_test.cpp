// The barriers that Keramos' events are on SYCL (backends/sycl/barrier.hpp), which an earlier DPC++ was seen to wait for without
// end: none of these may hang.
#include <vector>

#include <gtest/gtest.h>

#include <sycl/sycl.hpp>

#include <keramos/backends/sycl/barrier.hpp>

namespace {

using keramos::backend::sycl_backend::barrier;

class SyclBarriers : public testing::TestWithParam<bool> {
 protected:
  // In order, as Kokkos' queues are from 4.5 on, or not.
  static ::sycl::queue queue_like(const ::sycl::queue& q) {
    const auto order =
        GetParam() ? ::sycl::property_list{::sycl::property::queue::in_order()} : ::sycl::property_list{};
    return {q.get_context(), q.get_device(), order};
  }
  const ::sycl::queue any;
  ::sycl::queue q = queue_like(any), other = queue_like(any);
};

TEST_P(SyclBarriers, EndInAnEmptyQueue) {
  auto first = q.ext_oneapi_submit_barrier();
  first.wait();
  q.ext_oneapi_submit_barrier({first}).wait();
  ::sycl::event().wait();
  EXPECT_EQ(first.get_info<::sycl::info::event::command_execution_status>(),
            ::sycl::info::event_command_status::complete);
}

TEST_P(SyclBarriers, EndBehindAHostTask) {
  bool done = false;
  q.submit([&](::sycl::handler& h) { h.host_task([&] { done = true; }); });
  q.ext_oneapi_submit_barrier().wait();
  EXPECT_TRUE(done);
  q.ext_oneapi_submit_barrier().wait();
}

TEST_P(SyclBarriers, HoldAnotherQueue) {
  const int count = 1000000;
  int* const data = ::sycl::malloc_shared<int>(count, any);
  q.fill(data, 3, count);
  EXPECT_TRUE(barrier::in(q).hold(other));
  other.memcpy(data + count / 2, data, sizeof(int) * count / 2);
  ::sycl::event(barrier::in(other).event()).wait();
  EXPECT_EQ(data[count - 1], 3);
  ::sycl::free(data, any);
}

TEST_P(SyclBarriers, HoldTheirOwnQueue) {
  const int count = 10000000;
  int* const data = ::sycl::malloc_shared<int>(count, any);
  q.fill(data, 3, count);
  const bool in_order = GetParam();
  EXPECT_EQ(barrier::in(q).hold(q), !in_order);
  EXPECT_FALSE(barrier().hold(q));  // an event by default, which is over
  ::sycl::event(barrier::in(q).event()).wait();
  EXPECT_EQ(data[count - 1], 3);
  ::sycl::free(data, any);
}

INSTANTIATE_TEST_SUITE_P(Queues, SyclBarriers, testing::Bool(),
                         [](const auto& info) { return info.param ? "in_order" : "out_of_order"; });

}  // namespace
