// What the algorithms refuse, and how they say so. Host code; nothing here touches the data.
#pragma once

#include <cstddef>
#include <string>

#include <keramos/base/error.hpp>
#include <keramos/base/export.hpp>
#include <keramos/view/grid_view.hpp>

namespace keramos::detail {

/// An argument without its type: address, bytes of an element, extents and strides in elements.
struct array_argument {
  const char* name;
  const void* data;
  std::size_t element_bytes;
  int rank;
  index_t extent[3] = {1, 1, 1};
  index_t stride[3] = {};

  bool empty() const { return extent[0] == 0 || extent[1] == 0 || extent[2] == 0; }
};

template <class T, int Rank>
array_argument argument(const char* name, const grid_view<T, Rank>& g) {
  array_argument a{name, g.data, sizeof(T), Rank};
  for (int d = 0; d < Rank; ++d) a.extent[d] = g.extent[d], a.stride[d] = g.stride[d];
  return a;
}

/// "3x4" of the argument's extents.
KERAMOS_EXPORT std::string shape_of(const array_argument& a);

/// @throws invalid_argument unless extents are not negative and data is there.
KERAMOS_EXPORT void check_array(const char* function, const array_argument& a);
/// @throws invalid_argument unless `a` has the extents of `wanted`, which come from what `why` says.
KERAMOS_EXPORT void check_extents(const char* function, const array_argument& a, const index_t* wanted,
                                  const char* why);
/// check_array, and @throws invalid_argument if two indices of `out` share an element.
KERAMOS_EXPORT void check_output(const char* function, const array_argument& out);
/// @throws invalid_argument if `in` and `out` share memory, see view/overlap.hpp.
KERAMOS_EXPORT void check_disjoint(const char* function, const array_argument& in, const array_argument& out);

}  // namespace keramos::detail
