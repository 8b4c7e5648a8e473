// expect in one error: has a row for matrix units, and its mma.hpp or warpgroup.hpp lacks the multiply atom
// A backend of GPUs whose tile table has a row for warpgroups, of which it says nothing.
#include "incomplete_backend.hpp"

namespace keramos::backend {

template <>
struct tiles<incomplete_gpu> : tiles_of_a_gpu {
  static constexpr simt::tile_row table[] = {
      {0, simt::f16, {{64, 128, 64}, {16, 128}, {64, 128, 16}, 4, 2, tiling::math_unit::warpgroup}, 1}};
};

}  // namespace keramos::backend

static_assert(keramos::backend::is_complete<incomplete_gpu>());
