// Floats of sixteen bits with float, either way round.
#include "check_one.hpp"

namespace keramos::fuzz {

const std::vector<check*> checks_of_halves_and_floats = {
    check_one<float16, float, float>, check_one<float, float16, float>, check_one<bfloat16, float, float>,
    check_one<float, bfloat16, float>};

}  // namespace keramos::fuzz
