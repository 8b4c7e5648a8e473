// Group algorithms: what the items of a group do together with their private values, between phases
// (SYCL 2020, section 4.17.3 "Group functions" and 4.17.4 "Group algorithms library", by the same names).
//
// All are called outside phases, so by the whole group. With a `group&` a reduction, broadcast or vote
// returns one value that is the same for all items, to be captured by later phases; scans return private
// values. With a `sub_group` all results are private values, for each sub-group has its own.
//
//   auto x = g.make_private(0.0f);
//   g.parallel_for_work_item([=](h_item it, float& v) { v = in(it.gi); }, x);
//   const float sum = reduce_over_group(g, x, keramos::plus{});
//   auto before = exclusive_scan_over_group(g, x, keramos::plus{});
//   auto right = shift_group_left(g.get_sub_group(), x);       // the next lane's value
//
// Values are trivially copyable and aligned to 16 bytes at most. Operators are associative; those of
// reductions are commutative too. The order of operations depends on the backend and the group's size,
// never on the run: the same kernel gives bitwise the same result again. No algorithm orders accesses to
// memory: a barrier() still has to stand between phases that hand over local elements.
#pragma once

#include <type_traits>

#include <keramos/core/functional.hpp>
#include <keramos/core/group.hpp>

namespace keramos {

namespace detail {

struct group_access {
  template <class Group>
  using collectives =
      backend::collectives<typename Group::execution_space, Group::local_range_type::size, Group::team_size>;

  template <class T, class Group>
  KERAMOS_FORCEINLINE_FUNCTION static auto& values(private_array<T, Group>& p) {
    return p.value_;
  }
  template <class T, class Group>
  KERAMOS_FORCEINLINE_FUNCTION static const auto& values(const private_array<T, Group>& p) {
    return p.value_;
  }
  template <class Group>
  KERAMOS_FORCEINLINE_FUNCTION static const auto& team(const Group& g) {
    g.outside_phase("calls a group algorithm");
    return g.team_;
  }
  template <class Group>
  KERAMOS_FORCEINLINE_FUNCTION static auto& state(Group& g) {
    g.outside_phase("calls a group algorithm");
    return g.collective_state_;
  }
  template <class Group>
  KERAMOS_FORCEINLINE_FUNCTION static Group& group_of(const sub_group<Group>& sg) {
    return sg.group_;
  }

