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

// The calls of a case. Views and options are made once, as users have them.
class calls {
 public:
  virtual ~calls() = default;
  virtual void enqueue(std::int64_t count) const = 0;
};

template <class A, class B, class C, class Layout>
class single_calls : public calls {
  using memory = keramos::default_execution_space::memory_space;
  template <class T>
  using matrix = Kokkos::View<T**, Layout, memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  struct operands {
    matrix<const A> a;
    matrix<const B> b;
    matrix<C> c;
  };

 public:
  single_calls(const gemm_case& g, const std::vector<operand_set>& sets)
      : alpha_(alpha_of_sums(g)),
        beta_(g.beta),
        options_{.op_a = op_of(g.op_a), .op_b = op_of(g.op_b), .compute = compute_of(g.type)} {
    const bool a_plain = g.op_a == transpose::N, b_plain = g.op_b == transpose::N;
    for (const operand_set& set : sets)
      sets_.push_back(
          {matrix<const A>(static_cast<const A*>(set.a), a_plain ? g.m : g.k, a_plain ? g.k : g.m),
           matrix<const B>(static_cast<const B*>(set.b), b_plain ? g.k : g.n, b_plain ? g.n : g.k),
           matrix<C>(static_cast<C*>(set.c), g.m, g.n)});
  }
  void enqueue(std::int64_t count) const override {
    auto& q = machine_queue();
    in_turn(sets_, count,
            [&](const operands& x) { keramos::gemm(q, alpha_, x.a, x.b, beta_, x.c, options_); });
  }

 private:
  scalar_of<A, B, C> alpha_, beta_;
  gemm_options options_;
  std::vector<operands> sets_;
};

template <class A, class B, class C, class Layout>
class batched_calls : public calls {
  struct operands {
    batched_matrix_view<const A> a;
    batched_matrix_view<const B> b;
    batched_matrix_view<C> c;
  };

 public:
  batched_calls(const gemm_case& g, const std::vector<operand_set>& sets)
      : alpha_(alpha_of_sums(g)),
        beta_(g.beta),
        options_{.op_a = op_of(g.op_a), .op_b = op_of(g.op_b), .compute = compute_of(g.type)} {
    const auto batch = [&](auto* data, bool plain, index_t rows, index_t cols) {
      if (!plain) std::swap(rows, cols);
      using element = std::remove_pointer_t<decltype(data)>;
      const auto first = std::is_same_v<Layout, Kokkos::LayoutRight>
                             ? matrix_view<element>::row_major(data, rows, cols)
                             : matrix_view<element>::column_major(data, rows, cols);
      return batched_matrix_view<element>::strided(first, g.batch, rows * cols);
    };
    for (const operand_set& set : sets)
      sets_.push_back({batch(static_cast<const A*>(set.a), g.op_a == transpose::N, g.m, g.k),
                       batch(static_cast<const B*>(set.b), g.op_b == transpose::N, g.k, g.n),
                       batch(static_cast<C*>(set.c), true, g.m, g.n)});
  }
  void enqueue(std::int64_t count) const override {
    auto& q = machine_queue();
    in_turn(sets_, count,
            [&](const operands& x) { keramos::gemm_batched(q, alpha_, x.a, x.b, beta_, x.c, options_); });
  }

 private:
  scalar_of<A, B, C> alpha_, beta_;
  gemm_batched_options options_;
  std::vector<operands> sets_;
};

template <class A, class B, class C>
std::unique_ptr<calls> calls_of(const gemm_case& g, const std::vector<operand_set>& sets) {
  const auto in_layout = [&]<class Layout>(Layout) -> std::unique_ptr<calls> {
    if (g.batch > 0) return std::make_unique<batched_calls<A, B, C, Layout>>(g, sets);
    return std::make_unique<single_calls<A, B, C, Layout>>(g, sets);
  };
  return g.layout == matrix_layout::right ? in_layout(Kokkos::LayoutRight())
                                          : in_layout(Kokkos::LayoutLeft());
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
    calls_ = visit_type(g.type, [&](auto types) {
      using of = decltype(types);
      return calls_of<typename of::a, typename of::b, typename of::c>(g, operands.device);
    });
  }
  double run(std::int64_t count) override {
    return seconds_on_queue([&] { calls_->enqueue(count); });
  }

 private:
  std::unique_ptr<calls> calls_;
};

}  // namespace

std::unique_ptr<gemm_provider> make_keramos() { return std::make_unique<keramos_provider>(); }

}  // namespace keramos::perf
