// What a backend must give, as concepts, so that a name that is missing is one readable error. interface.hpp says what the
// names mean.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/joint_fragment.hpp>
#include <keramos/backends/simt/tiles.hpp>
#include <keramos/backends/simt/wave_fragment.hpp>
#include <keramos/base/device_info.hpp>
#include <keramos/base/memory_kind.hpp>
#include <keramos/base/scalar_type.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::backend {

template <class Exec>
concept has_traits = requires(const Exec& exec) {
  typename traits<Exec>::team_member;
  { traits<Exec>::name } -> std::convertible_to<std::string>;
  { traits<Exec>::is_host } -> std::convertible_to<bool>;
  { traits<Exec>::sends_bytes } -> std::convertible_to<bool>;
  { traits<Exec>::fence_covers_team } -> std::convertible_to<bool>;
  { traits<Exec>::team_size(1) } -> std::same_as<int>;
  { traits<Exec>::local_memory_limit(exec, 1) } -> std::same_as<std::size_t>;
  { traits<Exec>::sure_local_bytes } -> std::convertible_to<std::size_t>;
};

/// What hosts and devices add.
template <class Exec>
concept has_traits_of_its_family = requires(const Exec& exec,
                                            void (*kernel)(const typename traits<Exec>::team_member&)) {
  requires traits<Exec>::is_host;
  { traits<Exec>::may_launch() } -> std::same_as<bool>;
  { traits<Exec>::runs_in_caller(exec) } -> std::same_as<bool>;
  typename traits<Exec>::launch_lock;
  traits<Exec>::template for_each_team<Kokkos::TeamPolicy<Exec>>("", exec, 1, std::size_t(1), kernel);
}
|| requires {
  requires !traits<Exec>::is_host;
  { traits<Exec>::teams_per_unit(1, 1, std::size_t(1)) } -> std::same_as<int>;
  { traits<Exec>::warp_size } -> std::convertible_to<int>;
  { traits<Exec>::max_team_size } -> std::convertible_to<int>;
  { traits<Exec>::most_kernel_bytes } -> std::convertible_to<std::size_t>;
  { traits<Exec>::most_local_bytes } -> std::convertible_to<std::size_t>;
  { traits<Exec>::several_dies } -> std::convertible_to<bool>;
  { traits<Exec>::template vector_teams_per_unit<float> } -> std::convertible_to<int>;
};

template <class Exec>
concept has_events = requires(const Exec& exec, const native_event<Exec>& event) {
  { native_event<Exec>::record(exec) } -> std::same_as<native_event<Exec>>;
  { native_event<Exec>::completion(exec) } -> std::same_as<native_event<Exec>>;
  native_event<Exec>::hold(exec, event);
  event.wait();
  { event.is_complete() } -> std::same_as<bool>;
  { native_event<Exec>::seconds_between(event, event) } -> std::same_as<double>;
};

template <class Exec>
concept has_stream = requires(const Exec& exec, void* data, void (*function)(void*)) {
  typename stream<Exec>::device_space;
  typename stream<Exec>::host_space;
  typename stream<Exec>::shared_space;
  stream<Exec>::copy(exec, data, data, std::size_t(1));
  stream<Exec>::prefetch(exec, data, std::size_t(1));
  stream<Exec>::call_on_host(exec, function, data);
  { stream<Exec>::kind_of(data) } -> std::same_as<memory_kind>;
  { stream<Exec>::synchronize(exec) } -> std::convertible_to<std::string>;
};

template <class Exec>
concept has_devices = requires(const Exec& exec) {
  { describe_device(exec) } -> std::same_as<device_info>;
  { device_list<Exec>::all() } -> std::same_as<std::vector<device_info>>;
};

/// As of a group of 64 items, of which a thread has so many.
template <class Exec>
inline constexpr int items_of_64 = (63 + traits<Exec>::team_size(64)) / traits<Exec>::team_size(64);
template <class Exec, class Group = collectives<Exec, 64, traits<Exec>::team_size(64)>>
concept has_collectives = requires(const typename traits<Exec>::team_member& team,
                                   typename Group::state& state, const int (&v)[items_of_64<Exec>],
                                   int (&out)[items_of_64<Exec>], int (&f)(int, int)) {
  { Group::sub_group_size } -> std::convertible_to<int>;
  { Group::reduce(team, state, v, f) } -> std::same_as<int>;
  Group::inclusive_scan(team, state, v, out, f);
  { Group::template exclusive_scan<true>(team, state, v, out, 0, f) } -> std::same_as<int>;
  { Group::broadcast(team, state, v, 0) } -> std::same_as<int>;
  Group::shuffle(team, state, v, out, f);
  Group::sub_group_reduce(team, state, v, out, f);
  Group::sub_group_inclusive_scan(team, state, v, out, f);
};

