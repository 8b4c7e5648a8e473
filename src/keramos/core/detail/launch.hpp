// How queues turn Keramos kernels into Kokkos ones. Internal.
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <keramos/base/error.hpp>
#include <keramos/core/detail/instance.hpp>
#include <keramos/core/detail/invoke.hpp>
#include <keramos/core/group.hpp>
#include <keramos/core/item.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos::detail {

/// Called where a launch threw: what Kokkos throws gets the kernel's label.
[[noreturn, gnu::noinline, gnu::cold]] inline void throw_labelled(const std::string& label) {
  try {
    throw;
  } catch (const error&) {
    throw;
  } catch (const std::exception& e) {
    throw launch_error("keramos: kernel " + label + " could not be launched: " + e.what());
  }
}

/// Runs `launch()`; what Kokkos throws gets the kernel's label.
/// Inlined, as is all that stands between a queue and Kokkos: on CUDA a launch takes 4 us, so that 100 ns show.
template <class Launch>
[[gnu::always_inline]] inline void launch(const std::string& label, const Launch& launch) {
  try {
    launch();
  } catch (...) {
    throw_labelled(label);
  }
}

/// The bytes of a kernel's function, which is what a device gets in the end. Copies of it on the way there copy bytes,
/// whatever it captures; what that holds, the caller's function holds until the launch returns.
template <class F>
class sent {
 public:
  explicit sent(const F& f) { std::memcpy(bytes_, &f, sizeof(F)); }

  template <class... Args>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(Args&&... args) const {
    (*reinterpret_cast<const F*>(bytes_))(static_cast<Args&&>(args)...);
  }

 private:
  alignas(F) std::byte bytes_[sizeof(F)];
};

/// The most characters of the name of a library's kernel, as the device has it, mangled (tests/objects/names.cmake). CUDA 13
/// took 0.17 us longer to launch one functor under a name with 100 more characters (host time of 300 launches on an H200,
/// medians of 251), and as much in proportion for others. So a kernel's type names its types, a row of a table, a number for
/// the rest, and its epilogue. Kokkos itself takes about 145 characters: the function, the policy and its bounds twice.
inline constexpr int longest_kernel_name = 330;

/// `f` as a launch hands it to Kokkos.
template <class Exec, class F>
decltype(auto) send(F&& f) {
  if constexpr (backend::traits<Exec>::sends_bytes)
    return sent<std::remove_cvref_t<F>>(f);
  else
    return std::forward<F>(f);
}
template <class Exec, class F>
using sent_type = std::remove_cvref_t<decltype(send<Exec>(std::declval<F>()))>;

/// Dimension d has a negative extent; or the points of all are too many (d = -1).
[[noreturn, gnu::noinline]] inline void throw_bad_range(const char* function, const std::string& label, int d,
                                                        index_t extent) {
  throw invalid_argument(std::string(function) + ": " + label + ": " +
                         (d < 0 ? "the range has more than 2^63 - 1 points; split it into several"
                                : "the range is " + std::to_string(extent) + " in dimension " +
                                      std::to_string(d) +
                                      " but must not be negative; check how it was computed"));
}

/// Kokkos hands indices over one by one; kernels take an id, or indices too.
template <class Exec, int Rank, class F>
struct range_kernel {
  sent_type<Exec, F> f;
  template <class... I>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(I... index) const {
    if constexpr (takes_indices<F, Rank>())
      f(index...);
    else
      f(id<Rank>(index...));
  }
};

template <int Rank>
KERAMOS_FORCEINLINE_FUNCTION nd_item<Rank> make_nd_item(id<Rank> global, const range<Rank>& local) {
  nd_item<Rank> item;
  item.global = global;
  for (int d = 0; d < Rank; ++d) {
    item.group[d] = global[d] / local[d];
    item.local[d] = global[d] % local[d];
  }
  return item;
}

template <int Rank, class F>
struct nd_kernel {
  F f;
  range<Rank> local;
  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<Rank> global) const { f(make_nd_item(global, local)); }
};

/// Throws if there is no such range: an extent is negative, or it has more than 2^63 - 1 points.
template <int Rank>
void check_range(const char* function, const std::string& label, const range<Rank>& r) {
  index_t size = 1;
  bool fits = true, empty = false;
  for (int d = 0; d < Rank; ++d) {
    if (r[d] < 0) throw_bad_range(function, label, d, r[d]);
    empty = empty || r[d] == 0;
    fits = !__builtin_mul_overflow(size, r[d], &size) && fits;
  }
  if (!fits && !empty) throw_bad_range(function, label, -1, 0);
}

