// Where versions of Kokkos differ: the one file that asks for them, and the one that adds to Kokkos::Impl. Internal.
#pragma once

#include <concepts>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <keramos/base/index.hpp>
#include <keramos/base/scalar_type.hpp>

#ifndef KOKKOS_IF_ON_HOST  // before 3.6
#define KOKKOS_IF_ON_HOST(CODE) KERAMOS_STRIP_PARENTHESES CODE
#define KOKKOS_IF_ON_DEVICE(CODE)
#define KERAMOS_STRIP_PARENTHESES(...) __VA_ARGS__
#endif

namespace keramos {

template <int Rank>
struct id;

namespace detail {

/// Before 4, host kernels of all threads share one scratch without a lock, and reducers join volatile values.
inline constexpr bool kokkos_before_4 = KOKKOS_VERSION < 40000;

/// An instance that nobody else uses. Before 4, which can make one, the default instance.
template <class Exec>
Exec own_instance() {
#if KOKKOS_VERSION >= 40000
  return Kokkos::Experimental::partition_space(Exec(), std::vector<int>{1}).front();
#else
  return Exec();
#endif
}

/// Kokkos::initialize on device `id`; negative: where Kokkos likes.
inline void initialize_kokkos(int id) {
#if KOKKOS_VERSION >= 30700
  Kokkos::InitializationSettings settings;
  if (id >= 0) settings.set_device_id(id);
#else
  Kokkos::InitArguments settings;
  if (id >= 0) settings.device_id = id;
#endif
  Kokkos::initialize(settings);
}

/// Kokkos' sixteen-bit numbers, where they are no floats under another name.
template <class T>
inline constexpr bool is_kokkos_half = sizeof(T) == 2 && std::is_same_v<T, Kokkos::Experimental::half_t>;
template <class T>
requires is_kokkos_half<T>
struct scalar_type_of<T> : scalar_type_of<float16> {
};
#if KOKKOS_VERSION >= 30600
template <class T>
inline constexpr bool is_kokkos_bhalf = sizeof(T) == 2 && std::is_same_v<T, Kokkos::Experimental::bhalf_t>;
template <class T>
requires is_kokkos_bhalf<T>
struct scalar_type_of<T> : scalar_type_of<bfloat16> {
};
#endif

}  // namespace detail
}  // namespace keramos

// Views take an id<1> as an index. Since 4.7 they take whatever converts to one, and since 5 they count with
// std::common_type of all indices. Before 4.7 they ask Kokkos::Impl::are_integral, which nothing else can answer.
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
