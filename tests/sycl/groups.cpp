// Kernels of work-groups: phases, local memory, group algorithms. A program compiles this when it runs (docs/elsewhere.md).
#include <sycl/sycl.hpp>

#include <keramos/core/detail/launch.hpp>
#include <keramos/core/group_algorithms.hpp>

#include <team.hpp>
#include "arguments.hpp"

using namespace keramos;
using keramos::test::device::group_results;
using keramos::test::device::space;

namespace {

// x -> a·x + b, modulo 2^32: associative, not commutative.
struct affine {
  std::uint32_t a, b;
};
struct compose {
  affine operator()(const affine& f, const affine& g) const { return {g.a * f.a, g.a * f.b + g.b}; }
};
// 24 bytes, which lanes exchange word by word.
struct summary {
  std::int64_t sum, least, where;
};
struct summarise {
  summary operator()(const summary& a, const summary& b) const {
    const bool first = a.least < b.least || (a.least == b.least && a.where <= b.where);
    return {a.sum + b.sum, first ? a.least : b.least, first ? a.where : b.where};
  }
};

template <int Items>
void all_of_it(group_results* out) {
  using memory = local_memory<local_array<std::int64_t, Items>>;
  using wg = group<local_range<Items>, memory, space>;
  const auto body = [=](wg& g) {
    auto x = g.make_private(std::int64_t(0));
    auto s = g.make_private(summary{});
    auto f = g.make_private(affine{});
    auto low = g.make_private(false);
    auto lane = g.make_private(0);
    const auto reversed = g.template local<0>();
    g.parallel_for_work_item(
        [=](h_item it, std::int64_t& v, summary& t, affine& h, bool& is_low, int& from) {
          v = test::device::value_of(it.gi);
          t = {v, v, it.gi};
          h = {std::uint32_t(2 * it.gi + 3), std::uint32_t(it.gi + 7)};
          is_low = v < -290;
          from = it.linear * 7 % 32;
          reversed[Items - 1 - it.linear] = v;
        },
        x, s, f, low, lane);
    g.barrier();
    const summary whole = reduce_over_group(g, s, summarise{});
    const std::int64_t middle = group_broadcast(g, x, Items / 2);
    const bool any = any_of_group(g, low), all = all_of_group(g, low);
    auto composed = inclusive_scan_over_group(g, f, compose{});
    auto before = exclusive_scan_over_group(g, x, plus{});
    const auto sg = g.get_sub_group();
    auto sum = reduce_over_group(sg, x, plus{});
    auto composed_here = inclusive_scan_over_group(sg, f, compose{});
    auto left = shift_group_left(sg, x, 3);
    auto right = shift_group_right(sg, s, 2);
    auto other = permute_group_by_xor(sg, x, 5);
    auto named = select_from_group(sg, x, lane);
    g.parallel_for_work_item(
        [=](h_item it, affine& c, std::int64_t& b, std::int64_t& here, affine& c_here, std::int64_t& l,
            summary& r, std::int64_t& o, std::int64_t& n) {
          out[it.gi] = {whole.sum, whole.least, whole.where, middle, any ? 1 : 0,        all ? 1 : 0,
                        c.a,       c.b,         b,           here,   c_here.a,           c_here.b,
                        l,         r.where,     o,           n,      reversed[it.linear]};
        },
        composed, before, sum, composed_here, left, right, other, named);
  };
  const auto team = test::device::team_with<wg::team_size, memory::bytes>();
  detail::work_group_kernel<wg, decltype(body)>{body, {index_t(team.league_size())}, {}, ""}(team);
}

}  // namespace

#define KERAMOS_GROUP(items)     \
  KERAMOS_ND_RANGE_KERNEL(items) \
  void group_of_##items(group_results* out) { all_of_it<items>(out); }
KERAMOS_GROUP(1)
KERAMOS_GROUP(19)
KERAMOS_GROUP(256)
KERAMOS_GROUP(491)
KERAMOS_GROUP(3001)

/// Threads of the team that Keramos takes for so many items.
KERAMOS_SINGLE_TASK_KERNEL
void threads_of(int items, int* out) { *out = backend::traits<space>::team_size(items); }