/// A handle of a team, as far as copies need one.
struct any_team {
  KERAMOS_FUNCTION void team_barrier() const;
};

template <class Exec>
concept has_staging = requires(float* local, const float* global) {
  staging<Exec>::template copy<1>(local, global, 1);
  staging<Exec>::commit();
  staging<Exec>::template wait<0>();
}
&&(traits<Exec>::is_host || requires(float* local, const float* global, const any_team& team) {
  staging<Exec>::template copy<1>(local, global);
  staging<Exec>::barrier(team);
  { staging<Exec>::template by_registers<float> } -> std::convertible_to<bool>;
  { staging<Exec>::template shifts<float> } -> std::convertible_to<bool>;
  requires !staging<Exec>::template shifts<float16> || requires {
    typename staging<Exec>::bounds;  // nvcc 13 loses the argument of shifted<T> here
    { staging<Exec>::copies_words } -> std::convertible_to<bool>;
  };
  { staging<Exec>::template most_groups_unrolled<float> } -> std::convertible_to<int>;
  { staging<Exec>::most_words_ahead } -> std::convertible_to<int>;
  requires staging<Exec>::most_words_ahead == 0 || requires { staging<Exec>::end_of_loads(); };
  { staging<Exec>::recompute(1) } -> std::same_as<int>;
  { staging<Exec>::thread_of(team) } -> std::same_as<int>;
  { staging<Exec>::advance(global, 4) } -> std::same_as<const float*>;
});

/// Hosts choose tiles by instruction set.
template <class Exec>
concept has_tiles = traits<Exec>::is_host || requires(const Exec& exec) {
  { tiles<Exec>::table[0] } -> std::convertible_to<simt::tile_row>;
  { tiles<Exec>::arch(exec) } -> std::same_as<int>;
  { tiles<Exec>::model(exec) } -> std::same_as<simt::device_model>;
};

// --- Multiply atoms: what every backend has, and what rows of its tile table need ---------------

/// Sums of a warp's 16 x 8 fragments, for elements of their type.
template <class Exec, class T>
concept has_multiply_16x8 = requires(T (&sums)[2][2], const T (&a)[4], const T (&b)[2], T x) {
  mma<Exec>::multiply_16x8(sums, a, b);
  { mma<Exec>::rounded(x) } -> std::same_as<T>;
}
// Sums pass through local memory on their way to C.
&&requires {
  mma<Exec>::meet_warp();
  { mma<Exec>::any_in_warp(true) } -> std::same_as<bool>;
  { mma<Exec>::opaque(1) } -> std::same_as<int>;
};

/// What c_block of gemm/collective takes C through local memory with.
template <class Exec, class M = mma<Exec>>
concept has_c_blocks = requires(void* global, char* local, unsigned (&words)[4]) {
  M::meet_warp();
  { M::any_in_warp(true) } -> std::same_as<bool>;
  { M::opaque(1.0f) } -> std::same_as<float>;
  { M::opaque(1) } -> std::same_as<int>;
  M::load_16_bytes(local, words);
  M::store_16_bytes(local, words);
  M::read_16_bytes(global, words, true);
  M::write_16_bytes(global, words, true);
};

/// Elements E, several in a register, and sums of T.
template <class Exec, class E, class T>
concept has_multiply_short = has_c_blocks<Exec> &&
    requires(T (&sums)[2][2], unsigned (&a)[4], unsigned (&b)[2], const void* row, bool kind) {
  { mma<Exec>::from_lane(a[0], 1) } -> std::same_as<unsigned>;
  mma<Exec>::template load_8x8x4<true>(a, row);
  mma<Exec>::template load_8x8x4<false>(a, row);
  requires tiling::reading<E>::has_kinds || requires { mma<Exec>::template multiply_short<E>(sums, a, b); };
  requires !tiling::reading<E>::has_kinds || requires {
    mma<Exec>::take_apart(a[0], a[1], a[2], a[3]);
    requires mma<Exec>::template widens<E> || requires {
      mma<Exec>::template multiply_short<E>(sums, a, b, std::true_type(), std::false_type());
    };
    requires !mma<Exec>::template widens<E> || requires {
      mma<Exec>::widen(a[0], a[1], a[2], kind);
      mma<Exec>::template multiply_short<float16>(sums, a, b);
    };
  };
};

/// Fragments of a wavefront: a lane's runs of elements E, and 16 bytes of sums of T as often as it has them.
template <class Exec, class E, class T, class M = mma<Exec>>
concept has_multiply_16x16 = requires {
  { M::template fragment<E> } -> std::convertible_to<simt::wave_fragment>;
  requires traits<Exec>::warp_size % M::template fragment<E>.lanes == 0;
}
&&requires(T (&sums)[M::template fragment<E>.sums() * sizeof(T) / 16][16 / sizeof(T)],
           const E (&x)[M::template fragment<E>.run]) {
  M::end_of_products();
  { M::of_wave(1) } -> std::same_as<int>;
  { M::multiplies_signed } -> std::convertible_to<bool>;
  requires tiling::reading<E>::has_kinds || requires { M::multiply_16x16(sums, x, x); };
  requires !tiling::reading<E>::has_kinds || requires {
    M::multiply_16x16(sums, x, x, std::true_type(), std::false_type());
  };
};

