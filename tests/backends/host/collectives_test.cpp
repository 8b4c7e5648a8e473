// Collective operations of a group whose items are all on one thread, and its copies to local memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

#include <keramos/enabled_backends.hpp>

namespace keramos::test {
namespace {

using exec_space = Kokkos::DefaultHostExecutionSpace;
constexpr int lanes = 32;  // of a sub-group

struct add {
  KERAMOS_FUNCTION int operator()(int x, int y) const { return x + y; }
};
/// x -> factor·x + summand, modulo 2^32: of a composition the order shows.
struct affine {
  unsigned factor = 1, summand = 0;
  friend bool operator==(const affine&, const affine&) = default;
};
struct join {
  KERAMOS_FUNCTION affine operator()(const affine& x, const affine& y) const {
    return {x.factor * y.factor, x.summand * y.factor + y.summand};
  }
};
struct three_up {
  KERAMOS_FUNCTION int operator()(int /*slice*/, int lane) const { return lane + 3; }
};

template <class Size>
class HostCollectives : public testing::Test {
 protected:
  static constexpr int size = Size::value;
  using group = backend::collectives<exec_space, size, 1>;
  HostCollectives() {
    for (int i = 0; i < size; ++i) numbers[i] = (i * 37 + 11) % 101, maps[i] = {2u * i + 3, i + 5u};
  }

  const backend::host::team team{0, 1, nullptr};
  typename group::state state;
  int numbers[size], out[size];
  affine maps[size], joined[size];
};
template <int Size>
using of = std::integral_constant<int, Size>;
using sizes = testing::Types<of<1>, of<31>, of<32>, of<33>, of<64>, of<100>>;
TYPED_TEST_SUITE(HostCollectives, sizes);

TYPED_TEST(HostCollectives, Reduce) {
  int sum = 0;
  for (const int x : this->numbers) sum += x;
  EXPECT_EQ(TestFixture::group::reduce(this->team, this->state, this->numbers, add()), sum);
  for (const int item : {0, this->size / 2, this->size - 1})
    EXPECT_EQ(TestFixture::group::broadcast(this->team, this->state, this->numbers, item),
              this->numbers[item]);
}

TYPED_TEST(HostCollectives, ScanInOrder) {
  using group = typename TestFixture::group;
  group::inclusive_scan(this->team, this->state, this->maps, this->joined, join());
  affine so_far;
  for (int i = 0; i < this->size; ++i) EXPECT_EQ(this->joined[i], so_far = join()(so_far, this->maps[i]));
  const affine total = group::template exclusive_scan<true>(this->team, this->state, this->maps, this->joined,
                                                            affine{7, 9}, join());
  so_far = {7, 9};
  for (int i = 0; i < this->size; ++i) {
    EXPECT_EQ(this->joined[i], so_far);
    so_far = join()(so_far, this->maps[i]);
  }
  EXPECT_EQ(total, so_far);
}

TYPED_TEST(HostCollectives, SubGroupsAreOfThirtyTwo) {
  using group = typename TestFixture::group;
  static_assert(group::sub_group_size == lanes);
  group::sub_group_inclusive_scan(this->team, this->state, this->maps, this->joined, join());
  for (int i = 0; i < this->size; ++i) {
    affine expected;
    for (int j = i / lanes * lanes; j <= i; ++j) expected = join()(expected, this->maps[j]);
    EXPECT_EQ(this->joined[i], expected);
  }
  group::sub_group_reduce(this->team, this->state, this->maps, this->joined, join());
  group::shuffle(this->team, this->state, this->numbers, this->out, three_up());
  for (int i = 0; i < this->size; ++i) {
    const int first = i / lanes * lanes;
    affine expected;
    for (int j = first; j < this->size && j < first + lanes; ++j) expected = join()(expected, this->maps[j]);
    EXPECT_EQ(this->joined[i], expected);
    const bool there = i - first + 3 < lanes && i + 3 < this->size;
    EXPECT_EQ(this->out[i], this->numbers[there ? i + 3 : i]);
  }
}

// --- Local memory ------------------------------------------------------------------------------------

TEST(HostStaging, CopiesWhatIsThereAndZerosBehind) {
  using copier = backend::staging<exec_space>;
  const double from[4] = {1, 2, 3, 4};
  for (int valid = 0; valid <= 4; ++valid) {
    double to[5] = {9, 9, 9, 9, 9};
    copier::copy<4>(to, from, valid);
    copier::commit();
    copier::wait<0>();
    for (int i = 0; i < 4; ++i) EXPECT_EQ(to[i], i < valid ? from[i] : 0);
    EXPECT_EQ(to[4], 9);
  }
}

TEST(HostLocalMemory, BlocksOfOneThreadDoNotOverlap) {
  using backend::host::local_block;
  const local_block none(0), outer(1000);
  EXPECT_EQ(none.data(), nullptr);
  const std::byte* last_inner = nullptr;
  for (const std::size_t bytes : {std::size_t(5000), std::size_t(500)}) {
    const local_block inner(bytes);
    for (const local_block* b : {&outer, &inner})
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b->data()) % local_block::alignment, 0u);
    EXPECT_TRUE(inner.data() >= outer.data() + 1000 || inner.data() + bytes <= outer.data());
    if (last_inner) {
      EXPECT_EQ(inner.data(), last_inner) << "a thread keeps its blocks for the next kernel";
    }
    last_inner = inner.data();
  }
}

}  // namespace
}  // namespace keramos::test
