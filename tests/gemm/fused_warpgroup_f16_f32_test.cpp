#include "fused_warpgroup_case.hpp"

namespace keramos::test {
namespace {
using types = elements<float16, float16, float>;
INSTANTIATE_TYPED_TEST_SUITE_P(f16_f32, FusedWarpgroups, types);
}  // namespace
}  // namespace keramos::test
