// A work-group and its phases: the kernel contract.
//
//   using wg = keramos::group<keramos::local_range<256>>;          // local memory would be the second argument
//   q.parallel_for_work_group<wg>("name", range{groups}, KERAMOS_LAMBDA(wg& g) {
//     auto v = g.make_private(0.0);                                  // one for each item
//     g.parallel_for_work_item([=](h_item it, double& x) { x = in(it.gi); }, v);    // a phase
//     g.barrier();
//     g.parallel_for_work_item([=](h_item it, double& x) { out(it.gi) = x; }, v);   // the next
//   });
//
// A kernel is a sequence of phases over the group's logical items, not one function per thread. The rules, and
// what breaks when each is broken:
//
//  1. The local range is free: it never has to match the team that Kokkos runs. Private values need it static.
//       Broken by code that takes an item for a thread (Kokkos' team_rank, warp intrinsics): right on one
//       backend and one group size, wrong on others.
//  2. Code outside a phase runs on every thread of the team: it is uniform and has no side effects.
//       A write there happens once a thread: counters count threads, and races are undefined. Branches that
//       differ from thread to thread around a barrier hang a GPU.
//  3. Between barriers, no item touches a local element that another item writes.
//       On a GPU the other sees the old value or the new one, run by run. On a host one thread runs all items,
//       in order, so that the mistake hides there: the checked build finds it (KERAMOS_CHECKS=ON).
//  4. What must survive a phase lives in local memory or in a private value, which arrives as argument.
//       A variable of the phase itself is gone at its end. Reading a private_array elsewhere does not compile.
//  5. Phases do not nest and capture by value ([=]): a barrier inside a phase, or a write to a captured scalar,
//     does not compile.
//       Capturing by reference ([&]) compiles all of that, and no compiler warns. A write changes one thread's copy,
//       which items on other threads do not see; a barrier hangs a GPU. Hosts run both as meant: the checked build
//       finds them.
//  6. Local memory is requested at launch, typed; a request over the limit throws before anything runs.
//       Its contents are undefined at the start: what is read before it is written is anything at all (all
//       ones in the checked build).
//  7. A phase is a loop over items, not a promise of vector code, nor of an order.
//       Code that counts on item 0 coming first works on hosts only; the checked build shuffles the items.
//  8. Between phases, group_algorithms.hpp offers reductions, scans, votes, broadcasts and shuffles of private
//     values. The whole group calls them, outside phases, and they order no memory.
//       Taken for a barrier they break rule 3: hosts and small groups run right, others do not.
#pragma once

#include <cstddef>

#include <keramos/config.hpp>
#include <keramos/core/detail/invoke.hpp>
#include <keramos/core/item.hpp>
#include <keramos/core/local_memory.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos {

namespace detail {
struct group_access;
}

/// One value per item of a `Group`. Only phases see the values: each gets its own as an argument.
/// Copies and assignments copy all items' values.
template <class T, class Group>
class private_array {
  friend Group;
  friend detail::group_access;
  T value_[Group::items_per_thread];
};

/// 32 consecutive items of a group (the last may have fewer), by row-major index, on every backend: item
/// `it` is lane `it.linear % sub_group::size`. The algorithms of group_algorithms.hpp take it.
template <class Group>
class sub_group {
 public:
  static constexpr int size = 32;

  KERAMOS_FORCEINLINE_FUNCTION explicit sub_group(Group& group) : group_(group) {}
  sub_group(const sub_group&) = delete;
  sub_group& operator=(const sub_group&) = delete;

 private:
  friend detail::group_access;
  Group& group_;
};

/// A work-group of `Local` items with the arrays of `Memory`, on execution space `Exec`.
///
/// It cannot be copied, so that a phase (which captures by value) cannot reach it.
template <class Local, class Memory = local_memory<>, class Exec = default_execution_space>
class group : detail::watch {
 public:
  using local_range_type = Local;
  using local_memory_type = Memory;
  using execution_space = Exec;
  using team_member = typename backend::traits<Exec>::team_member;

  static constexpr int rank = Local::rank;
  /// Threads that Kokkos runs for the group; fixed when compiling, so private values are registers.
  static constexpr int team_size = backend::traits<Exec>::team_size(Local::size);
  static constexpr int items_per_thread = (Local::size + team_size - 1) / team_size;

  KERAMOS_FORCEINLINE_FUNCTION group(const team_member& team, std::byte* local, id<rank> at,
                                     range<rank> groups, const typename Memory::extents_type& extents = {},
                                     const char* label = "")
      : team_(team), local_(local), at_(at), groups_(groups), extents_(extents) {
    this->begin(label, get_group_linear_id(), local, Memory::dynamic_offset(extents, Memory::count));
  }
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  /// Index of the group in dimension d.
  KERAMOS_FORCEINLINE_FUNCTION index_t get_group_id(int d) const { return at_[d]; }
  /// Row-major index of the group among all.
  KERAMOS_FORCEINLINE_FUNCTION index_t get_group_linear_id() const {
    index_t linear = 0;
    for (int d = 0; d < rank; ++d) linear = linear * groups_[d] + at_[d];
    return linear;
  }
  /// Number of groups in dimension d.
  KERAMOS_FORCEINLINE_FUNCTION index_t get_group_range(int d) const { return groups_[d]; }
  /// Items of the group in dimension d.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int get_local_range(int d) { return Local::extent(d); }

