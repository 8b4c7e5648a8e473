// The kernels of reduce.hpp. Internal.
#pragma once

#include <type_traits>

#include <keramos/algorithm/check.hpp>
#include <keramos/algorithm/maybe.hpp>
#include <keramos/core/group_algorithms.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/view/grid_view.hpp>

namespace keramos::detail {

/// Each group sums a contiguous part of `x` into one partial sum; a second launch, of one group, sums those.
template <class Exec, class In, class T, class Op, bool Last>
struct reduce_kernel {
  static constexpr int items = 256;
  static constexpr int unroll = 8;
  static constexpr int groups_per_unit = 6;
  static constexpr int block = items * unroll;
  using group_type = group<local_range<items>, local_memory<>, Exec>;
  using sum = summation<T, Op>;
  using value_type = typename sum::value_type;
  /// What the kernel reads: elements, or the partial sums of the launch before.
  using source_type = std::conditional_t<Last, value_type, In>;

  const source_type* x;
  index_t n, stride;
  Op op;
  value_type init;
  value_type* partial;  // one for each group
  T* result;

  KERAMOS_FORCEINLINE_FUNCTION void operator()(group_type& g) const {
    const index_t blocks = (n + block - 1) / block, groups = g.get_group_range(0), at = g.get_group_id(0);
    const index_t first = blocks * at / groups, last = blocks * (at + 1) / groups;
    const auto combine = sum::lift(op);
    auto total = g.make_private(sum::nothing());
    for (index_t b = first; b < last; ++b) {
      const index_t base = b * block, left = n - base, step = stride;
      const source_type* const from = x + base * step;
      if (left >= block) {
        KERAMOS_UNROLL
        for (int u = 0; u < unroll; ++u)
          g.parallel_for_work_item(
              [=](h_item it, value_type& t) { t = combine(t, load(from[(u * items + it.i) * step])); },
              total);
      } else {
        for (int u = 0; u < unroll; ++u)
          g.parallel_for_work_item(
              [=](h_item it, value_type& t) {
                if (u * items + it.i < left) t = combine(t, load(from[(u * items + it.i) * step]));
              },
              total);
      }
    }
    const value_type all = reduce_over_group(g, total, combine);
    const auto k = *this;
    g.parallel_for_work_item([=](h_item it) {
      if (it.i != 0) return;
      if constexpr (Last)
        *k.result = sum::value(combine(k.init, all));
      else
        k.partial[it.gi / items] = all;
    });
  }

  KERAMOS_FORCEINLINE_FUNCTION static value_type load(const source_type& x) {
    if constexpr (Last)
      return x;
    else
      return sum::of(static_cast<T>(x));
  }
};

/// Where a reduction puts its result: a rank-0 View, or a pointer.
template <class R>
auto* result_of(const R& result) {
  if constexpr (std::is_pointer_v<R>) {
    return result;
  } else {
    constexpr bool is_view = requires {
      typename R::memory_space;
      result.data();
    };
    static_assert(is_view, "keramos::reduce: the result is a rank-0 View or a pointer");
    if constexpr (is_view) {
      static_assert(int(R::rank) == 0, "keramos::reduce: the result is a rank-0 View or a pointer");
      return result.data();
    } else {
      return static_cast<int*>(nullptr);  // after the one error
    }
  }
}

template <class Exec, class In, class T, class Op>
basic_event<Exec> run_reduce(basic_queue<Exec>& q, const grid_view<const In, 1>& x, T* result, const Op& op,
                             const typename summation<T, Op>::value_type& init) {
  using many = reduce_kernel<Exec, In, T, Op, false>;
  using one = reduce_kernel<Exec, In, T, Op, true>;
  const array_argument arg = argument("x", x);
  check_array("reduce", arg);
  if (result == nullptr)
    throw invalid_argument(
        "keramos::reduce: the result's memory is null; pass a rank-0 View that is allocated");
  // As many groups as run at once, several times over, whatever the data: the same call sums in the same order.
  const index_t blocks = (x.extent[0] + many::block - 1) / many::block;
  const index_t wanted = 4 * (index_t(q.execution_space().concurrency()) / many::group_type::team_size + 1);
  const index_t groups = blocks < wanted ? blocks : wanted;
  auto* const partial =
      workspace_of(q).template reserve<typename many::value_type>(q.execution_space(), groups);
  q.template parallel_for_work_group<typename many::group_type>(
      "keramos::reduce", range{groups}, many{x.data, x.extent[0], x.stride[0], op, init, partial, result});
  return q.template parallel_for_work_group<typename one::group_type>(
      "keramos::reduce_partial", range{1}, one{partial, groups, 1, op, init, nullptr, result});
}

}  // namespace keramos::detail
