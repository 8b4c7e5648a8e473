#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/plan.hpp>
#include <optional>
#include <type_traits>

#include "kernels.hpp"
#include "machine.hpp"
#include "machine_queue.hpp"

namespace keramos::perf {
namespace {

template <class T>
gemm_problem<T> problem_of(const gemm_case& g, const operand_set& set) {
  const auto a = strides_of_op_a(g), b = strides_of_op_b(g), c = strides_of_c(g);
  return {{static_cast<const T*>(set.a), a.row, a.col},
          {static_cast<const T*>(set.b), b.col, b.row},
          static_cast<T*>(set.c),
          c.row,
          c.col,
          g.m,
          g.n,
          g.k};
}

// The dispatch's decisions (keramos/gemm/launch.hpp): of a product that it computes in parts the main one's.
template <class T, class Exec = keramos::default_execution_space>
void describe(const gemm_case& g, const operand_set& set, library_kernel& out) {
  auto& q = machine_queue();
  using planner = detail::planner<Exec>;
  auto p = problem_of<T>(g, set);
  if (planner::prefers_transposed(p)) p.transpose();
  if (planner::run_untiled(q.execution_space(), detail::workspace_of(q), p, linear_epilogue<T>{T(1), T(0)})) {
    out.path = "multiplied where it lies, without packing";
    return;
  }
  if constexpr (!backend::traits<Exec>::is_host) {
    const auto main = planner::choose_main(q.execution_space(), p);
    p.m = main.m, p.n = main.n;
  }
  planner::choose(q.execution_space(), detail::workspace_of(q), p, std::nullopt,
                  [&](const auto& collective, const gemm_problem<T>&, const auto&...) {
                    using collective_type = std::remove_cvref_t<decltype(collective)>;
                    out.path = std::to_string(collective_type::stages) + " slab" +
                               (collective_type::stages > 1 ? "s" : "") + " of k in local memory";
                    out.tile = tiling::to_string(collective.block());
                    out.scratch_bytes = std::int64_t(collective.local_bytes());
                    out.threads = collective_type::team_size;
                  });
}

template <class T>
void multiply(keramos::queue& q, const gemm_case& g, const operand_set& set) {
  const auto a = strides_of_op_a(g), b = strides_of_op_b(g), c = strides_of_c(g);
  keramos::gemm(q, T(1), matrix_view<const T>{static_cast<const T*>(set.a), g.m, g.k, a.row, a.col},
                matrix_view<const T>{static_cast<const T*>(set.b), g.k, g.n, b.row, b.col}, T(0),
                matrix_view<T>{static_cast<T*>(set.c), g.m, g.n, c.row, c.col});
}

}  // namespace

library_kernel library_kernel_for(const gemm_case& g) {
  library_kernel out;
  out.micro_kernel = host_micro_kernel(g.type);
  const workspace memory(g, 1, 1);
  const auto& set = memory.operands().device.front();
  visit_type(g.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    describe<compute_type<T>>(g, set, out);
    out.launches = launches_of([&](keramos::queue& q) { multiply<T>(q, g, set); });
  });
  return out;
}

}  // namespace keramos::perf
