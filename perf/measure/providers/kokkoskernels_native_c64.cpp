#include "kokkoskernels_native.hpp"

namespace keramos::perf::native {
kokkoskernels_call pick_c64(matrix_layout layout) { return pick<Kokkos::complex<double>>(layout); }
}  // namespace keramos::perf::native