  /// out(item) = x(item) seen from the lane that `source(slice, lane)` names.
  template <class T, class Group, class Source>
  KERAMOS_FORCEINLINE_FUNCTION static private_array<T, Group> shuffle(const sub_group<Group>& sg,
                                                                      const private_array<T, Group>& x,
                                                                      const Source& source) {
    static_assert(std::is_trivially_copyable_v<T>, "keramos: items exchange trivially copyable values");
    private_array<T, Group> out;
    collectives<Group>::shuffle(sg.group_.team_, sg.group_.collective_state_, x.value_, out.value_, source);
    return out;
  }
};

template <class T, class Op>
KERAMOS_FORCEINLINE_FUNCTION constexpr T identity_of(const Op&) {
  static_assert(has_known_identity<Op, T>,
                "keramos: the operator tells no identity for this type; pass an initial value, or give it a "
                "static member template identity<T>()");
  return Op::template identity<T>();
}

}  // namespace detail

// --- Reductions --------------------------------------------------------------------------------

/// op over the values of all items of the group.
template <class T, class Group, class Op>
KERAMOS_FORCEINLINE_FUNCTION T reduce_over_group(Group& g, const private_array<T, Group>& x, const Op& op) {
  static_assert(std::is_trivially_copyable_v<T>, "keramos: items exchange trivially copyable values");
  using access = detail::group_access;
  return access::collectives<Group>::reduce(access::team(g), access::state(g), access::values(x), op);
}
/// The same, combined with `init`.
template <class T, class Group, class Op>
KERAMOS_FORCEINLINE_FUNCTION T reduce_over_group(Group& g, const private_array<T, Group>& x,
                                                 const std::type_identity_t<T>& init, const Op& op) {
  return op(init, reduce_over_group(g, x, op));
}
/// op over the values of the own sub-group.
template <class T, class Group, class Op>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> reduce_over_group(const sub_group<Group>& sg,
                                                                       const private_array<T, Group>& x,
                                                                       const Op& op) {
  static_assert(std::is_trivially_copyable_v<T>, "keramos: items exchange trivially copyable values");
  using access = detail::group_access;
  Group& g = access::group_of(sg);
  private_array<T, Group> out;
  access::collectives<Group>::sub_group_reduce(access::team(g), access::state(g), access::values(x),
                                               access::values(out), op);
  return out;
}

// --- Scans, in the row-major order of the items ------------------------------------------------

/// Item i gets op over items 0 ... i.
template <class T, class Group, class Op>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> inclusive_scan_over_group(
    Group& g, const private_array<T, Group>& x, const Op& op) {
  static_assert(std::is_trivially_copyable_v<T>, "keramos: items exchange trivially copyable values");
  using access = detail::group_access;
  private_array<T, Group> out;
  access::collectives<Group>::inclusive_scan(access::team(g), access::state(g), access::values(x),
                                             access::values(out), op);
  return out;
}
/// Item i gets op over items 0 ... i of its sub-group.
template <class T, class Group, class Op>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> inclusive_scan_over_group(
    const sub_group<Group>& sg, const private_array<T, Group>& x, const Op& op) {
  static_assert(std::is_trivially_copyable_v<T>, "keramos: items exchange trivially copyable values");
  using access = detail::group_access;
  Group& g = access::group_of(sg);
  private_array<T, Group> out;
  access::collectives<Group>::sub_group_inclusive_scan(access::team(g), access::state(g), access::values(x),
                                                       access::values(out), op);
  return out;
}

/// What an exclusive scan tells besides: op over `init` and all items, the same for all of them.
template <class T, class Group>
struct exclusive_scan_result {
  private_array<T, Group> before;
  T total;
};

/// Item i gets op over `init` and items 0 ... i - 1, and the total comes with them:
/// `auto [before, total] = exclusive_scan_and_total(g, x, 0, keramos::plus{})`.
template <class T, class Group, class Op>
KERAMOS_FORCEINLINE_FUNCTION exclusive_scan_result<T, Group> exclusive_scan_and_total(
    Group& g, const private_array<T, Group>& x, const std::type_identity_t<T>& init, const Op& op) {
  static_assert(std::is_trivially_copyable_v<T>, "keramos: items exchange trivially copyable values");
  using access = detail::group_access;
  exclusive_scan_result<T, Group> out;
  out.total = access::collectives<Group>::template exclusive_scan<true>(
      access::team(g), access::state(g), access::values(x), access::values(out.before), init, op);
  return out;
}
/// Item i gets op over `init` and items 0 ... i - 1.
template <class T, class Group, class Op>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> exclusive_scan_over_group(
    Group& g, const private_array<T, Group>& x, const std::type_identity_t<T>& init, const Op& op) {
  static_assert(std::is_trivially_copyable_v<T>, "keramos: items exchange trivially copyable values");
  using access = detail::group_access;
  private_array<T, Group> out;
  access::collectives<Group>::template exclusive_scan<false>(
      access::team(g), access::state(g), access::values(x), access::values(out), init, op);
  return out;
}
/// The same from the operator's identity.
template <class T, class Group, class Op>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> exclusive_scan_over_group(
    Group& g, const private_array<T, Group>& x, const Op& op) {
  return exclusive_scan_over_group(g, x, detail::identity_of<T>(op), op);
}
/// Item i gets op over `init` and the items of its sub-group before it.
template <class T, class Group, class Op>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> exclusive_scan_over_group(
    const sub_group<Group>& sg, const private_array<T, Group>& x, const std::type_identity_t<T>& init,
    const Op& op) {
  auto before = shift_group_right(sg, inclusive_scan_over_group(sg, x, op), 1);
  detail::group_access::group_of(sg).parallel_for_work_item(
      [=](h_item it, T& b) { b = it.linear % sub_group<Group>::size == 0 ? init : op(init, b); }, before);
  return before;
}
template <class T, class Group, class Op>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> exclusive_scan_over_group(
    const sub_group<Group>& sg, const private_array<T, Group>& x, const Op& op) {
  return exclusive_scan_over_group(sg, x, detail::identity_of<T>(op), op);
}

// --- Votes -------------------------------------------------------------------------------------

/// Whether the flag of any item is set.
template <class Group>
KERAMOS_FORCEINLINE_FUNCTION bool any_of_group(Group& g, const private_array<bool, Group>& flag) {
  return reduce_over_group(g, flag, logical_or{});
}
/// Whether the flags of all items are set.
template <class Group>
KERAMOS_FORCEINLINE_FUNCTION bool all_of_group(Group& g, const private_array<bool, Group>& flag) {
  return reduce_over_group(g, flag, logical_and{});
}
/// Whether no item's flag is set.
template <class Group>
KERAMOS_FORCEINLINE_FUNCTION bool none_of_group(Group& g, const private_array<bool, Group>& flag) {
  return !any_of_group(g, flag);
}
/// Whether any, all, or none of the own sub-group's flags are set.
template <class Group>
KERAMOS_FORCEINLINE_FUNCTION private_array<bool, Group> any_of_group(const sub_group<Group>& sg,
                                                                     const private_array<bool, Group>& flag) {
  return reduce_over_group(sg, flag, logical_or{});
}
template <class Group>
KERAMOS_FORCEINLINE_FUNCTION private_array<bool, Group> all_of_group(const sub_group<Group>& sg,
                                                                     const private_array<bool, Group>& flag) {
  return reduce_over_group(sg, flag, logical_and{});
}
template <class Group>
KERAMOS_FORCEINLINE_FUNCTION private_array<bool, Group> none_of_group(
    const sub_group<Group>& sg, const private_array<bool, Group>& flag) {
  auto none = any_of_group(sg, flag);
  detail::group_access::group_of(sg).parallel_for_work_item([=](h_item, bool& n) { n = !n; }, none);
  return none;
}

// --- Broadcast and shuffles --------------------------------------------------------------------

/// The value of the item with row-major index `item`, which is the same for the whole group.
template <class T, class Group>
KERAMOS_FORCEINLINE_FUNCTION T group_broadcast(Group& g, const private_array<T, Group>& x, int item = 0) {
  static_assert(std::is_trivially_copyable_v<T>, "keramos: items exchange trivially copyable values");
  using access = detail::group_access;
  return access::collectives<Group>::broadcast(access::team(g), access::state(g), access::values(x), item);
}

// Of a sub-group's shuffles, an item whose source lane does not exist keeps its own value.

/// The value of lane `lane` of the own sub-group.
template <class T, class Group>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> group_broadcast(const sub_group<Group>& sg,
                                                                     const private_array<T, Group>& x,
                                                                     int lane = 0) {
  return detail::group_access::shuffle(sg, x, [=](int, int) { return lane; });
}
/// Each item gets the value of the lane that it names.
template <class T, class Group>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> select_from_group(
    const sub_group<Group>& sg, const private_array<T, Group>& x, const private_array<int, Group>& lane) {
  const auto& lanes = detail::group_access::values(lane);
  return detail::group_access::shuffle(sg, x, [&](int slice, int) { return lanes[slice]; });
}
/// The value of the lane `by` to the right: lane l gets that of l + by.
template <class T, class Group>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> shift_group_left(const sub_group<Group>& sg,
                                                                      const private_array<T, Group>& x,
                                                                      int by = 1) {
  return detail::group_access::shuffle(sg, x, [=](int, int lane) { return lane + by; });
}
/// The value of the lane `by` to the left: lane l gets that of l - by.
template <class T, class Group>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> shift_group_right(const sub_group<Group>& sg,
                                                                       const private_array<T, Group>& x,
                                                                       int by = 1) {
  return detail::group_access::shuffle(sg, x, [=](int, int lane) { return lane - by; });
}
/// Lane l gets the value of lane l ^ mask.
template <class T, class Group>
KERAMOS_FORCEINLINE_FUNCTION private_array<T, Group> permute_group_by_xor(const sub_group<Group>& sg,
                                                                          const private_array<T, Group>& x,
                                                                          int mask) {
  return detail::group_access::shuffle(sg, x, [=](int, int lane) { return lane ^ mask; });
}

}  // namespace keramos
