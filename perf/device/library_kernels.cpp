#include <keramos/gemm/gemm.hpp>

#include "kernels.hpp"
#include "machine.hpp"
#include "machine_queue.hpp"
#include "op.hpp"

namespace keramos::perf {
namespace {

// `call(a, b, c, options)` with the operands of a problem.
template <class AB, class C, class Call>
auto with_operands(const gemm_case& g, const operand_set& set, const Call& call) {
  const auto a = strides_of_op_a(g), b = strides_of_op_b(g), c = strides_of_c(g);
  const matrix_view<const AB> op_a{static_cast<const AB*>(set.a), g.m, g.k, a.row, a.col};
  const matrix_view<const AB> op_b{static_cast<const AB*>(set.b), g.k, g.n, b.row, b.col};
  gemm_options options;
  options.op_a = op_of(g.op_a), options.op_b = op_of(g.op_b);
  options.compute = compute_of(g.type);
  return call(g.op_a == transpose::N ? op_a : op_a.transposed(),
              g.op_b == transpose::N ? op_b : op_b.transposed(),
              matrix_view<C>{static_cast<C*>(set.c), g.m, g.n, c.row, c.col}, options);
}

std::vector<planned_part> parts_of(const gemm_plan& plan) {
  std::vector<planned_part> parts;
  for (int i = 0; i < plan.size; ++i) {
    const gemm_part& part = plan.parts[i];
    parts.push_back({to_string(part), std::string(to_string(part.path)), part.m, part.n,
                     to_string(part.block), part.split.parts, std::int64_t(part.local_bytes),
                     part.team_size});
  }
  return parts;
}

}  // namespace

library_kernel library_kernel_for(const gemm_case& g) {
  library_kernel out;
  out.micro_kernel = host_micro_kernel(g.type);
  const workspace memory(g, 1, 1);
  const auto& set = memory.operands().device.front();
  visit_type(g.type, [&](auto types) {
    using of = decltype(types);
    with_operands<typename of::ab, typename of::c>(
        g, set, [&](const auto& a, const auto& b, const auto& c, const auto& options) {
          out.plan = parts_of(keramos::plan_gemm(machine_queue(), a, b, c, options));
          out.launches = launches_of([&](keramos::queue& q) { keramos::gemm(q, 1, a, b, 0, c, options); });
        });
  });
  return out;
}

}  // namespace keramos::perf
