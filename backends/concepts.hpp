// What interface.hpp asks of a backend, as concepts, so that a name that is missing is one readable error.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/tiles.hpp>
#include <keramos/base/device_info.hpp>
#include <keramos/base/memory_kind.hpp>

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
  { traits<Exec>::sector_bytes } -> std::convertible_to<int>;
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

template <class Exec>
concept has_collectives = requires {
  sizeof(collectives<Exec, 64, traits<Exec>::team_size(64)>);
};

template <class Exec>
concept has_staging = requires(float* local, const float* global) {
  staging<Exec>::template copy<1>(local, global, 1);
  staging<Exec>::commit();
  staging<Exec>::template wait<0>();
};

/// Hosts choose tiles by instruction set.
template <class Exec>
concept has_tiles = traits<Exec>::is_host || requires(const Exec& exec) {
  { tiles<Exec>::table[0] } -> std::convertible_to<simt::tile_row>;
  { tiles<Exec>::arch(exec) } -> std::same_as<int>;
  { tiles<Exec>::model(exec) } -> std::same_as<simt::device_model>;
};

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
    static_assert(collectives, "keramos: a backend's collectives.hpp lacks backend::collectives");
    constexpr bool staging = has_staging<Exec>;
    static_assert(staging, "keramos: a backend's staging.hpp lacks copy, commit or wait of backend::staging");
    constexpr bool tiles = has_tiles<Exec>;
    static_assert(tiles, "keramos: a backend's tiles.hpp lacks table, arch or model of backend::tiles");
  }
  return true;
}

}  // namespace keramos::backend
