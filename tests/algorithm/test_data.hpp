// What the tests of the algorithms share: random data with a printed seed, copies to and from the device.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include <keramos/keramos.hpp>

#include "random_value.hpp"

namespace keramos::test {

template <class T>
using device_view = Kokkos::View<T, default_execution_space>;

inline std::uint64_t fresh_seed() {
  const std::uint64_t seed = std::random_device{}();
  testing::Test::RecordProperty("seed", std::to_string(seed));
  return seed;
}

/// Whole numbers for integers, full mantissas in [-0.5, 0.5] for floats.
template <class T>
std::vector<T> random_values(index_t count, std::mt19937_64& random) {
  std::vector<T> values(count);
  for (auto& x : values) x = random_value<T>(random);
  return values;
}

template <class T>
device_view<T*> to_device(const std::vector<T>& values) {
  device_view<T*> out(Kokkos::view_alloc(Kokkos::WithoutInitializing, "values"), values.size());
  Kokkos::deep_copy(out, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                             values.data(), values.size()));
  return out;
}

template <class T>
std::vector<T> to_host(const device_view<T*>& values) {
  std::vector<T> out(values.extent(0));
  Kokkos::deep_copy(
      Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(out.data(), out.size()),
      values);
  return out;
}

/// What a refusal says.
template <class F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const invalid_argument& e) {
    return e.what();
  }
  return "nothing was refused";
}
inline void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) EXPECT_NE(text.find(word), text.npos) << text << "\nlacks: " << word;
}

}  // namespace keramos::test
