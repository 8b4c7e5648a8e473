// Counter-based random numbers: element i of stream s is a function of (seed, s, i), so matrices
// are filled in parallel and come out the same on any number of threads.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/base/complex.hpp>
#include <keramos/base/float16.hpp>
#include <keramos/base/float8.hpp>

namespace keramos::perf {

// The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// As what elements of A and B are drawn. Those for a C of eight bits are any, with a sign: sums then have either sign, and
// are all over its range.
template <class T, class C>
using drawn_as = std::conditional_t<std::is_same_v<C, std::int8_t>, std::uint8_t, T>;

class random_stream {
 public:
  constexpr random_stream(std::uint64_t seed, std::uint64_t stream)
      : start_(mix(seed + 0x9e3779b97f4a7c15u) ^ mix(~stream)) {}

  constexpr std::uint64_t bits(std::uint64_t i) const { return mix(start_ + (i + 1) * 0x9e3779b97f4a7c15u); }

  // Floats: uniform in [-0.5, 0.5) with every mantissa bit in play, because data of few
  // significant bits makes sums exact and hides errors. Of f16 and bf16 those of f32, rounded; complex numbers:
  // both parts so. Integers: the full range; of those of eight bits the numbers that are the same with a sign and
  // without, since libraries differ in what they take.
  template <class T>
  T value(std::uint64_t i) const {
    const auto top = static_cast<std::int64_t>(bits(i));
    if constexpr (std::is_same_v<T, float>) {
      // 2^40 steps: rounding to float keeps small values' mantissas full. The few that would
      // round up to 0.5 are cut off below it.
      const float f = static_cast<float>(static_cast<double>(top >> 24) * 0x1p-40);
      return f < 0.5f ? f : 0x1.fffffep-2f;
    } else if constexpr (std::is_same_v<T, double>) {
      // All 64 bits, for the same reason.
      const double d = static_cast<double>(top) * 0x1p-64;
      return d < 0.5 ? d : 0x1.fffffffffffffp-2;
    } else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> ||
                         std::is_same_v<T, float8_e4m3>) {
      return T(value<float>(i));
    } else if constexpr (keramos::detail::is_complex<T>) {
      using part = typename T::value_type;
      return {value<part>(2 * i), value<part>(2 * i + 1)};
    } else if constexpr (std::is_same_v<T, std::int8_t>) {
      return static_cast<T>(bits(i) >> 57);
    } else if constexpr (std::is_same_v<T, std::uint8_t>) {
      return static_cast<T>(bits(i) >> 56);
    } else {
      return static_cast<T>(top >> 32);
    }
  }

 private:
  std::uint64_t start_;
};

}  // namespace keramos::perf
