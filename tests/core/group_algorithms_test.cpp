// SYCL 2020, 4.17.3 "Group functions" and 4.17.4 "Group algorithms library", on private values between
// phases; groups of one item, of parts of a sub-group, of one team and of several times a team.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <keramos/keramos.hpp>

namespace {

using namespace keramos;

template <class T>
using device_view = Kokkos::View<T*, default_execution_space>;

template <class V>
auto on_host(const V& v) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
}

constexpr int groups = 3;

// Any values that differ from item to item and group to group.
KERAMOS_INLINE_FUNCTION std::int64_t value_of(index_t i) { return (i * 2654435761LL) % 1009 - 300; }

// A type of 24 bytes with an operator of its own: sum, smallest, and where that is (the first of equals).
struct summary {
  std::int64_t sum, smallest, where;
};
struct summarise {
  KERAMOS_INLINE_FUNCTION summary operator()(const summary& a, const summary& b) const {
    const bool first = a.smallest < b.smallest || (a.smallest == b.smallest && a.where <= b.where);
    return {a.sum + b.sum, first ? a.smallest : b.smallest, first ? a.where : b.where};
  }
};
// Associative but not commutative: x -> a·x + b, modulo 2^32. Scans promise the items' order.
struct affine {
  std::uint32_t a, b;
};
struct compose {
  KERAMOS_INLINE_FUNCTION affine operator()(const affine& f, const affine& g) const {
    return {g.a * f.a, g.a * f.b + g.b};
  }
};
KERAMOS_INLINE_FUNCTION affine affine_of(index_t i) {
  return {std::uint32_t(2 * i + 3), std::uint32_t(i + 7)};
}

template <int Items>
using group_of = group<local_range<Items>>;

// --- reduce_over_group ---

template <int Items>
void reduce_all(queue& q, const device_view<std::int64_t>& out, const device_view<summary>& all) {
  using wg = group_of<Items>;
  q.parallel_for_work_group<wg>(
      "reduce", range{groups}, KERAMOS_LAMBDA(wg & g) {
        auto x = g.make_private(std::int64_t(0));
        auto small = g.make_private(std::int8_t(0));
        auto s = g.make_private(summary{});
        g.parallel_for_work_item(
            [=](h_item it, std::int64_t& v, std::int8_t& b, summary& t) {
              v = value_of(it.gi);
              b = std::int8_t(v % 8);
              t = {v, v, it.gi};
            },
            x, small, s);
        const std::int64_t sum = reduce_over_group(g, x, keramos::plus{});
        const std::int64_t least = reduce_over_group(g, x, keramos::minimum{});
        const std::int64_t most = reduce_over_group(g, x, std::int64_t(5000), keramos::maximum{});
        const std::int8_t bits = reduce_over_group(g, small, keramos::bit_xor{});
        const summary whole = reduce_over_group(g, s, summarise{});
        const std::int64_t again = reduce_over_group(g, x, keramos::plus{});
        // Every item sees the results.
        g.parallel_for_work_item([=](h_item it) {
          out(it.gi) = sum == again ? ((sum * 10007 + least) * 10007 + most) * 257 + bits : -1;
          all(it.gi) = whole;
        });
      });
}
template <int Items>
void test_reduce() {
  device_view<std::int64_t> out("out", groups * Items);
  device_view<summary> all("all", groups * Items);
  queue q;
  reduce_all<Items>(q, out, all);
  q.wait();
  auto h = on_host(out);
  auto s = on_host(all);
  for (int g = 0; g < groups; ++g) {
    std::int64_t sum = 0;
    summary best{0, 1 << 30, 0};
    std::int8_t bits = 0;
    for (int i = g * Items; i < (g + 1) * Items; ++i) {
      sum += value_of(i);
      bits = std::int8_t(bits ^ std::int8_t(value_of(i) % 8));
      best = summarise{}(best, {value_of(i), value_of(i), i});
    }
    for (int i = g * Items; i < (g + 1) * Items; ++i) {
      ASSERT_EQ(h(i), ((sum * 10007 + best.smallest) * 10007 + 5000) * 257 + bits) << i;
      ASSERT_EQ(s(i).sum, sum) << i;
      ASSERT_EQ(s(i).smallest, best.smallest) << i;
      ASSERT_EQ(s(i).where, best.where) << i;
    }
  }
}
TEST(Sycl_4_17_4_ReduceOverGroup, OneItem) { test_reduce<1>(); }
TEST(Sycl_4_17_4_ReduceOverGroup, PartOfASubGroup) { test_reduce<19>(); }
TEST(Sycl_4_17_4_ReduceOverGroup, NoMultipleOfASubGroup) { test_reduce<37>(); }
TEST(Sycl_4_17_4_ReduceOverGroup, ATeam) { test_reduce<256>(); }
TEST(Sycl_4_17_4_ReduceOverGroup, ManySubGroupsTheLastInPart) { test_reduce<491>(); }
TEST(Sycl_4_17_4_ReduceOverGroup, LargerThanAnyTeam) { test_reduce<3001>(); }

