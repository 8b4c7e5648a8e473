// Random elements of any type.
#pragma once

#include <cstdint>
#include <random>
#include <type_traits>

#include <keramos/gemm/reference.hpp>

namespace keramos::test {

/// Full mantissas in [-0.5, 0.5], of each part of a complex number; all of their range for integers. The standard library's
/// distributions take ten times as long.
template <class T>
T random_value(std::mt19937_64& rng) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(rng());
  } else if constexpr (complex_like<T>) {
    using R = typename T::value_type;
    const R re = random_value<R>(rng);
    return T(re, random_value<R>(rng));
  } else {
    return T(reference::sum_t<T>(double(static_cast<std::int64_t>(rng()) >> 11) * 0x1p-53));
  }
}

}  // namespace keramos::test
