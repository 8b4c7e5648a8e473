// Provider `keramos`: keramos::gemm and gemm_batched on the default queue, called as users do.
#include <keramos/gemm/batched.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/reference.hpp>

#include "measure/core/host.hpp"
#include "measure/core/visit_type.hpp"
#include "measure/device/machine_queue.hpp"
#include "measure/device/op.hpp"
#include "provider.hpp"

namespace keramos::perf {
namespace {

// As what alpha and beta are given.
template <class A, class B, class C>
using scalar_of = std::conditional_t<std::is_same_v<C, std::int8_t>, float,
                                     reference::sum_t<reference::wider_element<A, B>>>;

template <class A, class B, class C, class Layout>
void enqueue(const gemm_case& g, const operand_set& set) {
  using memory = keramos::default_execution_space::memory_space;
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using in_a = Kokkos::View<const A**, Layout, memory, unmanaged>;
  using in_b = Kokkos::View<const B**, Layout, memory, unmanaged>;
  using out = Kokkos::View<C**, Layout, memory, unmanaged>;
  const bool a_plain = g.op_a == transpose::N, b_plain = g.op_b == transpose::N;
  const in_a a(static_cast<const A*>(set.a), a_plain ? g.m : g.k, a_plain ? g.k : g.m);
  const in_b b(static_cast<const B*>(set.b), b_plain ? g.k : g.n, b_plain ? g.n : g.k);
  const out c(static_cast<C*>(set.c), g.m, g.n);
  keramos::gemm_options options;
  options.op_a = op_of(g.op_a);
  options.op_b = op_of(g.op_b);
  options.compute = compute_of(g.type);
  using scalar = scalar_of<A, B, C>;
  keramos::gemm(machine_queue(), scalar(alpha_of_sums(g)), a, b, scalar(g.beta), c, options);
}

template <class A, class B, class C, class Layout>
void enqueue_batch(const gemm_case& g, const operand_set& set) {
  const auto batch = [&](auto* data, bool plain, index_t rows, index_t cols) {
    if (!plain) std::swap(rows, cols);
    using element = std::remove_pointer_t<decltype(data)>;
    const auto first = std::is_same_v<Layout, Kokkos::LayoutRight>
                           ? matrix_view<element>::row_major(data, rows, cols)
                           : matrix_view<element>::column_major(data, rows, cols);
    return batched_matrix_view<element>::strided(first, g.batch, rows * cols);
  };
  const bool a_plain = g.op_a == transpose::N, b_plain = g.op_b == transpose::N;
  using scalar = scalar_of<A, B, C>;
  keramos::gemm_batched(machine_queue(), scalar(alpha_of_sums(g)),
                        batch(static_cast<const A*>(set.a), a_plain, g.m, g.k),
                        batch(static_cast<const B*>(set.b), b_plain, g.k, g.n), scalar(g.beta),
                        batch(static_cast<C*>(set.c), true, g.m, g.n),
                        {.op_a = op_of(g.op_a), .op_b = op_of(g.op_b), .compute = compute_of(g.type)});
}

template <class A, class B, class C>
auto enqueue_in(const gemm_case& g) {
  const bool right = g.layout == matrix_layout::right;
  if (g.batch > 0)
    return right ? enqueue_batch<A, B, C, Kokkos::LayoutRight> : enqueue_batch<A, B, C, Kokkos::LayoutLeft>;
  return right ? enqueue<A, B, C, Kokkos::LayoutRight> : enqueue<A, B, C, Kokkos::LayoutLeft>;
}

constexpr bool has_tf32 = keramos::detail::computes<keramos::default_execution_space, keramos::types::tf32>;

class keramos_provider : public gemm_provider {
 public:
  provider_info info() const override {
    auto libraries = loaded_libraries({"libkeramos"});
    if (libraries.empty()) libraries.push_back(executable_path());  // linked statically
    for (const auto& path : loaded_libraries({"kokkoscore", "gomp", "libomp", "libcudart"})) {
      libraries.push_back(path);
    }
    return {"keramos", KERAMOS_VERSION, libraries, host_threads(), false};
  }
  std::string cannot(const gemm_case& g) const override {
    return g.type == data_type::tf32 && !has_tf32 ? "it has tf32 only on GPUs with tensor cores" : "";
  }
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    case_ = g;
    sets_ = operands.device;
    enqueue_ = visit_type(g.type, [&](auto types) {
      using of = decltype(types);
      return enqueue_in<typename of::a, typename of::b, typename of::c>(g);
    });
  }
  double run(std::int64_t calls) override {
    return seconds_on_queue(
        [&] { for_sets_in_turn(sets_, calls, [&](const operand_set& set) { enqueue_(case_, set); }); });
  }

 private:
  gemm_case case_;
  std::vector<operand_set> sets_;
  void (*enqueue_)(const gemm_case&, const operand_set&) = nullptr;
};

}  // namespace

std::unique_ptr<gemm_provider> make_keramos() { return std::make_unique<keramos_provider>(); }

}  // namespace keramos::perf
