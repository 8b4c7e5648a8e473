// keramos::reduce: one value from a long array. `keramos::reduce(q, x, sum);`, or `keramos::reduce(q, x, most, maximum{});`
#pragma once

#include <type_traits>

#include <keramos/algorithm/reduce_kernel.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/view/grid_view.hpp>

namespace keramos {

/// result ← op(init, op over all elements of x), in device memory; returns at once.
///
/// @param x       a rank-1 View, mdspan or grid_view of any stride
/// @param result  a rank-0 View or a pointer that the device can write; sums run in its type, so that floats
///                can be summed as doubles
/// @param op      associative and commutative: keramos::plus, maximum, ... or a callable of your own
/// @param init    combined with the sum; the result for an empty x. Without it, op's identity.
/// @throws invalid_argument if data is null.
///
/// Partial sums are combined as a tree of fixed shape: the same call on the same device gives bitwise the same answer. Below the
/// tree each item sums a part of x element by element. There are about four parts for each thread of a GPU, and a thousand for each
/// of a host, so the error of a long sum grows with its length; sum floats as doubles where that matters.
template <class Exec, grid_like<1> X, class Result, class Op, class Init>
basic_event<Exec> reduce(basic_queue<Exec>& q, const X& x, const Result& result, const Op& op,
                         const Init& init) {
  using T = std::remove_reference_t<decltype(*detail::result_of(result))>;
  using In = typename decltype(as_grid<1>(x))::value_type;
  static_assert(!std::is_const_v<T>, "keramos::reduce: the result is written, so it must not be const");
  static_assert(detail::reaches<Exec, X>() && detail::reaches<Exec, Result>(),
                "keramos::reduce: a View lies in memory that this queue's execution space cannot access");
  const grid_view<const In, 1> from = as_grid<1>(x);
  return detail::run_reduce(q, from, detail::result_of(result), op,
                            detail::summation<T, Op>::of(static_cast<T>(init)));
}
template <class Exec, grid_like<1> X, class Result, class Op = plus>
basic_event<Exec> reduce(basic_queue<Exec>& q, const X& x, const Result& result, const Op& op = {}) {
  using T = std::remove_reference_t<decltype(*detail::result_of(result))>;
  return reduce(q, x, result, op, detail::identity_of<T>(op));
}

}  // namespace keramos
