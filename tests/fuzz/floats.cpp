// Floats, and integers of 32 bits.
#include "check_one.hpp"

namespace keramos::fuzz {

const std::vector<check*> checks_of_floats = {check_one<float>, check_one<double>, check_one<std::int32_t>};

}  // namespace keramos::fuzz
