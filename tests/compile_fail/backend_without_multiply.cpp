// expect in one error: has a row for matrix units, and its mma.hpp or warpgroup.hpp lacks the multiply atom
// A backend of GPUs that gives all but the products of its tile table's elements.
#include "incomplete_backend.hpp"

namespace keramos::backend {

template <>
struct tiles<incomplete_gpu> : tiles_of_a_gpu {};
template <>
struct mma<incomplete_gpu> : mma_without_multiply {};

}  // namespace keramos::backend

static_assert(keramos::backend::is_complete<incomplete_gpu>());
