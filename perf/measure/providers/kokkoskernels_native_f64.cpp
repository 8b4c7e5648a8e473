#include "kokkoskernels_native.hpp"

namespace keramos::perf::native {
kokkoskernels_call pick_f64(matrix_layout layout) { return pick<double>(layout); }
}  // namespace keramos::perf::native
