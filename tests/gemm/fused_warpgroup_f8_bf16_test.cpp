#include "fused_warpgroup_case.hpp"

namespace keramos::test {
namespace {
using types = elements<float8_e4m3, float8_e5m2, bfloat16>;
INSTANTIATE_TYPED_TEST_SUITE_P(f8_bf16, FusedWarpgroups, types);
}  // namespace
}  // namespace keramos::test
