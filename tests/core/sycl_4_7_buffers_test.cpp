// SYCL 2020, 4.7.2 "Buffers", 4.7.6 "Accessors", 4.8 "Unified shared memory".
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <keramos/keramos.hpp>

namespace {

using namespace keramos;

using handler_type = handler<>;
constexpr bool host_backend = backend::traits<default_execution_space>::is_host;
constexpr int n = 4000;
// Long enough on a device that a missing dependency shows.
constexpr int rounds = host_backend ? 10 : 100000;

using writes = accessor<unsigned, 1, access_mode::write>;
using updates = accessor<unsigned, 1, access_mode::read_write>;
using reads = accessor<unsigned, 1, access_mode::read>;

KERAMOS_INLINE_FUNCTION unsigned stepped(unsigned x) {
  for (int r = 0; r < rounds; ++r) x = x * 1664525u + 1013904223u;
  return x;
}
template <class Launcher>
void start(Launcher& l, writes x) {
  l.parallel_for(
      "start", range{n}, KERAMOS_LAMBDA(index_t i) { x[i] = stepped(unsigned(i)); });
}
template <class Launcher>
void step(Launcher& l, updates x) {
  l.parallel_for(
      "step", range{n}, KERAMOS_LAMBDA(index_t i) { x[i] = stepped(x[i]); });
}
template <class Launcher>
void add(Launcher& l, reads x, updates y) {
  l.parallel_for(
      "add", range{n}, KERAMOS_LAMBDA(index_t i) { y[i] += x[i]; });
}

// --- 4.7.6 ---

TEST(Sycl_4_7_6_Accessors, KernelsOfSeveralQueuesWaitForEachOther) {
  queue a({.own_instance = true}), b({.own_instance = true}), c({.own_instance = true});
  buffer<unsigned> x{range{n}}, y{range{n}};
  // Read after write, write after read, write after write, in command groups.
  a.submit([&](handler_type& h) { start(h, accessor(x, h, write_only, no_init)); });
  b.submit([&](handler_type& h) { start(h, accessor(y, h, write_only, no_init)); });
  c.submit([&](handler_type& h) { add(h, accessor(x, h, read_only), accessor(y, h, read_write)); });
  b.submit([&](handler_type& h) { step(h, accessor(x, h, read_write)); });
  a.submit([&](handler_type& h) { add(h, accessor(x, h, read_only), accessor(y, h, read_write)); });
  host_accessor hx(x, read_only), hy(y, read_only);
  for (int i = 0; i < n; ++i) {
    const unsigned s = stepped(unsigned(i));
    ASSERT_EQ(hx[i], stepped(s)) << i;
    ASSERT_EQ(hy[i], 2 * s + stepped(s)) << i;
  }
}

TEST(Sycl_4_7_6_Accessors, AccessorsOfAQueueOrderWhatItHolds) {
  queue a({.own_instance = true}), b({.own_instance = true});
  buffer<unsigned> x{range{n}};
  start(a, accessor(x, a, write_only));
  step(b, accessor(x, b, read_write));
  step(b, accessor(x, b, read_write));
  step(a, accessor(x, a, read_write));
  host_accessor h(x);
  for (int i = 0; i < n; ++i) ASSERT_EQ(h[i], stepped(stepped(stepped(stepped(unsigned(i)))))) << i;
}

// Its state had the address of the first one, over and over.
TEST(Sycl_4_7_6_Accessors, AQueueThatIsGoneIsNotTakenForALaterOne) {
  std::uint64_t last = 0;
  for (int round = 0; round < 100; ++round) {
    const queue q;
    ASSERT_GT(q.number(), last);
    last = q.number();
    EXPECT_EQ(queue(q).number(), last);
  }
  for (int round = 0; round < 10; ++round) {
    buffer<unsigned> x{range{n}}, y{range{n}};
    host_accessor(y, write_only, no_init).begin()[0] = 0;
    queue second({.own_instance = true});
    {
      auto first = std::make_unique<queue>(queue_options{.own_instance = true});
      start(*first, accessor(x, *first, write_only, no_init));
      step(*first, accessor(x, *first, read_write));
      first.reset();  // its kernels are under way
      queue reader({.own_instance = true});
      reader.submit([&](handler_type& h) { h.fill(accessor(y, h, write_only, no_init), 1u); });
      reader.submit([&](handler_type& h) { add(h, accessor(x, h, read_only), accessor(y, h, read_write)); });
    }
    host_accessor h(y, read_only);
    for (int i = 0; i < n; ++i) ASSERT_EQ(h[i], stepped(stepped(unsigned(i))) + 1) << round << ' ' << i;
  }
}

// A command group's access ends with it, but not what the queue may do through an accessor of its own.
TEST(Sycl_4_7_6_Accessors, OfAQueueStaysOpenThroughItsCommandGroups) {
  queue a({.own_instance = true}), b({.own_instance = true});
  buffer<unsigned> x{range{n}}, y{range{n}};
  b.submit([&](handler_type& h) { h.fill(accessor(y, h, write_only, no_init), 1u); });
  const accessor open(x, a, read_write);
  a.submit([&](handler_type& h) { start(h, accessor(x, h, write_only)); });
  step(a, open);
  step(a, open);
  b.submit([&](handler_type& h) { add(h, accessor(x, h, read_only), accessor(y, h, read_write)); });
  {
    host_accessor h(y, read_only);
    for (int i = 0; i < n; ++i) ASSERT_EQ(h[i], stepped(stepped(stepped(unsigned(i)))) + 1) << i;
  }
  // The same where it is open for reading and the command group writes.
  const accessor reading(x, a, read_only);
  accessor sum(y, a, read_write);
  a.submit([&](handler_type& h) { h.fill(accessor(x, h, write_only, no_init), 5u); });
  a.submit([&](handler_type& h) { step(h, accessor(y, h, read_write)); });
  add(a, reading, sum);
  b.submit([&](handler_type& h) { h.fill(accessor(x, h, write_only, no_init), 7u); });
  host_accessor h(y, read_only);
  for (int i = 0; i < n; ++i) ASSERT_EQ(h[i], stepped(stepped(stepped(stepped(unsigned(i)))) + 1) + 5) << i;
}

TEST(Sycl_4_7_6_Accessors, HostAndKernelsTakeTurns) {
  queue q;
  buffer<unsigned> x{range{n}};
  for (int turn = 0; turn < 3; ++turn) {
    {
      host_accessor h(x, write_only, no_init);
      for (int i = 0; i < n; ++i) h[i] = unsigned(i + turn);
    }
    step(q, accessor(x, q, read_write));
    host_accessor h(x, read_write);
    for (int i = 0; i < n; ++i) ASSERT_EQ(h[i], stepped(unsigned(i + turn))) << i;
    std::fill(h.begin(), h.end(), 0u);
  }
  step(q, accessor(x, q, read_write));
  EXPECT_EQ(host_accessor(x, read_only)[7], stepped(0));
}

TEST(Sycl_4_7_6_Accessors, WriteAccessKeepsWhatItDoesNotWrite) {
  queue q;
  std::vector<unsigned> in(n);
  std::iota(in.begin(), in.end(), 3u);
  buffer x(static_cast<const unsigned*>(in.data()), range{n});
  writes all(x, q, write_only);
  q.fill(all.data(), 1u, 5);
  host_accessor h(x, read_only);
  for (int i = 0; i < n; ++i) ASSERT_EQ(h[i], i < 5 ? 1u : unsigned(i + 3));
}

void number(queue& q, accessor<int, 3, access_mode::write> a) {
  q.parallel_for(
      "number", range{a.get_range(0), a.get_range(1), a.get_range(2)},
      KERAMOS_LAMBDA(id<3> i) { a[i] = int((i[0] * 100 + i[1]) * 100 + i[2]); });
}
TEST(Sycl_4_7_6_Accessors, IndexInThreeDimensions) {
  queue q;
  buffer<int, 3> x{range{3, 4, 5}};
  number(q, accessor(x, q, write_only, no_init));
  host_accessor h(x, read_only);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 5; ++k) ASSERT_EQ(h(i, j, k), (i * 100 + j) * 100 + k);
  EXPECT_EQ((h[id{2, 3, 4}]), 20304);
  EXPECT_EQ(h.data()[(2 * 4 + 3) * 5 + 4], 20304);  // row-major
}

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "no exception";
}
TEST(Sycl_4_7_6_Accessors, KernelsMeetingAHostAccessorIsAnErrorThatNamesTheBuffer) {
  queue q;
  buffer<unsigned> x{range{n}, "heights"};
  start(q, accessor(x, q, write_only));
  {
    host_accessor h(x, read_only);
    reads also(x, q, read_only);  // two readers
    EXPECT_EQ(also.size(), n);
    EXPECT_NE(
        message_of([&] { accessor(x, q, read_write); }).find("buffer heights has a host_accessor alive"),
        std::string::npos);
    EXPECT_NE(message_of([&] { host_accessor w(x, write_only); }).find("another host_accessor"),
              std::string::npos);
  }
  step(q, accessor(x, q, read_write));
}

