// Complex numbers.
#include "check_one.hpp"

namespace keramos::fuzz {

const std::vector<check*> checks_of_complex = {check_one<Kokkos::complex<float>>,
                                               check_one<Kokkos::complex<double>>};

}  // namespace keramos::fuzz
