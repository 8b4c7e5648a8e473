// The kernels of a matrix times a vector, and of small batches, for one type, KERAMOS_TYPE. A program compiles this when it
// runs (docs/elsewhere.md).
#include <sycl/sycl.hpp>

#include <keramos/gemm/kernel/gemv.hpp>
#include <keramos/gemm/kernel/small_batch.hpp>
#include <keramos/gemm/plan/small_batch.hpp>

#include <team.hpp>
#include "arguments.hpp"
#include "operand.hpp"

using namespace keramos;
using keramos::test::device::product;
using keramos::test::device::space;

namespace {

using types = keramos::types::KERAMOS_TYPE;
using update = test::device::update<types>;
constexpr int vector = 16 / int(sizeof(types::accumulator));

template <tiling::direction Along, int Vector>
void multiply_vector(const product& p, int rows_of_team) {
  using kernel = detail::simt::gemv_kernel<types, Along, Vector, update>;
  const auto shape = detail::simt::gemv_shape::of_rows(rows_of_team);
  const kernel k{test::device::problem_of<types>(p), test::device::update_of<types>(p), shape,
                 test::device::split_of<types>(p, detail::simt::gemv_shape::fan_in, int(shape.teams(p.m)))};
  k(test::device::team_with<kernel::team_size, kernel::bytes>());
}

constexpr const auto& table = backend::simt::small_table;
/// The number in the table of row `wanted` of the type's for FMA units, or -1.
constexpr int number_of(int wanted) {
  for (int i = 0; i < int(std::size(table)); ++i)
    if (table[i].type == types::operands.a && table[i].math == tiling::math_unit::fma && wanted-- == 0)
      return i;
  return -1;
}
template <int Row, int Access>
struct small_kernel {
  static constexpr auto config = table[number_of(Row)];
  static constexpr auto along(int bit) { return Access & bit ? tiling::direction::k : tiling::direction::mn; }
  static constexpr detail::simt::small_access access{along(1), along(2), (Access & 4) != 0};
  using type = detail::simt::small_batch_kernel<space, types, config, access, uniform_batch<types>, update>;
};

template <int Row, int Access>
void multiply_batch([[maybe_unused]] const product& p) {
  if constexpr (number_of(Row) >= 0) {
    using kernel = typename small_kernel<Row, Access>::type;
    const auto first = test::device::problem_of<types>(p);
    const uniform_batch<types> batch{first, {p.a_step}, {p.b_step}, {p.c_step}, p.count};
    const kernel k(batch, first, test::device::update_of<types>(p));
    k(test::device::team_with<kernel::team_size, kernel::local_bytes>());
  }
}
template <int Row, int Access>
constexpr test::device::small small_of() {
  if constexpr (number_of(Row) >= 0)
    return {small_kernel<Row, Access>::type::team_size, table[number_of(Row)].problems,
            table[number_of(Row)].size};
  else
    return {};
}

}  // namespace

#define KERAMOS_VECTOR(along, width, elements)                            \
  KERAMOS_ND_RANGE_KERNEL(256)                                            \
  void vector_##along##_##width(product p, int rows_of_team) {            \
    multiply_vector<tiling::direction::along, elements>(p, rows_of_team); \
  }
KERAMOS_VECTOR(mn, 1, 1)
KERAMOS_VECTOR(mn, 16, vector)
KERAMOS_VECTOR(k, 1, 1)
KERAMOS_VECTOR(k, 16, vector)

#define KERAMOS_SMALL(row, access) \
  KERAMOS_ND_RANGE_KERNEL(256)     \
  void small_##row##_##access(product p) { multiply_batch<row, access>(p); }
#define KERAMOS_SMALLS(row) \
  KERAMOS_SMALL(row, 0)     \
  KERAMOS_SMALL(row, 1)     \
  KERAMOS_SMALL(row, 2)     \
  KERAMOS_SMALL(row, 3)     \
  KERAMOS_SMALL(row, 4)     \
  KERAMOS_SMALL(row, 5)     \
  KERAMOS_SMALL(row, 6)     \
  KERAMOS_SMALL(row, 7)
KERAMOS_SMALLS(0)
KERAMOS_SMALLS(1)
KERAMOS_SMALLS(2)
KERAMOS_SMALLS(3)
static_assert(number_of(test::device::most_small_rows) < 0, "list the kernels of another row");

/// out[row * small_accesses + access].
KERAMOS_SINGLE_TASK_KERNEL
void describe(test::device::small* out) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    ((out[I] = small_of<I / test::device::small_accesses, I % test::device::small_accesses>()), ...);
  }
  (std::make_integer_sequence<int, test::device::most_small_rows * test::device::small_accesses>());
}
