// Real numbers with complex ones, either way round.
#include "check_one.hpp"

namespace keramos::fuzz {

namespace {
using c32 = Kokkos::complex<float>;
using c64 = Kokkos::complex<double>;
}  // namespace

const std::vector<check*> checks_of_real_and_complex = {
    check_one<float, c32, c32>, check_one<c32, float, c32>, check_one<double, c64, c64>,
    check_one<c64, double, c64>};

}  // namespace keramos::fuzz
