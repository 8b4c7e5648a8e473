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

// A, B and C of one of a case's problems, whose matrices begin there.
template <class A, class B, class C>
struct three_matrices {
  matrix_view<const A> a;
  matrix_view<const B> b;
  matrix_view<C> c;

  three_matrices(const gemm_case& g, const operand_set& set, const placed_problem& at)
      : a(view(g, static_cast<const A*>(set.a) + at.a, g.op_a, at.extents.m, at.extents.k)),
        b(view(g, static_cast<const B*>(set.b) + at.b, g.op_b, at.extents.k, at.extents.n)),
        c(view(g, static_cast<C*>(set.c) + at.c, transpose::N, at.extents.m, at.extents.n)) {}

 private:
  // Of X, where op(X) is rows x cols.
  template <class T>
  static matrix_view<T> view(const gemm_case& g, T* data, transpose op, index_t rows, index_t cols) {
    if (op != transpose::N) std::swap(rows, cols);
    return g.layout == matrix_layout::right ? matrix_view<T>::row_major(data, rows, cols)
                                            : matrix_view<T>::column_major(data, rows, cols);
  }
};

// Equally spaced matrices.
template <class T>
struct strided_operand {
  batched_matrix_view<T> view;

  strided_operand(const matrix_view<T>& first, index_t batch)
      : view(batched_matrix_view<T>::strided(first, batch, first.rows * first.cols)) {}
};

template <class T>
struct address {  // a View's elements must not be pointers, nor of a private type with nvcc
  T* data;
};

// The same by an array of their addresses. They are multiples of 16 bytes if the matrices' sizes are, as a caller who
// allocated them knows.
template <class T>
class addressed_operand {
 public:
  matrix_array<T> view;

  addressed_operand(const matrix_view<T>& first, index_t batch)
      : addresses_(Kokkos::view_alloc("keramos::perf", Kokkos::WithoutInitializing), std::size_t(batch)) {
    const index_t elements = first.rows * first.cols;
    const auto on_host = Kokkos::create_mirror_view(addresses_);
    for (index_t l = 0; l < batch; ++l) on_host(l).data = first.data + l * elements;
    Kokkos::deep_copy(addresses_, on_host);
    view = matrix_array<T>::from(reinterpret_cast<T* const*>(addresses_.data()), batch, first);
    if (std::size_t(elements) * sizeof(T) % 16 == 0) view.alignment = 16;
  }

 private:
  Kokkos::View<address<T>*, keramos::default_execution_space::memory_space> addresses_;
};

// Operand: strided_operand or addressed_operand.
template <class A, class B, class C, template <class> class Operand>
class batched_calls : public calls {
  struct operands {
    Operand<const A> a;
    Operand<const B> b;
    Operand<C> c;
  };

 public:
  batched_calls(const gemm_case& g, const std::vector<operand_set>& sets)
      : alpha_(alpha_of_sums(g)),
        beta_(g.beta),
        options_{.op_a = op_of(g.op_a), .op_b = op_of(g.op_b), .compute = compute_of(g.type)} {
    const auto first = placed_problems(g)[0];
    for (const operand_set& set : sets) {
      const three_matrices<A, B, C> x(g, set, first);
      sets_.push_back({{x.a, g.batch}, {x.b, g.batch}, {x.c, g.batch}});
    }
  }
  void enqueue(std::int64_t count) const override {
    auto& q = machine_queue();
    in_turn(sets_, count, [&](const operands& x) {
      keramos::gemm_batched(q, alpha_, x.a.view, x.b.view, beta_, x.c.view, options_);
    });
  }

 private:
  scalar_of<A, B, C> alpha_, beta_;
  gemm_batched_options options_;
  std::vector<operands> sets_;
};

// Lists, whose entries are made once too.
template <class A, class B, class C>
class grouped_calls : public calls {
  struct operands {
    std::vector<matrix_view<const A>> a;
    std::vector<matrix_view<const B>> b;
    std::vector<matrix_view<C>> c;
  };

 public:
  grouped_calls(const gemm_case& g, const std::vector<operand_set>& sets)
      : alpha_(alpha_of_sums(g)),
        beta_(g.beta),
        options_{.op_a = op_of(g.op_a), .op_b = op_of(g.op_b), .compute = compute_of(g.type)} {
    const placed_problems places(g);
    for (const operand_set& set : sets) {
      auto& lists = sets_.emplace_back();
      for (std::int64_t l = 0; l < places.size(); ++l) {
        const three_matrices<A, B, C> x(g, set, places[l]);
        lists.a.push_back(x.a), lists.b.push_back(x.b), lists.c.push_back(x.c);
      }
    }
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
  if (g.form == batch_form::grouped) return std::make_unique<grouped_calls<A, B, C>>(g, sets);
  if (g.form == batch_form::pointers)
    return std::make_unique<batched_calls<A, B, C, addressed_operand>>(g, sets);
  if (g.batch > 0) return std::make_unique<batched_calls<A, B, C, strided_operand>>(g, sets);
  if (g.layout == matrix_layout::right)
    return std::make_unique<single_calls<A, B, C, Kokkos::LayoutRight>>(g, sets);
  return std::make_unique<single_calls<A, B, C, Kokkos::LayoutLeft>>(g, sets);
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
