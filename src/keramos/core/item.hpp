// What a kernel is told about where it runs: h_item, the argument of a group's phase, and nd_item, that of a kernel over an
// nd_range. `x(it.gi)` in a phase is the item's own element.
#pragma once

#include <keramos/base/kokkos.hpp>
#include <keramos/core/range.hpp>

namespace keramos {

/// An item of a phase: local indices i, j, k in the group and global ones gi, gj, gk; dimensions
/// beyond the group's rank are 0. `linear` is the row-major index in the group.
struct h_item {
  int i = 0, j = 0, k = 0;
  index_t gi = 0, gj = 0, gk = 0;
  int linear = 0;
};

/// An item of an nd_range kernel.
template <int Rank>
struct nd_item {
  id<Rank> global;
  id<Rank> local;
  id<Rank> group;

  KERAMOS_FORCEINLINE_FUNCTION index_t get_global_id(int d) const { return global[d]; }
  KERAMOS_FORCEINLINE_FUNCTION index_t get_local_id(int d) const { return local[d]; }
  KERAMOS_FORCEINLINE_FUNCTION index_t get_group(int d) const { return group[d]; }
};

}  // namespace keramos
