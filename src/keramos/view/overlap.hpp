// Whether strided arrays share memory. Host code; nothing here touches the data. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include <keramos/base/export.hpp>
#include <keramos/base/index.hpp>

namespace keramos::detail {

/// Elements at data + stride[0]·i + stride[1]·j + stride[2]·k, strides in elements and of either sign.
struct strided_array {
  const void* data;
  std::size_t element_bytes;
  index_t extent[3] = {1, 1, 1};
  index_t stride[3] = {};

  bool empty() const { return extent[0] == 0 || extent[1] == 0 || extent[2] == 0; }
};

/// Bytes [first, last) between which all those of an array lie that is not empty.
struct byte_range {
  std::intptr_t first, last;
};
KERAMOS_EXPORT byte_range bytes_of(const strided_array& x);

/// Whether a byte of one is a byte of the other.
///
/// Exact, as long as the search for two such elements ends within some 10,000 steps; layouts whose dimensions nest, as
/// those of sub-arrays do, need less than a hundred. Where it does not end, the answer is no.
/// The method: a common element is a solution in bounded integers of one linear equation in the indices of both.
/// Dimensions of equal stride count as one; the widest strides are tried first, which leaves few values for
/// each, and two unknowns are solved by Euclid's algorithm.
KERAMOS_EXPORT bool share_memory(const strided_array& x, const strided_array& y);

/// Whether two different indices of `x` have the same element, exact to the same degree.
KERAMOS_EXPORT bool shares_elements(const strided_array& x);

}  // namespace keramos::detail