// --- inclusive_scan_over_group, exclusive_scan_over_group ---

template <int Items>
void scan_all(queue& q, const device_view<affine>& inclusive, const device_view<affine>& exclusive,
              const device_view<std::int64_t>& sums, const device_view<std::int64_t>& totals) {
  using wg = group_of<Items>;
  q.parallel_for_work_group<wg>(
      "scan", range{groups}, KERAMOS_LAMBDA(wg & g) {
        auto f = g.make_private(affine{});
        auto x = g.make_private(std::int64_t(0));
        g.parallel_for_work_item(
            [=](h_item it, affine& v, std::int64_t& w) { v = affine_of(it.gi), w = value_of(it.gi); }, f, x);
        auto in = inclusive_scan_over_group(g, f, compose{});
        auto ex = exclusive_scan_over_group(g, f, affine{5, 9}, compose{});
        auto before = exclusive_scan_over_group(g, x, keramos::plus{});
        auto both = exclusive_scan_and_total(g, x, 1000, keramos::plus{});
        const std::int64_t total = both.total;
        g.parallel_for_work_item(
            [=](h_item it, affine& i, affine& e, std::int64_t& b, std::int64_t& b1000) {
              inclusive(it.gi) = i;
              exclusive(it.gi) = e;
              sums(it.gi) = b1000 == b + 1000 ? b : -1;
              totals(it.gi) = total;
            },
            in, ex, before, both.before);
      });
}
template <int Items>
void test_scan() {
  device_view<affine> in("in", groups * Items), ex("ex", groups * Items);
  device_view<std::int64_t> sums("sums", groups * Items), totals("totals", groups * Items);
  queue q;
  scan_all<Items>(q, in, ex, sums, totals);
  q.wait();
  auto i = on_host(in), e = on_host(ex);
  auto s = on_host(sums), t = on_host(totals);
  for (int g = 0; g < groups; ++g) {
    affine inclusive{1, 0}, exclusive{5, 9};
    std::int64_t sum = 0;
    for (int at = g * Items; at < (g + 1) * Items; ++at) {
      ASSERT_EQ(e(at).a, exclusive.a) << at;
      ASSERT_EQ(e(at).b, exclusive.b) << at;
      inclusive = compose{}(inclusive, affine_of(at));
      exclusive = compose{}(exclusive, affine_of(at));
      ASSERT_EQ(i(at).a, inclusive.a) << at;
      ASSERT_EQ(i(at).b, inclusive.b) << at;
      ASSERT_EQ(s(at), sum) << at;
      sum += value_of(at);
    }
    for (int at = g * Items; at < (g + 1) * Items; ++at) ASSERT_EQ(t(at), sum + 1000) << at;
  }
}
TEST(Sycl_4_17_4_ScanOverGroup, OneItem) { test_scan<1>(); }
TEST(Sycl_4_17_4_ScanOverGroup, PartOfASubGroup) { test_scan<19>(); }
TEST(Sycl_4_17_4_ScanOverGroup, NoMultipleOfASubGroup) { test_scan<37>(); }
TEST(Sycl_4_17_4_ScanOverGroup, ATeam) { test_scan<256>(); }
TEST(Sycl_4_17_4_ScanOverGroup, ManySubGroupsTheLastInPart) { test_scan<491>(); }
TEST(Sycl_4_17_4_ScanOverGroup, LargerThanAnyTeam) { test_scan<3001>(); }

// --- group_broadcast, any_of_group, all_of_group, none_of_group ---

