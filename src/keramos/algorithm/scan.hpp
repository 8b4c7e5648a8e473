// keramos::inclusive_scan and keramos::exclusive_scan: prefix sums of long arrays, in one pass.
// `keramos::inclusive_scan(q, x, y);`, `keramos::exclusive_scan(q, x, y, 0);`
#pragma once

#include <algorithm>
#include <type_traits>

#include <keramos/algorithm/check.hpp>
#include <keramos/algorithm/maybe.hpp>
#include <keramos/algorithm/scan_kernel.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/view/grid_view.hpp>

namespace keramos {

namespace detail {

template <bool Inclusive, class Exec, class In, class T, class Op>
basic_event<Exec> run_scan(basic_queue<Exec>& q, const grid_view<const In, 1>& x, const grid_view<T, 1>& y,
                           const Op& op, const typename summation<T, Op>::value_type& init) {
  using kernel = scan_kernel<Exec, In, T, Op, Inclusive>;
  const char* const name = Inclusive ? "inclusive_scan" : "exclusive_scan";
  const array_argument arg_x = argument("x", x), arg_y = argument("y", y);
  check_array(name, arg_x);
  check_extents(name, arg_y, x.extent, "the length of x");
  check_output(name, arg_y);
  const bool in_place = static_cast<const void*>(x.data) == y.data && sizeof(In) == sizeof(T) &&
                        (x.stride[0] == y.stride[0] || x.extent[0] <= 1);
  if (!in_place) check_disjoint(name, arg_x, arg_y);
  if (x.extent[0] == 0) return q.mark();

  const index_t tiles = (x.extent[0] + kernel::tile - 1) / kernel::tile;
  auto* const status =
      workspace_of(q).template reserve<unsigned long long>(q.execution_space(), tiles * kernel::words + 1);
  q.parallel_for("keramos::scan_reset", range{tiles * kernel::words + 1}, reset_words{status});
  return q.template parallel_for_work_group<typename kernel::group_type>(
      Inclusive ? "keramos::inclusive_scan" : "keramos::exclusive_scan",
      range{std::min(tiles, kernel::groups(q.execution_space()))},
      kernel{x.data, y.data, x.extent[0], x.stride[0], y.stride[0], op, init, tiles, status});
}

template <class Exec, class X, class Y>
void check_scan_types() {
  static_assert(!std::is_const_v<std::remove_pointer_t<decltype(as_grid<1>(std::declval<Y>()).data)>>,
                "keramos: a scan writes y, so its elements must not be const");
  static_assert(
      std::is_default_constructible_v<typename decltype(as_grid<1>(std::declval<X>()))::value_type> &&
          std::is_default_constructible_v<typename decltype(as_grid<1>(std::declval<Y>()))::value_type>,
      "keramos: a scan keeps elements in values of their type, so it must be default constructible");
  static_assert(reaches<Exec, X>() && reaches<Exec, Y>(),
                "keramos: a View lies in memory that this queue's execution space cannot access");
}

}  // namespace detail

/// y(i) ← op over x(0) ... x(i); returns at once.
///
/// @param x, y  rank-1 Views, mdspans or grid_views of one length; y may be x itself. Sums run in y's type,
///              and both types can be made without arguments. On GPUs y's elements have at most 512 bytes.
/// @param op    associative (it need not commute): keramos::plus, maximum, ... or a callable of your own
/// @throws invalid_argument if the lengths differ, data is null, or y overlaps x without being it.
///
/// Each element is read and written once. Where op is not exactly associative, as with floats, results may differ in their last
/// bits from run to run: which partial sums a group finds depends on timing. op is also called with sums of elements in the
/// middle, and with the last element again; what comes of that reaches no y, but op must bear it (a sum of integers that
/// overflows, say). Sums of zeros are +0, since 0 is what plus begins with.
template <class Exec, grid_like<1> X, grid_like<1> Y, class Op = plus>
basic_event<Exec> inclusive_scan(basic_queue<Exec>& q, const X& x, const Y& y, const Op& op = {}) {
  detail::check_scan_types<Exec, X, Y>();
  using In = typename decltype(as_grid<1>(x))::value_type;
  using T = typename decltype(as_grid<1>(y))::value_type;
  const grid_view<const In, 1> from = as_grid<1>(x);
  const grid_view<T, 1> to = as_grid<1>(y);
  return detail::run_scan<true>(q, from, to, op, detail::summation<T, Op>::nothing());
}

/// y(i) ← op over init and x(0) ... x(i - 1): as inclusive_scan, but without x(i).
template <class Exec, grid_like<1> X, grid_like<1> Y, class Init, class Op = plus>
basic_event<Exec> exclusive_scan(basic_queue<Exec>& q, const X& x, const Y& y, const Init& init,
                                 const Op& op = {}) {
  detail::check_scan_types<Exec, X, Y>();
  using In = typename decltype(as_grid<1>(x))::value_type;
  using T = typename decltype(as_grid<1>(y))::value_type;
  const grid_view<const In, 1> from = as_grid<1>(x);
  const grid_view<T, 1> to = as_grid<1>(y);
  return detail::run_scan<false>(q, from, to, op, detail::summation<T, Op>::of(static_cast<T>(init)));
}

}  // namespace keramos