/// What wavefronts need that take turns.
template <class Exec>
concept has_turns = requires(char* local, const char* global) {
  { staging<Exec>::direct_bytes } -> std::convertible_to<int>;
  staging<Exec>::copy_direct(local, global, std::uint32_t(0));
  staging<Exec>::template wait_for_direct_copies<0>();
  mma<Exec>::begin_turn();
  mma<Exec>::end_turn();
  { mma<Exec>::opaque(1) } -> std::same_as<int>;
};

/// Fragments of a sub-group of elements E, and their sums of T.
template <class Exec, class E, class T, class M = mma<Exec>>
concept has_joint_fragments = requires {
  { M::template fragment<E> } -> std::convertible_to<simt::joint_fragment>;
  requires traits<Exec>::warp_size % M::template fragment<E>.lanes == 0;
}
&&requires(typename M::template a_fragment<E, true>& a, typename M::template b_fragment<E, true>& b,
           typename M::template sums<E, T>& sums, const E* elements, T* local, const Exec& exec) {
  M::template check_compiled<E>(exec);
  M::load(a, elements, 1);
  M::load(b, elements, 1);
  M::clear(sums);
  M::multiply(sums, a, b);
  M::store(local, sums, 1);
  M::meet_lanes();
  { M::same_for_lanes(1) } -> std::same_as<int>;
};

template <class Exec>
concept has_mma = requires(const Exec& exec, float (&sums)[4]) {
  { mma<Exec>::template has_matrix_unit<double> } -> std::convertible_to<bool>;
  { mma<Exec>::template multiplies_short<float16> } -> std::convertible_to<bool>;
  { mma<Exec>::template multiplies_in_waves<float> } -> std::convertible_to<bool>;
  { mma<Exec>::matrix_unit_works(exec) } -> std::same_as<bool>;
  mma<Exec>::settle(sums);
  requires !mma<Exec>::template has_matrix_unit<double> || has_multiply_16x8<Exec, double>;
};

template <class Exec>
concept has_warpgroups = requires(typename warpgroups<Exec>::barrier* barrier, const void* panel, void* local,
                                  const typename warpgroups<Exec>::matrix& matrix, std::uint64_t described,
                                  char* bytes, unsigned word) {
  { warpgroups<Exec>::warps } -> std::convertible_to<int>;
  { warpgroups<Exec>::registers } -> std::convertible_to<int>;
  { warpgroups<Exec>::registers_to_copy } -> std::convertible_to<int>;
  { warpgroups<Exec>::registers_beside_sums } -> std::convertible_to<int>;
  warpgroups<Exec>::start(barrier, 1);
  warpgroups<Exec>::arrive(barrier);
  warpgroups<Exec>::wait(barrier, 0);
  warpgroups<Exec>::expect(barrier, 128);
  warpgroups<Exec>::copy(local, panel, 128, barrier);
  { warpgroups<Exec>::map_bytes } -> std::convertible_to<int>;
  warpgroups<Exec>::template make_map<float, true>(local, matrix, 64);
  warpgroups<Exec>::store_map(local, panel);
  warpgroups<Exec>::acquire_map(panel);
  warpgroups<Exec>::copy_box(local, panel, 0, 0, barrier);
  warpgroups<Exec>::copy_box(local, panel, 0, 0, 0, barrier);
  warpgroups<Exec>::meet_warp();
  warpgroups<Exec>::meet(1, 128);
  warpgroups<Exec>::arrive_at(1, 128);
  { warpgroups<Exec>::kept(bytes) } -> std::same_as<char*>;
  warpgroups<Exec>::show_to_matrix_units();
  warpgroups<Exec>::template take_registers<232>();
  warpgroups<Exec>::template give_registers<40>();
  warpgroups<Exec>::exit();
  { warpgroups<Exec>::describe(panel, 128) } -> std::same_as<std::uint64_t>;
  { warpgroups<Exec>::advance(described, 32) } -> std::same_as<std::uint64_t>;
  warpgroups<Exec>::begin();
  warpgroups<Exec>::commit();
  warpgroups<Exec>::template finish<0>();
  { warpgroups<Exec>::same_in_warp(1) } -> std::same_as<int>;
  { mma<Exec>::shuffle_xor(word, 1) } -> std::same_as<unsigned>;
  requires has_c_blocks<Exec>;
};
template <class Exec, class E, class T>
concept has_warpgroup_multiply = has_warpgroups<Exec> && requires(T (&sums)[64], std::uint64_t described) {
  { warpgroups<Exec>::template reads_along_mn<E> } -> std::convertible_to<bool>;
  { warpgroups<Exec>::template takes_loaded_a<E> } -> std::convertible_to<bool>;
  requires !warpgroups<Exec>::template takes_loaded_a<E> || requires(unsigned(&loaded)[4]) {
    { warpgroups<Exec>::loaded_a_pitch } -> std::convertible_to<int>;
    warpgroups<Exec>::multiply(sums, loaded, described, true);
  };
  warpgroups<Exec>::settle(sums[0]);
  requires tiling::reading<E>::has_kinds || requires {
    warpgroups<Exec>::template multiply<E, false, false>(sums, described, described, true);
  };
  requires !tiling::reading<E>::has_kinds || requires {
    warpgroups<Exec>::template multiply_bytes<true, false>(sums, described, described, true);
  };
};

