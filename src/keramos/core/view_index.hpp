// Views take an id<1> as an index. Since Kokkos 4.7 they take whatever converts to one; before, they ask
// Kokkos::Impl::are_integral, which is why this file, alone, adds to that namespace. Internal.
#pragma once

#include <keramos/core/macros.hpp>
#include <keramos/core/range.hpp>

/// @cond  Doxygen does not know the namespace.
#if KOKKOS_VERSION < 40700 || defined(KOKKOS_ENABLE_IMPL_VIEW_LEGACY)
template <class... Rest>
struct Kokkos::Impl::are_integral<keramos::id<1>, Rest...> : Kokkos::Impl::are_integral<Rest...> {};
#endif
/// @endcond