  KERAMOS_FORCEINLINE_FUNCTION sub_group<group> get_sub_group() { return sub_group<group>(*this); }

  /// Local array I of the kernel's local_memory.
  template <int I>
  KERAMOS_FORCEINLINE_FUNCTION auto local() const {
    static_assert(0 <= I && I < Memory::count,
                  "keramos: local<I>() asks for an array that the group's local_memory does not list");
    using array = typename Memory::template array<I>;
    using element = typename array::value_type;
    if constexpr (detail::is_dynamic<array>) {
      constexpr int which = I - (Memory::count - Memory::dynamic_count);
      const array a(reinterpret_cast<element*>(local_ + Memory::dynamic_offset(extents_, I)),
                    extents_.extent[which], *this);
      detail::watch::name<I>(a);
      return a;
    } else {
      constexpr std::size_t at = Memory::offset(I);
      const array a(reinterpret_cast<element*>(local_ + at), *this);
      detail::watch::name<I>(a);
      return a;
    }
  }

  /// One `T` per item, each starting as `initial`; it lives until the kernel ends.
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION private_array<T, group> make_private(const T& initial) {
    private_array<T, group> p;
    for (int s = 0; s < items_per_thread; ++s) p.value_[s] = initial;
    return p;
  }

  /// `Count` values of T per item, each starting as `initial`; phases get them as `T (&)[Count]`.
  template <class T, int Count>
  KERAMOS_FORCEINLINE_FUNCTION private_array<T[Count], group> make_private_array(const T& initial) {
    private_array<T[Count], group> p;
    for (int s = 0; s < items_per_thread; ++s)
      for (int i = 0; i < Count; ++i) p.value_[s][i] = initial;
    return p;
  }

  /// All items wait for each other; local and global writes before it are seen after it.
  KERAMOS_FORCEINLINE_FUNCTION void barrier() {
    detail::watch::barrier();
    team_.team_barrier();
  }

  /// A phase: `phase(h_item, T&...)` once per item, with the item's own private values.
  template <class Phase, class... T>
  KERAMOS_FORCEINLINE_FUNCTION void parallel_for_work_item(const Phase& phase,
                                                           private_array<T, group>&... p) {
    if constexpr (!detail::fits_phase<Phase, T...>()) {
    } else if constexpr (detail::watch::on && backend::traits<Exec>::is_host) {
      this->begin_phase();
      this->for_each_item(Local::size, phase, [&](const Phase& watched, int linear) {
        watched(item(linear / (extent(1) * extent(2)), linear / extent(2) % extent(1), linear % extent(2)),
                p.value_[Local::size == 1 ? 0 : linear]...);  // 0: else g++ 12 warns of bounds
      });
      this->end_phase();
    } else if constexpr (team_size == 1) {  // a plain loop nest: no division, and the compiler may vectorise
      int linear = 0;
      for (int i = 0; i < extent(0); ++i)
        for (int j = 0; j < extent(1); ++j)
          for (int k = 0; k < extent(2); ++k, ++linear) phase(item(i, j, k), p.value_[linear]...);
    } else {
      this->begin_phase();
      KERAMOS_UNROLL
      for (int s = 0; s < items_per_thread; ++s) {
        const int linear = int(team_.team_rank()) + s * team_size;
        if (Local::size % team_size == 0 || linear < Local::size)
          phase(item(linear / (extent(1) * extent(2)), linear / extent(2) % extent(1), linear % extent(2)),
                p.value_[s]...);
      }
      this->end_phase();
    }
  }

  /// Internal: the kernel, from begin to end.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void run(const F& kernel) {
    detail::watch::run(kernel, *this);
    this->end_item();
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int extent(int d) {
    return d < rank ? Local::extent(d < rank ? d : 0) : 1;
  }
  KERAMOS_FORCEINLINE_FUNCTION h_item item(int i, int j, int k) const {
    h_item it;
    it.i = i, it.j = j, it.k = k;
    it.gi = at_[0] * extent(0) + i;
    if constexpr (rank > 1) it.gj = at_[1] * extent(1) + j;
    if constexpr (rank > 2) it.gk = at_[2] * extent(2) + k;
    it.linear = (i * extent(1) + j) * extent(2) + k;
    return it;
  }

  friend detail::group_access;
  const team_member& team_;
  std::byte* local_;
  id<rank> at_;
  range<rank> groups_;
  typename Memory::extents_type extents_;
  typename backend::collectives<Exec, Local::size, team_size>::state collective_state_;
};

}  // namespace keramos