/// Throws unless the local range divides the global one.
template <int Rank>
void check_nd_range(const std::string& label, const nd_range<Rank>& r) {
  check_range("keramos::parallel_for", label, r.global);
  for (int d = 0; d < Rank; ++d)
    if (r.local[d] <= 0 || r.global[d] % r.local[d] != 0)
      throw invalid_argument("keramos::parallel_for: " + label + ": the global range is " +
                             std::to_string(r.global[d]) + " in dimension " + std::to_string(d) +
                             " but must be a multiple of the local range " + std::to_string(r.local[d]) +
                             "; round it up and test in the kernel");
}

template <class F>
struct single_kernel {
  F f;
  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<1>) const { f(); }
};

template <class Exec, int Rank>
auto range_policy(const Exec& exec, const range<Rank>& r) {
  if constexpr (Rank == 1) {
    return Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, index_t(0), r[0]);
  } else {
    using right = Kokkos::Rank<Rank, Kokkos::Iterate::Right, Kokkos::Iterate::Right>;
    using policy = Kokkos::MDRangePolicy<Exec, right, Kokkos::IndexType<index_t>>;
    typename policy::point_type first, last;
    for (int d = 0; d < Rank; ++d) first[d] = 0, last[d] = r[d];
    return policy(exec, first, last);
  }
}

/// `f(i...)` for every point of `r` by the calling thread.
template <int Rank, class F>
void for_each_point(const range<Rank>& r, const F& f) {
  if constexpr (Rank == 1) {
    for (index_t i = 0; i < r[0]; ++i) f(i);
  } else if constexpr (Rank == 2) {
    for (index_t i = 0; i < r[0]; ++i)
      for (index_t j = 0; j < r[1]; ++j) f(i, j);
  } else {
    for (index_t i = 0; i < r[0]; ++i)
      for (index_t j = 0; j < r[1]; ++j)
        for (index_t k = 0; k < r[2]; ++k) f(i, j, k);
  }
}

template <class Exec, int Rank, class F>
[[gnu::always_inline]] inline void range_for(const std::string& label, const Exec& exec, const range<Rank>& r,
                                             F&& f) {
  if (r.size() == 0) return;
  using kernel = range_kernel<Exec, Rank, std::remove_cvref_t<F>>;
  if constexpr (backend::traits<Exec>::is_host) {
    if (backend::traits<Exec>::runs_in_caller(exec)) {
      for_each_point(r, kernel{std::forward<F>(f)});
    } else {
      const launch_lock<Exec> lock;
      Kokkos::parallel_for(label, range_policy(exec, r), kernel{std::forward<F>(f)});
    }
  } else {
    launch_first_alone(
        [&] { Kokkos::parallel_for(label, range_policy(exec, r), kernel{send<Exec>(std::forward<F>(f))}); });
  }
}

/// Gives each team of a TeamPolicy its group and local memory.
template <class Group, class F>
struct work_group_kernel {
  using memory = typename Group::local_memory_type;
  using execution_space = typename Group::execution_space;
  using traits = backend::traits<execution_space>;

  sent_type<execution_space, F> f;
  range<Group::rank> groups;
  typename memory::extents_type extents;
  const char* label;  // for the checked build on hosts, where kernels are done when the launch returns

  KERAMOS_INLINE_FUNCTION void operator()(const typename Group::team_member& team) const {
    id<Group::rank> at;
    // All fit an int, see checked_league; dividing 64 bits is a call on GPUs, around which registers go to the stack. Division
    // without a sign takes fewer of them. `recompute`: else the compiler keeps what follows from `groups` across Kokkos' loop
    // over teams.
    unsigned rest = unsigned(team.league_rank());
    for (int d = Group::rank - 1; d > 0; --d) {
      int known = int(groups[d]);
      if constexpr (!traits::is_host) known = backend::staging<execution_space>::recompute(known);
      const unsigned count = unsigned(known);
      at[d] = rest % count;
      rest /= count;
    }
    at[0] = rest;
    std::byte* local = nullptr;
    constexpr int alignment = int(memory::alignment);
    if constexpr (memory::dynamic_count > 0) {
      const std::size_t bytes = memory::dynamic_offset(extents, memory::count);
      local = static_cast<std::byte*>(team.team_scratch(0).get_shmem_aligned(bytes, alignment));
    } else if constexpr (memory::bytes > 0) {
      local = static_cast<std::byte*>(
          team.team_scratch(0).get_shmem_aligned(std::size_t(memory::bytes), alignment));
    }
    Group group(team, local, at, groups, extents, label);
    group.run(f);
  }
};

/// The number of work-groups, if Kokkos can launch so many.
template <int Rank>
index_t checked_league(const std::string& label, const range<Rank>& groups) {
  check_range("keramos::parallel_for_work_group", label, groups);
  const index_t count = groups.size();
  if (count > std::numeric_limits<int>::max())
    throw launch_error("keramos::parallel_for_work_group: " + label + ": " + std::to_string(count) +
                       " work-groups are more than 2^31 - 1; use larger groups");
  return count;
}

