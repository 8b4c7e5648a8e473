// The kernels of products for one type, KERAMOS_TYPE. On SYCL a program compiles this when it runs; for HIP it is compiled with
// the team.hpp of tests/hip (docs/elsewhere.md).
#include <keramos/gemm/collective/simt_rows.hpp>
#include <keramos/gemm/kernel/tiled.hpp>

#include <team.hpp>
#include "arguments.hpp"
#include "operand.hpp"

// Bits of those that are compiled.
#if !defined(KERAMOS_ACCESSES)
#define KERAMOS_ACCESSES ~0
#endif

using namespace keramos;
using keramos::test::device::product;
using keramos::test::device::space;

namespace {

using types = keramos::types::KERAMOS_TYPE;
constexpr const auto& table = backend::tiles<space>::table;

/// The number in the table of row `wanted` of the type's, or -1.
constexpr int number_of(int wanted) {
  for (int i = 0; i < int(std::size(table)); ++i)
    if (table[i].types == types::operands && wanted-- == 0) return i;
  return -1;
}
template <int Row, int Access>
constexpr bool is_kernel() {
  if constexpr (number_of(Row) < 0 || Access >= detail::simt::accesses<types> ||
                (KERAMOS_ACCESSES >> Access & 1) == 0)
    return false;
  else
    return detail::simt::is_access<types>(Access, table[number_of(Row)].config);
}

template <int Row, int Access>
KERAMOS_INLINE_FUNCTION void multiply([[maybe_unused]] const product& p) {
  if constexpr (is_kernel<Row, Access>()) {
    using collective = detail::simt::row_collective<space, types, number_of(Row), Access>;
    const auto problem = test::device::problem_of<types>(p);
    constexpr tiling::shape block = collective::block();
    const int tiles_m = int((p.m + block.m - 1) / block.m), tiles_n = int((p.n + block.n - 1) / block.n);
    const detail::tile_order order{
        tiles_m, tiles_n,
        tiles_m < detail::tile_order::usual_band ? tiles_m : detail::tile_order::usual_band};
    detail::dealt_teams_of<collective> dealt{};
    if constexpr (requires { dealt.dies; }) dealt.dies = 1;
    const detail::gemm_kernel<collective, test::device::update<types>> kernel{
        dealt,
        collective{},
        problem,
        {order, test::device::can_shift_m<collective>(problem),
         test::device::can_shift_n<collective>(problem)},
        test::device::update_of<types>(p),
        test::device::split_of<types>(p, 2, order.count())};
    kernel(test::device::team_with<collective::team_size, collective::local_bytes()>());
  }
}

template <int Row, int Access>
constexpr test::device::tile tile_of() {
  if constexpr (is_kernel<Row, Access>()) {
    using collective = detail::simt::row_collective<space, types, number_of(Row), Access>;
    constexpr tiling::shape block = collective::block();
    return {collective::team_size, block.m, block.n, block.k, collective::splits_k};
  } else {
    return {};
  }
}

template <int Row, int Access>
constexpr int threads_of() {
  return tile_of<Row, Access>().team_size > 0 ? tile_of<Row, Access>().team_size : 1;
}

}  // namespace

#define KERAMOS_PRODUCT(row, access)                   \
  KERAMOS_ND_RANGE_KERNEL((threads_of<row, access>())) \
  void product_##row##_##access(product p) { multiply<row, access>(p); }
#define KERAMOS_PRODUCTS(row) \
  KERAMOS_PRODUCT(row, 0)     \
  KERAMOS_PRODUCT(row, 1)     \
  KERAMOS_PRODUCT(row, 2)     \
  KERAMOS_PRODUCT(row, 3)     \
  KERAMOS_PRODUCT(row, 4)     \
  KERAMOS_PRODUCT(row, 5)     \
  KERAMOS_PRODUCT(row, 6)     \
  KERAMOS_PRODUCT(row, 7)     \
  KERAMOS_PRODUCT(row, 8)     \
  KERAMOS_PRODUCT(row, 9)     \
  KERAMOS_PRODUCT(row, 10)    \
  KERAMOS_PRODUCT(row, 11)    \
  KERAMOS_PRODUCT(row, 12)    \
  KERAMOS_PRODUCT(row, 13)    \
  KERAMOS_PRODUCT(row, 14)    \
  KERAMOS_PRODUCT(row, 15)
KERAMOS_PRODUCTS(0)
KERAMOS_PRODUCTS(1)
KERAMOS_PRODUCTS(2)
static_assert(number_of(test::device::most_rows) < 0, "list the kernels of another row");

/// out[row * accesses + access].
KERAMOS_SINGLE_TASK_KERNEL
void describe(test::device::tile* out) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    ((out[I] = tile_of<I / test::device::accesses, I % test::device::accesses>()), ...);
  }
  (std::make_integer_sequence<int, test::device::most_rows * test::device::accesses>());
}
