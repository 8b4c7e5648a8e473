#include "fused_warpgroup_case.hpp"

namespace keramos::test {
namespace {
using types = elements<bfloat16, bfloat16, bfloat16>;
INSTANTIATE_TYPED_TEST_SUITE_P(bf16, FusedWarpgroups, types);
}  // namespace
}  // namespace keramos::test
