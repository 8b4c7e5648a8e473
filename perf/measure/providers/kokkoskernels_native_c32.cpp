#include "kokkoskernels_native.hpp"

namespace keramos::perf::native {
kokkoskernels_call pick_c32(matrix_layout layout) { return pick<Kokkos::complex<float>>(layout); }
}  // namespace keramos::perf::native
