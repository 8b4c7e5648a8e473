// keramos::stencil: each point of a grid from its neighbours. `keramos::stencil<keramos::halo<1, 1>>(q, in, out, f);`
#pragma once

#include <cstdlib>
#include <type_traits>

#include <keramos/algorithm/check.hpp>
#include <keramos/algorithm/neighborhood.hpp>
#include <keramos/algorithm/stencil_kernel.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/view/grid_view.hpp>

namespace keramos {

namespace detail {

/// The kernel walks from its first dimension to its last, along which memory runs.
template <class T, int Rank>
grid_view<T, Rank> flipped(const grid_view<T, Rank>& g) {
  grid_view<T, Rank> out{g.data, {}, {}};
  for (int d = 0; d < Rank; ++d)
    out.extent[d] = g.extent[Rank - 1 - d], out.stride[d] = g.stride[Rank - 1 - d];
  return out;
}

template <class Halo, bool Flipped, class Exec, class T, class U, int Rank, class F>
basic_event<Exec> launch_stencil(basic_queue<Exec>& q, const grid_view<const T, Rank>& in,
                                 const grid_view<U, Rank>& out, const F& f, boundary b) {
  using kernel = stencil_kernel<Exec, T, U, Halo, Flipped, F>;
  const kernel k(Flipped ? flipped(in) : in, Flipped ? flipped(out) : out, f, b,
                 index_t(q.execution_space().concurrency()));
  return q.template parallel_for_work_group<typename kernel::group_type>("keramos::stencil", k.groups(), k);
}

}  // namespace detail

/// out(p) ← f(the values of `in` around p) for the points p of a 2-D or 3-D grid; returns at once.
///
///     using cross = keramos::halo<1, 1>;
///     keramos::stencil<cross>(q, u, next, KERAMOS_LAMBDA(const keramos::neighborhood<float, cross>& v) {
///       return 0.25f * (v(-1, 0) + v(1, 0) + v(0, -1) + v(0, 1));
///     });
///
/// @tparam Halo  how far `f` reaches; the kernel brings tiles with that halo on chip
/// @param in, out  Views, mdspans or grid_views of one shape and of rank Halo::rank, of any layout; kernels
///             are fastest where both run along the same dimension, the first or the last
/// @param f    called on the device with a `neighborhood<T, Halo>`; its result is converted to out's type
/// @param b    what lies outside the grid; without it the points whose halo sticks out keep their value
/// @throws invalid_argument if the extents differ, data is null, or `out` overlaps `in` or itself.
template <class Halo, class Exec, grid_like<Halo::rank> In, grid_like<Halo::rank> Out, class F>
basic_event<Exec> stencil(basic_queue<Exec>& q, const In& in, const Out& out, const F& f,
                          boundary b = boundary::interior) {
  constexpr int rank = Halo::rank;
  using T = typename decltype(as_grid<rank>(in))::value_type;
  using U = std::remove_pointer_t<decltype(as_grid<rank>(out).data)>;
  static_assert(!std::is_const_v<U>, "keramos::stencil: out is written, so its elements must not be const");
  static_assert(std::is_trivially_copyable_v<T>, "keramos::stencil: elements must be trivially copyable");
  static_assert(detail::reaches<Exec, In>() && detail::reaches<Exec, Out>(),
                "keramos::stencil: a View lies in memory that this queue's execution space cannot access");
  static_assert(std::is_invocable_v<const F&, const neighborhood<T, Halo>&>,
                "keramos::stencil: f must take a const keramos::neighborhood<T, Halo>&, T the type of in");
  const grid_view<const T, rank> from = as_grid<rank>(in);
  const grid_view<U, rank> to = as_grid<rank>(out);
  const auto arg_in = detail::argument("in", from), arg_out = detail::argument("out", to);
  detail::check_array("stencil", arg_in);
  detail::check_extents("stencil", arg_out, from.extent, "the extents of in");
  detail::check_output("stencil", arg_out);
  detail::check_disjoint("stencil", arg_in, arg_out);
  if (from.size() == 0) return q.mark();

  if (std::abs(from.stride[0]) < std::abs(from.stride[rank - 1]))
    return detail::launch_stencil<Halo, true>(q, from, to, f, b);
  return detail::launch_stencil<Halo, false>(q, from, to, f, b);
}

}  // namespace keramos