TEST(Sycl_4_7_6_Accessors, HandlerCopiesAndFills) {
  queue q;
  buffer<unsigned> x{range{n}}, y{range{n}}, small{range{3}};
  q.submit([&](handler_type& h) { h.fill(accessor(x, h, write_only, no_init), 9u); });
  q.submit([&](handler_type& h) {
    accessor from(x, h, read_only);
    accessor to(y, h, write_only, no_init);
    h.copy(from, to);
  });
  EXPECT_EQ(host_accessor(y, read_only)[n - 1], 9u);
  EXPECT_NE(
      message_of([&] {
        q.submit([&](handler_type& h) { h.copy(accessor(x, h, read_only), accessor(small, h, write_only)); });
      }).find("4000 elements but the destination 3"),
      std::string::npos);
}

// --- 4.7.2 ---

TEST(Sycl_4_7_2_Buffers, WriteBackToTheMemoryTheyWereMadeFrom) {
  std::vector<unsigned> data(n);
  std::iota(data.begin(), data.end(), 0u);
  queue q;
  {
    buffer x(data.data(), range{n});
    step(q, accessor(x, q, read_write));
  }
  for (int i = 0; i < n; ++i) ASSERT_EQ(data[i], stepped(unsigned(i)));
}
template <class F>
void expect_refused(const F& f, const std::string& words) {
  try {
    f();
    ADD_FAILURE() << "nothing was refused; expected: " << words;
  } catch (const invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}
// Not a constant: g++ would warn of copies from it, which the exception is there to prevent.
[[gnu::noinline]] double* nowhere() {
  double* volatile p = nullptr;
  return p;
}
TEST(Sycl_4_7_2_Buffers, ThatNoMemoryCouldHoldAreRefused) {
  expect_refused([] { buffer<double> b{range{-1}}; }, "the range is -1 in dimension 0");
  expect_refused([] { buffer<int, 2> b{range{4, -7}}; }, "the range is -7 in dimension 1");
  expect_refused(
      [] {
        buffer<char, 2> b{range{index_t(1) << 32, index_t(1) << 32}};
      },
      "more than 2^63 - 1 points");
  expect_refused([] { buffer<double> b{range{index_t(1) << 61}}; }, "more than 2^63 - 1 bytes");
  expect_refused([] { buffer b(nowhere(), range{3}); }, "data is null but the range has 3");
  expect_refused([] { buffer b(static_cast<const double*>(nowhere()), range{3}); },
                 "data is null but the range has 3");
  const buffer none(static_cast<const double*>(nowhere()), range{0});
  EXPECT_EQ(none.size(), 0u);
}

TEST(Sycl_4_7_2_Buffers, FromConstMemoryAreCopies) {
  std::vector<unsigned> data(n, 5u);
  queue q;
  {
    buffer x(static_cast<const unsigned*>(data.data()), range{n});
    std::fill(data.begin(), data.end(), 6u);
    step(q, accessor(x, q, read_write));
    EXPECT_EQ(host_accessor(x, read_only)[1], stepped(5));
  }
  EXPECT_EQ(data, std::vector<unsigned>(n, 6u));
}
TEST(Sycl_4_7_2_Buffers, ViewsGoInAndOutWithoutCopies) {
  Kokkos::View<unsigned*, Kokkos::LayoutRight, default_execution_space::memory_space> v("v", n);
  queue q;
  {
    buffer<unsigned> x(v);
    EXPECT_EQ(x.view().data(), v.data());
    start(q, accessor(x, q, write_only));
  }
  auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
  EXPECT_EQ(h(17), stepped(17));
  buffer<double, 2> y{range{3, 4}};
  EXPECT_EQ(y.view().extent(1), 4u);
  EXPECT_EQ(y.view().data(), y.view().data());
}

TEST(Sycl_4_7_2_Buffers, OfViewsWithGapsAreRefused) {
  using view = Kokkos::View<int**, Kokkos::LayoutRight, default_execution_space::memory_space>;
  const view whole("whole", 4, 6);
  const view part = Kokkos::subview(whole, Kokkos::ALL(), std::make_pair(0, 5));
  EXPECT_THROW((buffer<int, 2>(part)), invalid_argument);
}
TEST(Sycl_4_7_2_Buffers, WritesThroughViewsAreSeen) {
  queue q;
  std::vector<unsigned> data(n, 0u);
  {
    buffer x(data.data(), range{n});
    q.fill(x.view(), 7u).wait();
  }
  EXPECT_EQ(data, std::vector<unsigned>(n, 7u));
  buffer<unsigned> y{range{n}};
  host_accessor(y, write_only)[3] = 1;
  const auto inside = y.view();
  for (const unsigned value : {5u, 6u}) {
    q.fill(inside, value).wait();
    EXPECT_EQ(host_accessor(y, read_only)[3], value);
  }
}
TEST(Sycl_4_7_2_Buffers, OfAViewGiveItWhatTheHostWrites) {
  Kokkos::View<unsigned*, Kokkos::LayoutRight, default_execution_space::memory_space> v("v", n);
  queue q;
  {
    buffer<unsigned> x(v);
    EXPECT_EQ(host_accessor(x, read_only)[1], 0u);
    q.fill(v, 3u).wait();
    host_accessor h(x);
    EXPECT_EQ(h[1], 3u);
    h[1] = 4;
  }
  const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
  EXPECT_EQ(h(0), 3u);
  EXPECT_EQ(h(1), 4u);
}
TEST(Sycl_4_7_2_Buffers, WithoutMemoryThrowAndCanBeAskedAgain) {
  buffer<char> x{range{index_t(1) << 60}};
  for (int time = 0; time < 2; ++time) EXPECT_THROW(host_accessor(x, write_only), memory_error);
  queue q;
  EXPECT_THROW(accessor(x, q, write_only), memory_error);
}

// What buffers ask of an mdspan; the standard's needs a newer compiler.
struct row_major_mdspan {
  int* data;
  std::size_t rows, columns;
  std::size_t pitch;
  int* data_handle() const { return data; }
  std::size_t extent(std::size_t d) const { return d == 0 ? rows : columns; }
  std::size_t stride(std::size_t d) const { return d == 0 ? pitch : 1; }
};
struct plain_mdspan {
  int* data;
  std::size_t rows, columns;
  plain_mdspan(int* p, std::size_t r, std::size_t c) : data(p), rows(r), columns(c) {}
};
void number2(queue& q, accessor<int, 2, access_mode::write> a) {
  q.parallel_for(
      "number2", range{a.get_range(0), a.get_range(1)},
      KERAMOS_LAMBDA(id<2> i) { a[i] = int(10 * i[0] + i[1]); });
}
TEST(Sycl_4_7_2_Buffers, MdspansGoInAndOut) {
  std::vector<int> data(12);
  queue q;
  {
    buffer<int, 2> x(row_major_mdspan{data.data(), 3, 4, 4});
    number2(q, accessor(x, q, write_only));
    const auto out = as_mdspan<plain_mdspan>(x.view());
    EXPECT_EQ(out.data, x.view().data());
    EXPECT_EQ(out.columns, 4u);
  }
  EXPECT_EQ(data[2 * 4 + 3], 23);
  EXPECT_NE(message_of([&] {
              buffer<int, 2> x(row_major_mdspan{data.data(), 2, 4, 5});
            }).find("stride 5"),
            std::string::npos);
}

struct const_mdspan {
  const int* data;
  std::size_t rows, columns;
  const int* data_handle() const { return data; }
  std::size_t extent(std::size_t d) const { return d == 0 ? rows : columns; }
  std::size_t stride(std::size_t d) const { return d == 0 ? 0 : 1; }
};
TEST(Sycl_4_7_2_Buffers, AnMdspanIsLookedAtBeforeItIsRead) {
  const std::vector<int> row(10);
  EXPECT_THROW((buffer<int, 2>(const_mdspan{row.data(), 1000, 10})), invalid_argument);
}

// --- 4.8 ---

void twice(queue& q, int* p, std::size_t count) {
  q.parallel_for(
      "twice", range{count}, KERAMOS_LAMBDA(index_t i) { p[i] *= 2; });
}
TEST(Sycl_4_8_Usm, EachKindIsReachedByKernels) {
  queue q;
  int* d = malloc_device<int>(n, q);
  int* h = malloc_host<int>(n, q);
  int* s = malloc_shared<int>(n, q);
  for (int i = 0; i < n; ++i) h[i] = i, s[i] = -i;
  q.copy(h, d, n);
  q.prefetch(s, n * sizeof(int));
  twice(q, d, n), twice(q, h, n), twice(q, s, n);
  std::vector<int> back(n);
  q.copy(d, back.data(), n).wait();
  q.wait();
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(back[i], 2 * i);
    ASSERT_EQ(h[i], 2 * i);
    ASSERT_EQ(s[i], -2 * i);
  }
  EXPECT_EQ(get_pointer_type(d, q), host_backend ? memory_kind::host : memory_kind::device);
  EXPECT_EQ(get_pointer_type(h, q), memory_kind::host);
  EXPECT_EQ(get_pointer_type(s, q), host_backend ? memory_kind::host : memory_kind::shared);
  for (int* p : {d, h, s}) keramos::free(p, q);
  keramos::free(nullptr, q);
  EXPECT_EQ(malloc_device<int>(0, q), nullptr);
}
TEST(Sycl_4_8_Usm, MoreThanThereIsThrows) {
  queue q;
  const std::string what = message_of([&] { (void)malloc_device<double>(std::size_t(1) << 60, q); });
  EXPECT_NE(what.find("could not be allocated"), std::string::npos) << what;
  EXPECT_NE(what.find("malloc_device"), std::string::npos) << what;
}
TEST(Sycl_4_8_Usm, BytesThatWrapThrow) {
  queue q;
  EXPECT_THROW((void)malloc_device<double>((std::size_t(1) << 61) + 1, q), memory_error);
}
TEST(Sycl_4_8_Usm, FreeOfForeignMemoryIsRefusedWhereItShows) {
  if (host_backend) GTEST_SKIP() << "a host's pointers tell nothing";
  queue q;
  std::vector<int> x(3);
  EXPECT_THROW(keramos::free(x.data(), q), memory_error);
}
TEST(Sycl_4_8_Usm, OwnersMoveAndFree) {
  queue q;
  device_array<int> d(n, q);
  shared_array<int> s(n, q);
  host_array<int> h;
  h = host_array<int>(n, q);
  for (auto& x : h) x = 21;
  q.copy(h.data(), d.data(), n);
  twice(q, d.data(), n);
  q.copy(d.data(), s.data(), n).wait();
  EXPECT_EQ(s[n - 1], 42);
  const device_array<int> other = std::move(d);
  EXPECT_EQ(d.size(), 0u);
  EXPECT_EQ(other.size(), std::size_t(n));
  EXPECT_EQ(other.view().extent(0), std::size_t(n));
  EXPECT_EQ(other.view().data(), other.data());
}

}  // namespace