/// What takes elements apart that are summed of two (scalar_type::tf32x3), when they are packed.
template <class Exec>
concept has_split = requires(float x) {
  mma<Exec>::split(x, x, x);
};

/// Whether there is what a row of the table multiplies with.
template <class Exec, int Row>
consteval bool has_atoms_of_row() {
  constexpr simt::tile_row row = tiles<Exec>::table[Row];
  using E = typename detail::kernel_type_of<row.types.a>::type;
  using T = typename detail::kernel_type_of<row.types.accumulator>::type;
  if constexpr (row.types.compute == scalar_type::tf32x3 && !has_split<Exec>)
    return false;
  else if constexpr (row.config.math == tiling::math_unit::warpgroup)
    return has_warpgroup_multiply<Exec, E, T>;
  else if constexpr (row.config.math == tiling::math_unit::fma)
    return true;
  else if constexpr (row.config.math == tiling::math_unit::joint)
    return has_joint_fragments<Exec, E, T>;
  else if constexpr (mma<Exec>::template multiplies_in_waves<simt::wave_element<E, row.types.compute>>)
    return has_multiply_16x16<Exec, simt::wave_element<E, row.types.compute>, T> &&
           (!row.config.ping_pong || (has_turns<Exec> && row.serves == simt::serves::single));
  else if constexpr (detail::is_complex<T>)
    return has_multiply_16x8<Exec, typename T::value_type>;
  else if constexpr (mma<Exec>::template multiplies_short<E>)
    return has_multiply_short<Exec, E, T>;
  else
    return has_multiply_16x8<Exec, T> && (sizeof(T) != 4 || has_c_blocks<Exec>);
}
template <class Exec>
consteval bool has_atoms_of_rows() {
  if constexpr (traits<Exec>::is_host)
    return true;
  else
    return []<int... Row>(std::integer_sequence<int, Row...>) {
      return (has_atoms_of_row<Exec, Row>() && ...);
    }
  (std::make_integer_sequence<int, int(std::size(tiles<Exec>::table))>());
}

/// True, or the one error that says what is missing. (Of a concept itself compilers would tell much more.)
template <class Exec>
consteval bool is_complete() {
  constexpr bool traits = has_traits<Exec> && has_traits_of_its_family<Exec>;
  static_assert(traits,
                "keramos: a backend's traits.hpp lacks a name of backend::traits: see backends/concepts.hpp");
  if constexpr (traits) {
    constexpr bool queue = has_events<Exec> && has_stream<Exec> && has_devices<Exec>;
    static_assert(queue,
                  "keramos: a backend's queue.hpp lacks a name of native_event, stream, describe_device or "
                  "device_list: see backends/concepts.hpp");
    constexpr bool collectives = has_collectives<Exec>;
    static_assert(collectives,
                  "keramos: a backend's collectives.hpp lacks an operation of backend::collectives: see "
                  "backends/concepts.hpp");
    constexpr bool staging = has_staging<Exec>;
    static_assert(
        staging,
        "keramos: a backend's staging.hpp lacks copy, commit or wait of backend::staging, or what devices "
        "add: see backends/concepts.hpp");
    constexpr bool mma = has_mma<Exec>;
    static_assert(mma,
                  "keramos: a backend's mma.hpp lacks a name of backend::mma: see backends/concepts.hpp");
    constexpr bool tiles = has_tiles<Exec>;
    static_assert(tiles, "keramos: a backend's tiles.hpp lacks table, arch or model of backend::tiles");
    if constexpr (mma && tiles) {
      constexpr bool atoms = has_atoms_of_rows<Exec>();
      static_assert(
          atoms,
          "keramos: a backend's tiles.hpp has a row for matrix units, and its mma.hpp or warpgroup.hpp "
          "lacks the multiply atom for its elements: see backends/concepts.hpp");
    }
  }
  return true;
}

}  // namespace keramos::backend
