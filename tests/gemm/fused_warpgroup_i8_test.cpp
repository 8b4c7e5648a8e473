#include "fused_warpgroup_case.hpp"

namespace keramos::test {
namespace {
using types = elements<std::int8_t, std::int8_t, std::int8_t>;
INSTANTIATE_TYPED_TEST_SUITE_P(i8, FusedWarpgroups, types);
}  // namespace
}  // namespace keramos::test
