// Provider `keramos`: keramos::gemm on the default queue, called with Kokkos Views as users do.
#include <keramos/gemm/gemm.hpp>

#include "core/host.hpp"
#include "device/machine_queue.hpp"
#include "provider.hpp"

namespace keramos::perf {
namespace {

template <class T, class Layout>
void enqueue(const gemm_case& g, const operand_set& set) {
  using memory = keramos::default_execution_space::memory_space;
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using in = Kokkos::View<const T**, Layout, memory, unmanaged>;
  using out = Kokkos::View<T**, Layout, memory, unmanaged>;
  const bool a_plain = g.op_a == transpose::N, b_plain = g.op_b == transpose::N;
  const in a(static_cast<const T*>(set.a), a_plain ? g.m : g.k, a_plain ? g.k : g.m);
  const in b(static_cast<const T*>(set.b), b_plain ? g.k : g.n, b_plain ? g.n : g.k);
  const out c(static_cast<T*>(set.c), g.m, g.n);
  keramos::gemm_options options;
  options.op_a = a_plain ? keramos::op::N : keramos::op::T;
  options.op_b = b_plain ? keramos::op::N : keramos::op::T;
  keramos::gemm(machine_queue(), T(g.alpha), a, b, T(g.beta), c, options);
}

template <class T>
auto enqueue_in(matrix_layout layout) {
  return layout == matrix_layout::right ? enqueue<T, Kokkos::LayoutRight> : enqueue<T, Kokkos::LayoutLeft>;
}

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
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    case_ = g;
    sets_ = operands.device;
    switch (g.type) {
      case data_type::f32:
        enqueue_ = enqueue_in<float>(g.layout);
        break;
      case data_type::f64:
        enqueue_ = enqueue_in<double>(g.layout);
        break;
      case data_type::i32:
        enqueue_ = enqueue_in<std::int32_t>(g.layout);
        break;
    }
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