/// Throws unless `bytes` of local memory can be had by a team of `team_size`.
template <class Exec>
void check_local_memory(const std::string& label, const Exec& exec, int team_size, std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t limit = backend::traits<Exec>::local_memory_limit(exec, team_size);
  if (bytes > limit)
    throw launch_error("keramos: kernel " + label + " asks for " + std::to_string(bytes) +
                       " bytes of local memory a work-group but " + backend::traits<Exec>::name + " has " +
                       std::to_string(limit) + " for a team of " + std::to_string(team_size) +
                       "; use smaller local arrays");
}

/// How many groups of a kernel a multiprocessor shall hold at once: what its functor says, as far as they fit and as
/// the backend counts them.
template <class Group, class F>
constexpr int groups_per_unit() {
  using traits = backend::traits<typename Group::execution_space>;
  int wanted = 1;
  if constexpr (requires { F::groups_per_unit; }) wanted = F::groups_per_unit;
  if constexpr (!traits::is_host)
    wanted = traits::teams_per_unit(wanted, Group::team_size, Group::local_memory_type::bytes);
  return wanted;
}

/// How threads share the teams of a launch.
enum class sharing {
  equal,  // the same number of teams each
  balanced,  // host threads take the next as they finish, for teams or cores of unequal speed; a GPU does so anyway
};

template <class Exec, sharing Sharing, class Bounds>
using team_policy = std::conditional_t<Sharing == sharing::balanced && backend::traits<Exec>::is_host,
                                       Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>, Bounds>,
                                       Kokkos::TeamPolicy<Exec, Bounds>>;

/// Whether a kernel has whatever size its caller's function has.
template <class Kernel>
inline constexpr bool has_callers_size = false;
template <class Group, class F>
inline constexpr bool has_callers_size<work_group_kernel<Group, F>> = true;

/// Launches `kernel(team)` on `league` teams of `TeamSize` threads, each with `bytes` of local memory.
/// `TeamsPerUnit` is the occupancy to keep registers for.
template <int TeamSize, int TeamsPerUnit = 1, sharing Sharing = sharing::equal, class Exec, class Kernel>
[[gnu::always_inline]] inline void team_launch(const std::string& label, const Exec& exec, int league,
                                               std::size_t bytes, const Kernel& kernel) {
  if constexpr (!backend::traits<Exec>::is_host && !has_callers_size<Kernel>)
    static_assert(sizeof(Kernel) <= backend::traits<Exec>::most_kernel_bytes,
                  "keramos: this kernel, with its epilogue, is larger than most_kernel_bytes: Kokkos would "
                  "pass it through "
                  "constant memory and wait; let the epilogue hold less, such as pointers");
  check_local_memory(label, exec, TeamSize, bytes);
  if (league == 0) return;
  if constexpr (!backend::traits<Exec>::is_host)
    if (index_t(league) * TeamSize > backend::traits<Exec>::most_threads)
      throw launch_error("keramos: kernel " + label + " has " + std::to_string(league) +
                         " work-groups on teams of " + std::to_string(TeamSize) + " threads, but " +
                         backend::traits<Exec>::name + " launches at most " +
                         std::to_string(backend::traits<Exec>::most_threads) + " threads; divide the work");
  using policy = team_policy<Exec, Sharing, Kokkos::LaunchBounds<TeamSize, TeamsPerUnit>>;
  try {
    if constexpr (backend::traits<Exec>::is_host) {
      backend::traits<Exec>::template for_each_team<policy>(label, exec, league, bytes, kernel);
    } else {
      policy teams(exec, league, TeamSize);
      // Room for the alignment of the first array.
      if (bytes > 0) teams.set_scratch_size(0, Kokkos::PerTeam(int(bytes + local_alignment)));
      launch_first_alone([&] { Kokkos::parallel_for(label, teams, kernel); });
    }
  } catch (...) {
    throw_labelled(label);
  }
}

/// Launches `f(Group&)` for every work-group of `groups`.
template <class Group, class Exec, int Rank, class F, int Dynamic = 0>
[[gnu::always_inline]] inline void launch_groups(const std::string& label, const Exec& exec,
                                                 const range<Rank>& groups, F&& f,
                                                 const dynamic_extents<Dynamic>& extents = {}) {
  using function = std::remove_cvref_t<F>;
  using memory = typename Group::local_memory_type;
  team_launch<Group::team_size, groups_per_unit<Group, function>()>(
      label, exec, int(checked_league(label, groups)), memory::dynamic_offset(extents, memory::count),
      work_group_kernel<Group, function>{send<Exec>(std::forward<F>(f)), groups, extents, label.c_str()});
}

}  // namespace keramos::detail
