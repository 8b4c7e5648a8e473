// Floats of eight bits of both kinds.
#include "check_one.hpp"

namespace keramos::fuzz {

const std::vector<check*> checks_of_eights = {
    check_one<float8_e4m3, float8_e4m3, float16>, check_one<float8_e4m3, float8_e5m2, float>,
    check_one<float8_e5m2, float8_e4m3, bfloat16>, check_one<float8_e5m2, float8_e5m2, float16>,
    check_one<float8_e5m2, float8_e5m2, float>};

}  // namespace keramos::fuzz
