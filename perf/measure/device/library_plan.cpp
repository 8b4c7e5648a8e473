#include "library_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/gemm/plan/simt_model.hpp>
#include <limits>
#include <utility>

#include "machine_queue.hpp"
#include "measure/core/visit_type.hpp"
#include "op.hpp"

namespace keramos::perf {
namespace {

// The plan for operands that lie as those which are measured. Nobody reads them: they are addresses without memory.
template <class A, class B, class C>
gemm_plan plan_of(const gemm_case& g) {
  constexpr std::uintptr_t page = 4096;
  std::uintptr_t next = page;
  const auto address = [&](std::size_t bytes) {
    return std::exchange(next, next + (bytes / page + 1) * page);
  };
  const auto a = address(g.a_bytes()), b = address(g.b_bytes()), c = address(g.c_bytes());
  const auto at_a = strides_of_op_a(g), at_b = strides_of_op_b(g), at_c = strides_of_c(g);
  const matrix_view<const A> op_a{reinterpret_cast<const A*>(a), g.m, g.k, at_a.row, at_a.col};
  const matrix_view<const B> op_b{reinterpret_cast<const B*>(b), g.k, g.n, at_b.row, at_b.col};
  gemm_options options;
  options.op_a = op_of(g.op_a), options.op_b = op_of(g.op_b);
  options.compute = compute_of(g.type);
  return plan_gemm(machine_queue(), g.op_a == transpose::N ? op_a : op_a.transposed(),
                   g.op_b == transpose::N ? op_b : op_b.transposed(),
                   matrix_view<C>{reinterpret_cast<C*>(c), g.m, g.n, at_c.row, at_c.col}, options);
}

std::int64_t blocks(std::int64_t extent, std::int64_t of) { return of > 0 ? (extent + of - 1) / of : 1; }

// The extents of the product that a part computes.
struct extents {
  std::int64_t m, n;
};
extents computed(const gemm_part& part) {
  return part.transposed ? extents{part.n, part.m} : extents{part.m, part.n};
}

using keramos::detail::simt::device_model;

// Asks the model again with one thing after the other for nothing. `Shifts`: what of short elements is asked besides
// (simt_model.hpp); operands and C count as aligned.
template <bool Shifts, class Row>
modelled_time model_of(const Row& row, const gemm_part& part, std::int64_t k, const device_model& device) {
  constexpr double free_of_charge = std::numeric_limits<double>::infinity();
  split_plan split = part.split;
  if (split.parts == 1) split.k_per_part = k;
  const extents c = computed(part);
  const bool is_short = Shifts && bytes_of(row.types.a) < 4 && bytes_of(row.types.b) < 4 &&
                        row.config.math != tiling::math_unit::fma;
  const auto cycles_on = [&](const Row& r, const device_model& d) {
    using namespace keramos::detail::simt;
    const tile_costs costs =
        is_short ? costs_of_short(r, d, 16, c_memory::vectors) : costs_of(r, d, c_memory::vectors);
    return predicted_time(r, c.m, c.n, k, split, d, costs, detail::corner_of(part).tiles());
  };
  const auto cycles = [&](const device_model& d) { return cycles_on(row, d); };
  modelled_time time;
  time.cycles = cycles(device);
  const auto without = [&](const char* what, const auto& change) {
    device_model d = device;
    change(d);
    time.savings.push_back({what, 1 - cycles(d) / time.cycles});
  };
  without("products", [](device_model& d) { d.fmas = free_of_charge; });
  without("copies", [](device_model& d) { d.memory_bytes = free_of_charge; });
  without("waiting", [](device_model& d) { d.latency = 0; });
  if (is_short || row.start > 0) {
    device_model d = device;
    d.warpgroup_writes = d.team_writes = d.long_writes = {free_of_charge, free_of_charge, free_of_charge, 0};
    Row r = row;
    if (r.start > 0)
      r.start = std::numeric_limits<double>::min();  // it stays a row that says what a start takes
    time.savings.push_back({"starting teams and writing C", 1 - cycles_on(r, d) / time.cycles});
  }
  if (split.parts > 1) {
    without("adding parts of k",
            [](device_model& d) { d.meeting = d.meeting_with_start = 0, d.adding_bytes = free_of_charge; });
  }
  std::stable_sort(time.savings.begin(), time.savings.end(),
                   [](const auto& x, const auto& y) { return x.share > y.share; });
  return time;
}

// What a GPU's plan tells by its row of the tile table.
template <class Exec>
void describe_row(const Exec& exec, const gemm_part& part, std::int64_t k, planned_part& out) {
  if constexpr (!backend::traits<Exec>::is_host) {
    using tiles = backend::tiles<Exec>;
    out.unit = to_string(tiling::math_unit::fma);
    if (part.row < 0 || part.row >= int(std::size(tiles::table))) return;
    const auto& row = tiles::table[part.row];
    out.unit = to_string(row.config.math);
    out.teams_of_registers =
        backend::traits<Exec>::teams_per_unit(row.config.teams, part.team_size, part.local_bytes);
    const device_model device = tiles::model(exec);
    constexpr bool shifts = backend::staging<Exec>::template shifts<float16>;
    out.model = model_of<shifts>(row, part, k, device);
    // Teams of warpgroups go on to the next tile: no more are launched than run at once.
    if (row.config.math == tiling::math_unit::warpgroup)
      out.teams = std::min<std::int64_t>(out.teams, device.units * out.teams_of_registers);
  }
}

planned_part describe(const gemm_plan& plan, const gemm_part& part) {
  planned_part out;
  out.text = to_string(part);
  out.path = to_string(part.path);
  out.m = part.m, out.n = part.n;
  out.block = {part.block.m, part.block.n, part.block.k};
  out.stages = part.stages;
  out.parts_of_k = part.split.parts, out.whole_tiles = part.split.whole_tiles;
  const extents c = computed(part);
  const std::int64_t tiles =
      blocks(c.m, part.block.m) * blocks(c.n, part.block.n) - detail::corner_of(part).tiles();
  out.corner_m = part.transposed ? part.corner_n : part.corner_m;
  out.corner_n = part.transposed ? part.corner_m : part.corner_n;
  out.teams = out.whole_tiles + (tiles - out.whole_tiles) * part.split.parts;
  out.threads = part.team_size;
  out.scratch_bytes = std::int64_t(part.local_bytes);
  describe_row(machine_queue().execution_space(), part, plan.k, out);
  return out;
}

}  // namespace

library_plan library_plan_for(const gemm_case& g) {
  const gemm_plan plan = visit_type(g.type, [&](auto types) {
    using of = decltype(types);
    return plan_of<typename of::a, typename of::b, typename of::c>(g);
  });
  library_plan out;
  out.type = plan.type;
  out.micro_kernel = host_micro_kernel(g.type);
  for (int i = 0; i < plan.size; ++i) out.parts.push_back(describe(plan, plan.parts[i]));
  return out;
}

}  // namespace keramos::perf
