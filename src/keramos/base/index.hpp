// The type of extents and indices.
#pragma once

#include <cstdint>

namespace keramos {

/// Signed 64-bit extents and indices: offsets never overflow, and `i - 1` at a border is -1.
using index_t = std::int64_t;

namespace detail {

/// How many times b, to hold a.
constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }

}  // namespace detail

}  // namespace keramos
