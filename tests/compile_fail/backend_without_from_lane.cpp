// expect in one error: has a row for matrix units, and its mma.hpp or warpgroup.hpp lacks the multiply atom
// A backend of GPUs that multiplies its tile table's elements, but whose lanes do not read from each other to write C.
#include "incomplete_backend.hpp"

namespace keramos::backend {

template <>
struct tiles<incomplete_gpu> : tiles_of_a_gpu {};
template <>
struct mma<incomplete_gpu> : mma_without_multiply {
  template <class E>
  static void multiply_short(float (&)[2][2], const unsigned (&)[4], const unsigned (&)[2]) {}
  static unsigned from_lane(unsigned x, int lane) = delete;
};

}  // namespace keramos::backend

static_assert(keramos::backend::is_complete<incomplete_gpu>());
