// Floats of sixteen bits, with C of their type or of float.
#include "check_one.hpp"

namespace keramos::fuzz {

const std::vector<check*> checks_of_halves = {check_one<float16>, check_one<bfloat16>,
                                              check_one<float16, float16, float>,
                                              check_one<bfloat16, bfloat16, float>};

}  // namespace keramos::fuzz
