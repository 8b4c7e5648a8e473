// What every enabled backend gives (backends/interface.hpp): events, copies, kinds of memory, devices. Collectives, copies
// to local memory and products are tested by family, in the folders here.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include <keramos/enabled_backends.hpp>

namespace keramos::test {
namespace {

#define KERAMOS_SPACE(Space) , Space
template <class None, class... Spaces>
using spaces_behind = testing::Types<Spaces...>;
using spaces = spaces_behind<void KERAMOS_FOR_EACH_SPACE(KERAMOS_SPACE)>;
#undef KERAMOS_SPACE

template <class Exec>
class Backend : public testing::Test {};
TYPED_TEST_SUITE(Backend, spaces);

TYPED_TEST(Backend, SaysWhatItIs) {
  using traits = backend::traits<TypeParam>;
  const TypeParam exec;
  const device_info device = backend::describe_device(exec);
  EXPECT_EQ(device.backend, traits::name);
  EXPECT_EQ(device.is_host, traits::is_host);
  EXPECT_FALSE(device.name.empty());
  EXPECT_GT(device.units, 0);
  EXPECT_FALSE(backend::device_list<TypeParam>::all().empty());
  EXPECT_EQ(backend::device_list<TypeParam>::all().front().backend, traits::name);
  EXPECT_GE(traits::local_memory_limit(exec, traits::team_size(64)), 16u * 1024);
  EXPECT_GE(traits::team_size(64), 1);
  EXPECT_LE(traits::team_size(1), traits::team_size(1024));
}

/// What a memory space holds after copies there and back.
template <class Exec>
std::vector<int> there_and_back(const Exec& exec, const std::vector<int>& numbers) {
  using stream = backend::stream<Exec>;
  const std::size_t bytes = numbers.size() * sizeof(int);
  const Kokkos::View<int*, typename stream::host_space> from("from", numbers.size()),
      to("to", numbers.size());
  const Kokkos::View<int*, typename stream::device_space> device("device", numbers.size());
  std::copy(numbers.begin(), numbers.end(), from.data());
  Kokkos::fence();
  stream::copy(exec, device.data(), from.data(), bytes);
  stream::copy(exec, to.data(), device.data(), bytes);
  EXPECT_EQ(stream::synchronize(exec), "");
  return {to.data(), to.data() + numbers.size()};
}

TYPED_TEST(Backend, CopiesInOrder) {
  for (const int size : {1, 1000, 100'000}) {  // hosts copy the last with all threads
    std::vector<int> numbers(size);
    std::iota(numbers.begin(), numbers.end(), 17);
    EXPECT_EQ(there_and_back(TypeParam(), numbers), numbers);
  }
}

TYPED_TEST(Backend, KnowsWherePointersLead) {
  using stream = backend::stream<TypeParam>;
  const auto kind_in = [](auto view) { return stream::kind_of(view.data()); };
  const memory_kind device = kind_in(Kokkos::View<int*, typename stream::device_space>("device", 8));
  const memory_kind host = kind_in(Kokkos::View<int*, typename stream::host_space>("host", 8));
  EXPECT_EQ(host, memory_kind::host);
  EXPECT_EQ(device, backend::traits<TypeParam>::is_host ? memory_kind::host : memory_kind::device);
}

TYPED_TEST(Backend, EventsEndInOrderWithTheirTimes) {
  using event = backend::native_event<TypeParam>;
  using stream = backend::stream<TypeParam>;
  const TypeParam exec;
  int calls = 0;
  const event start = event::record(exec);
  stream::call_on_host(
      exec, [](void* n) { ++*static_cast<int*>(n); }, &calls);
  const event stop = event::record(exec), done = event::completion(exec);
  event::hold(exec, stop);
  done.wait();
  stop.wait();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(start.is_complete() && stop.is_complete() && done.is_complete());
  EXPECT_GE(event::seconds_between(start, stop), 0);
  EXPECT_LT(event::seconds_between(start, stop), 60);
  EXPECT_EQ(stream::synchronize(exec), "");
}

}  // namespace
}  // namespace keramos::test