template <int Items>
void broadcast_and_vote(queue& q, const device_view<std::int64_t>& out, int from) {
  using wg = group_of<Items>;
  q.parallel_for_work_group<wg>(
      "broadcast", range{groups}, KERAMOS_LAMBDA(wg & g) {
        auto x = g.make_private(std::int64_t(0));
        auto last = g.make_private(false);
        auto always = g.make_private(true);
        g.parallel_for_work_item(
            [=](h_item it, std::int64_t& v, bool& l) { v = value_of(it.gi), l = it.i == Items - 1; }, x,
            last);
        const std::int64_t first = group_broadcast(g, x);
        const std::int64_t that = group_broadcast(g, x, from);
        const bool any = any_of_group(g, last), all = all_of_group(g, last), none = none_of_group(g, last);
        const bool each = all_of_group(g, always);
        g.parallel_for_work_item([=](h_item it) {
          out(it.gi) = first * 100000 + that * 16 + 8 * any + 4 * all + 2 * none + 1 * each;
        });
      });
}
template <int Items>
void test_broadcast() {
  device_view<std::int64_t> out("out", groups * Items);
  queue q;
  for (const int from : {0, Items / 2, Items - 1}) {
    broadcast_and_vote<Items>(q, out, from);
    q.wait();
    auto h = on_host(out);
    for (int i = 0; i < groups * Items; ++i) {
      const std::int64_t first = value_of(i / Items * Items), that = value_of(i / Items * Items + from);
      ASSERT_EQ(h(i), first * 100000 + that * 16 + 8 + (Items == 1 ? 4 : 0) + 1) << i;
    }
  }
}
TEST(Sycl_4_17_3_GroupBroadcastAndVotes, OneItem) { test_broadcast<1>(); }
TEST(Sycl_4_17_3_GroupBroadcastAndVotes, NoMultipleOfASubGroup) { test_broadcast<37>(); }
TEST(Sycl_4_17_3_GroupBroadcastAndVotes, LargerThanAnyTeam) { test_broadcast<3001>(); }

// --- sub-groups ---

struct lanes_seen {
  std::int64_t left, further, right, crossed, chosen, third, sum, prefix, before;
  bool any, all, none;
};

template <int Items>
void use_sub_groups(queue& q, const device_view<lanes_seen>& out) {
  using wg = group_of<Items>;
  q.parallel_for_work_group<wg>(
      "sub_groups", range{groups}, KERAMOS_LAMBDA(wg & g) {
        auto x = g.make_private(std::int64_t(0));
        auto lane = g.make_private(0);
        auto zeroth = g.make_private(false);
        g.parallel_for_work_item(
            [=](h_item it, std::int64_t& v, int& l, bool& z) {
              v = value_of(it.gi);
              l = (5 * it.linear + 3) % 32;
              z = it.linear == 0;
            },
            x, lane, zeroth);
        const auto sg = g.get_sub_group();
        auto left = shift_group_left(sg, x);
        auto further = shift_group_left(sg, x, 5);
        auto right = shift_group_right(sg, x, 2);
        auto crossed = permute_group_by_xor(sg, x, 9);
        auto chosen = select_from_group(sg, x, lane);
        auto third = group_broadcast(sg, x, 3);
        auto sum = reduce_over_group(sg, x, keramos::plus{});
        auto prefix = inclusive_scan_over_group(sg, x, keramos::plus{});
        auto before = exclusive_scan_over_group(sg, x, 1000, keramos::plus{});
        auto before0 = exclusive_scan_over_group(sg, x, keramos::plus{});
        auto any = any_of_group(sg, zeroth), all = all_of_group(sg, zeroth), none = none_of_group(sg, zeroth);
        auto seen = g.make_private(lanes_seen{});
        g.parallel_for_work_item(
            [=](h_item, lanes_seen& s, std::int64_t& a, std::int64_t& b, std::int64_t& c, std::int64_t& d,
                std::int64_t& e) { s.left = a, s.right = b, s.crossed = c, s.chosen = d, s.third = e; },
            seen, left, right, crossed, chosen, third);
        g.parallel_for_work_item([=](h_item, lanes_seen& s, std::int64_t& f) { s.further = f; }, seen,
                                 further);
        g.parallel_for_work_item(
            [=](h_item, lanes_seen& s, std::int64_t& a, std::int64_t& b, std::int64_t& c, std::int64_t& d) {
              s.sum = a, s.prefix = b, s.before = c == d + 1000 ? d : -1;
            },
            seen, sum, prefix, before, before0);
        g.parallel_for_work_item(
            [=](h_item it, lanes_seen& s, bool& a, bool& b, bool& c) {
              s.any = a, s.all = b, s.none = c;
              out(it.gi) = s;
            },
            seen, any, all, none);
      });
}
template <int Items>
void test_sub_groups() {
  device_view<lanes_seen> out("out", groups * Items);
  queue q;
  use_sub_groups<Items>(q, out);
  q.wait();
  auto h = on_host(out);
  for (int at = 0; at < groups * Items; ++at) {
    const int first = at / Items * Items, item = at - first, lane = item % 32, start = item - lane;
    const auto of_lane = [&](int l) {
      const bool there = 0 <= l && l < 32 && start + l < Items;
      return value_of(there ? first + start + l : at);
    };
    std::int64_t sum = 0, prefix = 0;
    for (int i = start; i < start + 32 && i < Items; ++i) {
      sum += value_of(first + i);
      if (i <= item) prefix += value_of(first + i);
    }
    ASSERT_EQ(h(at).left, of_lane(lane + 1)) << at;
    ASSERT_EQ(h(at).further, of_lane(lane + 5)) << at;
    ASSERT_EQ(h(at).right, of_lane(lane - 2)) << at;
    ASSERT_EQ(h(at).crossed, of_lane(lane ^ 9)) << at;
    ASSERT_EQ(h(at).chosen, of_lane((5 * item + 3) % 32)) << at;
    ASSERT_EQ(h(at).third, of_lane(3)) << at;
    ASSERT_EQ(h(at).sum, sum) << at;
    ASSERT_EQ(h(at).prefix, prefix) << at;
    ASSERT_EQ(h(at).before, prefix - value_of(at)) << at;
    ASSERT_EQ(h(at).any, start == 0) << at;
    ASSERT_EQ(h(at).none, start != 0) << at;
    ASSERT_EQ(h(at).all, start == 0 && Items == 1) << at;
  }
}
TEST(Sycl_4_17_4_SubGroups, OneItem) { test_sub_groups<1>(); }
TEST(Sycl_4_17_4_SubGroups, PartOfASubGroup) { test_sub_groups<19>(); }
TEST(Sycl_4_17_4_SubGroups, NoMultipleOfASubGroup) { test_sub_groups<75>(); }
TEST(Sycl_4_17_4_SubGroups, LargerThanAnyTeam) { test_sub_groups<2100>(); }

