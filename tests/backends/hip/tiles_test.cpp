// Every row of HIP's tile table fits into the local memory that a team of the GPU at hand can have, with what Kokkos keeps there.
// That is known when this is compiled.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/plan/simt_model.hpp>

namespace keramos::test {
namespace {

using tiles = backend::tiles<Kokkos::HIP>;

constexpr bool fits(const backend::simt::tile_row& r) {
  const std::size_t threads = r.config.team_warps() * backend::traits<Kokkos::HIP>::warp_size;
  return detail::simt::local_bytes(r) + 256 + 8 * threads <= backend::hip::unit.team_bytes;
}
constexpr bool all_fit = std::all_of(std::begin(tiles::table), std::end(tiles::table), fits);
static_assert(all_fit, "a row of the table does not fit");

TEST(HipTiles, FitIntoLocalMemory) { EXPECT_TRUE(all_fit); }

}  // namespace
}  // namespace keramos::test
