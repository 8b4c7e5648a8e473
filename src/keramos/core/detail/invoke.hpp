// Which arguments a kernel takes. The public calls ask here first, so that a kernel that takes others is one error in
// Keramos' words. Internal.
#pragma once

#include <type_traits>

#include <keramos/base/compiler.hpp>
#include <keramos/core/item.hpp>
#include <keramos/core/range.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos::detail {

/// For the static_asserts of overloads that only mistakes reach.
template <class...>
inline constexpr bool never = false;

template <class T>
inline constexpr bool is_id = false;
template <int Rank>
inline constexpr bool is_id<id<Rank>> = true;
template <class T>
inline constexpr bool is_range = false;
template <int Rank>
inline constexpr bool is_range<range<Rank>> = true;
template <int Rank>
inline constexpr bool is_range<nd_range<Rank>> = true;

/// Whether a constant `f` can be called so.
template <class F, class... Args>
concept takes = requires(const F& f, Args... args) {
  f(static_cast<Args&&>(args)...);
};

/// Whether `f` takes the indices of a range one by one, and then `Rest`. One that takes an id gets an id.
template <class F, int Rank, class... Rest>
KERAMOS_FORCEINLINE_FUNCTION constexpr bool takes_indices() {
  if constexpr (takes<F, id<Rank>, Rest...>)
    return false;
  else if constexpr (Rank == 2)
    return takes<F, index_t, index_t, Rest...>;
  else
    return Rank == 3 && takes<F, index_t, index_t, index_t, Rest...>;
}

/// Whether `f` can be called so, as far as the host can know.
template <class F, class... Args>
constexpr bool may_take() {
  return is_device_lambda<F>() || takes<F, Args...>;
}
/// The same with the id or the indices of a range before `Rest`.
template <class F, int Rank, class... Rest>
constexpr bool may_take_point() {
  return may_take<F, id<Rank>, Rest...>() || takes_indices<F, Rank, Rest...>();
}

/// `f(point, rest...)`, with the point's indices one by one where `f` takes them so.
template <class F, int Rank, class... Rest>
KERAMOS_FORCEINLINE_FUNCTION void call_at(const F& f, const id<Rank>& point, Rest&... rest) {
  if constexpr (!takes_indices<F, Rank, Rest&...>())
    f(point, rest...);
  else if constexpr (Rank == 2)
    f(point[0], point[1], rest...);
  else
    f(point[0], point[1], point[2], rest...);
}

// Each of these is true, or the one error of its call, which then compiles nothing more.

template <class Exec, class F>
constexpr bool runs_there() {
  constexpr bool runs = backend::traits<Exec>::is_host || !is_host_lambda<F>();
  static_assert(runs,
                "keramos: nvcc compiles this lambda for the host alone: write KERAMOS_LAMBDA in place of "
                "[=], and types in "
                "place of auto");
  return runs;
}

template <class Exec, int Rank, class F>
constexpr bool fits_range() {
  if constexpr (!runs_there<Exec, F>()) return false;
  constexpr bool fits = may_take_point<F, Rank>();
  static_assert(
      fits,
      "keramos: a kernel over a range takes its id<Rank> or Rank indices, (i), (i, j) or (i, j, k), and is "
      "not mutable");
  return fits;
}

template <class Exec, int Rank, class F>
constexpr bool fits_nd_range() {
  if constexpr (!runs_there<Exec, F>()) return false;
  constexpr bool fits = may_take<F, nd_item<Rank>>();
  static_assert(fits, "keramos: a kernel over an nd_range takes its nd_item<Rank>, and is not mutable");
  return fits;
}

template <class Exec, class F>
constexpr bool fits_task() {
  if constexpr (!runs_there<Exec, F>()) return false;
  constexpr bool fits = may_take<F>();
  static_assert(fits, "keramos: a single_task's kernel takes nothing, and is not mutable");
  return fits;
}

template <class Exec, class Group, int Rank, int Dynamic, class F>
constexpr bool fits_groups() {
  if constexpr (!runs_there<Exec, F>()) return false;
  constexpr bool same_rank = Rank == Group::rank;
  static_assert(same_rank, "keramos: the range of work-groups and the local_range differ in dimensions");
  constexpr bool same_space = std::is_same_v<typename Group::execution_space, Exec>;
  static_assert(same_space, "keramos: the group type is for another execution space than this queue's");
  constexpr bool all_extents = Dynamic == Group::local_memory_type::dynamic_count;
  static_assert(all_extents,
                "keramos: local_extents takes one range for each dynamic array of the group's local_memory");
  constexpr bool takes_group = may_take<F, Group&>();
  static_assert(takes_group,
                "keramos: a work-group kernel takes its group by reference, KERAMOS_LAMBDA(wg& g) where "
                "parallel_for_work_group<wg> launches it, and is not mutable");
  return same_rank && same_space && all_extents && takes_group;
}

template <class Phase, class... Value>
KERAMOS_FORCEINLINE_FUNCTION constexpr bool fits_phase() {
  constexpr bool fits = takes<Phase, h_item, Value&...>;
  static_assert(
      fits,
      "keramos: a phase takes its h_item and, for each private array that is passed with it, T&; it is not "
      "mutable");
  return fits;
}

}  // namespace keramos::detail
