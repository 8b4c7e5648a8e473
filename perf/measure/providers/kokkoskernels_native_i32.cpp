#include "kokkoskernels_native.hpp"

namespace keramos::perf::native {
kokkoskernels_call pick_i32(matrix_layout layout) { return pick<std::int32_t>(layout); }
}  // namespace keramos::perf::native
