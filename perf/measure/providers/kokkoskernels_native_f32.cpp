#include "kokkoskernels_native.hpp"

namespace keramos::perf::native {
kokkoskernels_call pick_f32(matrix_layout layout) { return pick<float>(layout); }
}  // namespace keramos::perf::native
