// The kernels of a product that every instruction set has that the library was compiled for and this processor has: dispatch would
// only ever show the widest.
#pragma once

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <keramos/backends/host/versions.hpp>
#include <keramos/gemm/host/kernels.hpp>

namespace keramos::test {

// Whose kernels compute in T.
template <class T>
using types_of = std::conditional_t<
    std::is_same_v<T, float>, keramos::types::f32,
    std::conditional_t<
        std::is_same_v<T, double>, keramos::types::f64,
        std::conditional_t<std::is_same_v<T, std::uint32_t>, keramos::types::i32,
                           std::conditional_t<sizeof(T) == 8, keramos::types::c32, keramos::types::c64>>>>;
template <class T>
using kernel_table = keramos::detail::host::kernel_table<types_of<T>>;

template <class Types>
auto runnable_of() {
  using namespace keramos::detail::host;
  std::vector<const keramos::detail::host::kernel_table<Types>*> list;
  keramos::backend::host::for_each_version(compiled_tables<Types>(),
                                           [&](auto* table) { list.push_back(table); });
  return list;
}
template <class T>
auto runnable() {
  return runnable_of<types_of<T>>();
}

template <class T>
T small_integer(std::mt19937& rng) {
  if constexpr (keramos::complex_like<T>) {
    const int re = int(rng() % 9) - 4;
    return T(re, typename T::value_type(int(rng() % 9) - 4));
  } else {
    return T(rng() % 9);
  }
}

}  // namespace keramos::test
