// Floats of eight bits of both kinds.
#include "check_one.hpp"

namespace keramos::fuzz {

namespace {
using e4m3 = float8_e4m3;
using e5m2 = float8_e5m2;
}  // namespace

const std::vector<check*> checks_of_eights = {
    check_one<e4m3, e4m3, float16>,  check_one<e4m3, e5m2, float16>,  check_one<e5m2, e4m3, float16>,
    check_one<e5m2, e5m2, float16>,  check_one<e4m3, e4m3, bfloat16>, check_one<e4m3, e5m2, bfloat16>,
    check_one<e5m2, e4m3, bfloat16>, check_one<e5m2, e5m2, bfloat16>, check_one<e4m3, e4m3, float>,
    check_one<e4m3, e5m2, float>,    check_one<e5m2, e4m3, float>,    check_one<e5m2, e5m2, float>};

}  // namespace keramos::fuzz