// --- in a loop, with local memory between: no algorithm disturbs the next ---

template <int Items>
void many_rounds(queue& q, const device_view<std::int64_t>& out, int rounds) {
  using line = local_array<std::int64_t, Items>;
  using wg = group<local_range<Items>, local_memory<line>>;
  q.parallel_for_work_group<wg>(
      "rounds", range{groups}, KERAMOS_LAMBDA(wg & g) {
        auto a = g.template local<0>();
        auto x = g.make_private(std::int64_t(1));
        g.parallel_for_work_item([=](h_item it, std::int64_t& v) { v = value_of(it.gi) % 7; }, x);
        for (int r = 0; r < rounds; ++r) {
          const std::int64_t sum = reduce_over_group(g, x, keramos::plus{});
          auto before = exclusive_scan_over_group(g, x, keramos::plus{});
          g.parallel_for_work_item([=](h_item it, std::int64_t& b) { a(it.i) = (b + sum) % 1009; }, before);
          g.barrier();
          g.parallel_for_work_item(
              [=](h_item it, std::int64_t& v) { v = (v + a((it.i + 1) % Items)) % 1013; }, x);
          g.barrier();
        }
        g.parallel_for_work_item([=](h_item it, std::int64_t& v) { out(it.gi) = v; }, x);
      });
}
template <int Items>
void test_rounds() {
  constexpr int rounds = 17;
  device_view<std::int64_t> out("out", groups * Items);
  queue q;
  many_rounds<Items>(q, out, rounds);
  q.wait();
  auto h = on_host(out);
  for (int g = 0; g < groups; ++g) {
    std::vector<std::int64_t> x(Items), a(Items);
    for (int i = 0; i < Items; ++i) x[i] = value_of(g * Items + i) % 7;
    for (int r = 0; r < rounds; ++r) {
      std::int64_t sum = 0, before = 0;
      for (const auto v : x) sum += v;
      for (int i = 0; i < Items; ++i) a[i] = (before + sum) % 1009, before += x[i];
      for (int i = 0; i < Items; ++i) x[i] = (x[i] + a[(i + 1) % Items]) % 1013;
    }
    for (int i = 0; i < Items; ++i) ASSERT_EQ(h(g * Items + i), x[i]) << g << ' ' << i;
  }
}
TEST(Sycl_4_17_4_GroupAlgorithms, FollowEachOtherInLoops) {
  test_rounds<37>();
  test_rounds<512>();
  test_rounds<1500>();
}

}  // namespace
