// Views take an id<1> as an index. Since Kokkos 4.7 they take whatever converts to one, and since 5 they count with
// std::common_type of all indices. Before 4.7 they ask Kokkos::Impl::are_integral, which is why this file, alone, adds
// to that namespace. Internal.
#pragma once

#include <concepts>
#include <type_traits>

#include <keramos/core/macros.hpp>
#include <keramos/core/range.hpp>

/// @cond  Doxygen does not know these namespaces.
#if KOKKOS_VERSION < 40700 || defined(KOKKOS_ENABLE_IMPL_VIEW_LEGACY)
template <class... Rest>
struct Kokkos::Impl::are_integral<keramos::id<1>, Rest...> : Kokkos::Impl::are_integral<Rest...> {};
#endif

template <>
struct std::common_type<keramos::id<1>, keramos::id<1>> {
  using type = keramos::index_t;
};
template <std::integral I>
struct std::common_type<keramos::id<1>, I> : std::common_type<keramos::index_t, I> {};
template <std::integral I>
struct std::common_type<I, keramos::id<1>> : std::common_type<keramos::index_t, I> {};
/// @endcond
