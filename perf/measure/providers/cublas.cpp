// Provider `cublas`, on the default queue's stream: strict f32 and c32 (pedantic), tf32 where it is asked for, f64 and
// c64 in the default mode, whose tensor cores are IEEE f64 and faster than the pedantic
// mode's choice, f32 and f64 so too where Keramos emulates them, and f16 and bf16 on tensor cores with all sums in f32.
// Lists of problems are cublasGemmGroupedBatchedEx, of provider `cublas-loop` a plain call for each problem.
#include "cublas.hpp"

#include <memory>
#include <vector>

#include "measure/core/host.hpp"
#include "measure/device/machine_queue.hpp"
#include "provider.hpp"

namespace keramos::perf {
namespace {

cublasMath_t mode_of(data_type type) {
  const auto multiplied = multiplied_type(type);
  if (multiplied == data_type::f32 || multiplied == data_type::f32_emulated) return CUBLAS_PEDANTIC_MATH;
  if (multiplied == data_type::f64 || multiplied == data_type::f64_emulated) return CUBLAS_DEFAULT_MATH;
  // Otherwise parts of k may be added in C's type.
  return cublasMath_t(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
}

struct address {  // a View's elements must not be pointers, nor of a private type with nvcc
  void* data;
};

// The addresses of a batch's matrices, in the device's memory.
class address_arrays {
 public:
  explicit address_arrays(const std::vector<column_major>& problems)
      : addresses_(Kokkos::view_alloc("keramos::perf", Kokkos::WithoutInitializing), 3 * problems.size()),
        count_(problems.size()) {
    const auto on_host = Kokkos::create_mirror_view(addresses_);
    for (std::size_t l = 0; l < count_; ++l) {
      on_host(l).data = const_cast<void*>(problems[l].a);
      on_host(count_ + l).data = const_cast<void*>(problems[l].b);
      on_host(2 * count_ + l).data = problems[l].c;
    }
    Kokkos::deep_copy(addresses_, on_host);
  }
  const void* const* a() const { return reinterpret_cast<const void* const*>(addresses_.data()); }
  const void* const* b() const { return a() + count_; }
  void* const* c() const { return reinterpret_cast<void* const*>(addresses_.data()) + 2 * count_; }

 private:
  Kokkos::View<address*, keramos::default_execution_space::memory_space> addresses_;
  std::size_t count_;
};

// The arguments of cublasGemmGroupedBatchedEx but for addresses: neighbours of the same extents are one group.
struct groups {
  std::vector<cublasOperation_t> op_a, op_b;
  std::vector<int> m, n, k, lda, ldb, ldc, sizes;
  std::vector<float> alpha_f32, beta_f32;
  std::vector<double> alpha_f64, beta_f64;

  groups(const gemm_case& g, const std::vector<column_major>& problems) {
    for (const auto& p : problems) {
      if (!m.empty() && m.back() == p.m && n.back() == p.n && k.back() == p.k) {
        ++sizes.back();
        continue;
      }
      op_a.push_back(p.op_a), op_b.push_back(p.op_b);
      m.push_back(p.m), n.push_back(p.n), k.push_back(p.k);
      lda.push_back(p.lda), ldb.push_back(p.ldb), ldc.push_back(p.m);
      sizes.push_back(1);
    }
    alpha_f32.assign(m.size(), float(g.alpha)), beta_f32.assign(m.size(), float(g.beta));
    alpha_f64.assign(m.size(), g.alpha), beta_f64.assign(m.size(), g.beta);
  }
  int count() const { return int(m.size()); }
};

// Types that cublasGemmGroupedBatchedEx multiplies.
bool has_grouped(data_type type) {
  return type == data_type::f32 || type == data_type::tf32 || type == data_type::f64 ||
         type == data_type::f16 || type == data_type::bf16 || type == data_type::f32_emulated ||
         type == data_type::f64_emulated;
}

// A set of operands and what is made of them before the measurement.
struct prepared_set {
  operand_set operands;
  std::vector<column_major> problems;         // of a list, those that have elements
  std::shared_ptr<address_arrays> addresses;  // of batches by addresses, and of lists
};

class cublas_provider : public gemm_provider {
 public:
  explicit cublas_provider(bool loops) : loops_(loops) {
    require(cublasCreate(&handle_), "cublasCreate");
    require(cublasSetStream(handle_, machine_queue().execution_space().cuda_stream()), "cublasSetStream");
  }
  ~cublas_provider() override { cublasDestroy(handle_); }
  cublas_provider(const cublas_provider&) = delete;
  cublas_provider& operator=(const cublas_provider&) = delete;

  provider_info info() const override {
    int version = 0;
    cublasGetVersion(handle_, &version);
    return {loops_ ? "cublas-loop" : "cublas",
            version_text(std::size_t(version)) +
                ", f32 and c32 CUBLAS_PEDANTIC_MATH, f64 and c64 CUBLAS_DEFAULT_MATH, f16 and bf16 "
                "CUBLAS_COMPUTE_32F",
            loaded_libraries({"cublas", "libcudart"}), 0, false};
  }
  std::string cannot(const gemm_case& g) const override {
    if (multiplied_type(g.type) == data_type::f8_f32) return "cuBLAS has no product of floats of eight bits";
    if (g.type == data_type::i8) return "cuBLAS has no C of eight bits: write cublaslt";
    if (g.form == batch_form::grouped && !loops_) {
#if CUBLAS_VERSION < 120500
      return "cuBLAS multiplies lists from 12.5 on: write cublas-loop";
#endif
      if (!has_grouped(g.type)) return "cuBLAS has no lists of such products: write cublas-loop";
    }
    return cublas_cannot(g);
  }
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    require(cublasSetMathMode(handle_, mode_of(g.type)), "cublasSetMathMode");
    case_ = g;
    groups_.reset();
    sets_.clear();
    const placed_problems places(g);
    for (const operand_set& set : operands.device) {
      auto& made = sets_.emplace_back(prepared_set{set, {}, nullptr});
      if (g.form == batch_form::strided) continue;
      for (std::int64_t l = 0; l < places.size(); ++l) {
        const auto place = places[l];
        if (place.extents.m > 0) made.problems.emplace_back(g, set, place);
      }
      if (g.form == batch_form::grouped && !groups_) groups_ = std::make_unique<groups>(g, made.problems);
      if (!loops_) made.addresses = std::make_shared<address_arrays>(made.problems);
      if (g.form == batch_form::pointers) made.problems.clear();
    }
  }
  double run(std::int64_t calls) override {
    return seconds_on_queue([&] {
      in_turn(sets_, calls, [&](const prepared_set& set) {
        if (case_.form == batch_form::pointers) return call_addresses(set);
        if (case_.form == batch_form::grouped && !loops_) return call_groups(set);
        if (case_.form == batch_form::grouped) {
          for (const auto& p : set.problems) call(p);
          return;
        }
        const column_major p(case_, set.operands);
        case_.batch > 0 ? call_batch(p) : call(p);
      });
    });
  }

 private:
  bool is_f32() const { return case_.type == data_type::f32 || case_.type == data_type::f32_emulated; }
  bool is_f64() const { return case_.type == data_type::f64 || case_.type == data_type::f64_emulated; }

  void call(const column_major& p) {
    if (is_f32()) {
      call_by<float>(cublasSgemm, p);
    } else if (is_f64()) {
      call_by<double>(cublasDgemm, p);
    } else {
      const auto t = cublas_types_of(case_.type);
      const cublas_scalar alpha(case_.alpha, t.scalar), beta(case_.beta, t.scalar);
      require(cublasGemmEx(handle_, p.op_a, p.op_b, p.m, p.n, p.k, alpha.address(), p.a, t.ab, p.lda, p.b,
                           t.ab, p.ldb, beta.address(), p.c, t.c, p.m, t.compute, CUBLAS_GEMM_DEFAULT),
              "cublasGemmEx");
    }
  }
  void call_batch(const column_major& p) {
    const long long m = p.m, n = p.n, k = p.k;
    if (is_f32()) {
      call_batch_by<float>(cublasSgemmStridedBatched, p);
    } else if (is_f64()) {
      call_batch_by<double>(cublasDgemmStridedBatched, p);
    } else {
      const auto t = cublas_types_of(case_.type);
      const cublas_scalar alpha(case_.alpha, t.scalar), beta(case_.beta, t.scalar);
      require(
          cublasGemmStridedBatchedEx(handle_, p.op_a, p.op_b, p.m, p.n, p.k, alpha.address(), p.a, t.ab,
                                     p.lda, m * k, p.b, t.ab, p.ldb, k * n, beta.address(), p.c, t.c, p.m,
                                     m * n, static_cast<int>(case_.batch), t.compute, CUBLAS_GEMM_DEFAULT),
          "cublasGemmStridedBatchedEx");
    }
  }
  void call_addresses(const prepared_set& set) {
    const column_major p(case_, set.operands);
    const auto& at = *set.addresses;
    if (is_f32()) {
      call_addresses_by<float>(cublasSgemmBatched, p, at);
    } else if (is_f64()) {
      call_addresses_by<double>(cublasDgemmBatched, p, at);
    } else {
      const auto t = cublas_types_of(case_.type);
      const cublas_scalar alpha(case_.alpha, t.scalar), beta(case_.beta, t.scalar);
      require(cublasGemmBatchedEx(handle_, p.op_a, p.op_b, p.m, p.n, p.k, alpha.address(), at.a(), t.ab,
                                  p.lda, at.b(), t.ab, p.ldb, beta.address(), at.c(), t.c, p.m,
                                  static_cast<int>(case_.batch), t.compute, CUBLAS_GEMM_DEFAULT),
              "cublasGemmBatchedEx");
    }
  }
  void call_groups([[maybe_unused]] const prepared_set& set) {
#if CUBLAS_VERSION >= 120500
    const auto t = cublas_types_of(case_.type);
    const auto& x = *groups_;
    const auto& at = *set.addresses;
    const auto as_read = [&](const std::vector<float>& f32, const std::vector<double>& f64) {
      return t.scalar == CUDA_R_64F ? static_cast<const void*>(f64.data()) : f32.data();
    };
    require(cublasGemmGroupedBatchedEx(handle_, x.op_a.data(), x.op_b.data(), x.m.data(), x.n.data(),
                                       x.k.data(), as_read(x.alpha_f32, x.alpha_f64), at.a(), t.ab,
                                       x.lda.data(), at.b(), t.ab, x.ldb.data(),
                                       as_read(x.beta_f32, x.beta_f64), at.c(), t.c, x.ldc.data(), x.count(),
                                       x.sizes.data(), is_f32() ? CUBLAS_COMPUTE_32F_PEDANTIC : t.compute),
            "cublasGemmGroupedBatchedEx");
#endif
  }

  template <class T>
  using function = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                  const T*, const T*, int, const T*, int, const T*, T*, int);
  template <class T>
  using batched_function = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                          const T*, const T*, int, long long, const T*, int, long long,
                                          const T*, T*, int, long long, int);
  template <class T>
  using addressed_function = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                            int, const T*, const T* const*, int, const T* const*, int,
                                            const T*, T* const*, int, int);

  template <class T>
  void call_by(function<T>* f, const column_major& p) {
    const T alpha = static_cast<T>(case_.alpha), beta = static_cast<T>(case_.beta);
    require(f(handle_, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, static_cast<const T*>(p.a), p.lda,
              static_cast<const T*>(p.b), p.ldb, &beta, static_cast<T*>(p.c), p.m),
            "cublas gemm");
  }
  template <class T>
  void call_batch_by(batched_function<T>* f, const column_major& p) {
    const T alpha = static_cast<T>(case_.alpha), beta = static_cast<T>(case_.beta);
    const long long m = p.m, n = p.n, k = p.k;
    require(f(handle_, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, static_cast<const T*>(p.a), p.lda, m * k,
              static_cast<const T*>(p.b), p.ldb, k * n, &beta, static_cast<T*>(p.c), p.m, m * n,
              static_cast<int>(case_.batch)),
            "cublas gemmStridedBatched");
  }
  template <class T>
  void call_addresses_by(addressed_function<T>* f, const column_major& p, const address_arrays& at) {
    const T alpha = static_cast<T>(case_.alpha), beta = static_cast<T>(case_.beta);
    require(f(handle_, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, reinterpret_cast<const T* const*>(at.a()),
              p.lda, reinterpret_cast<const T* const*>(at.b()), p.ldb, &beta,
              reinterpret_cast<T* const*>(at.c()), p.m, static_cast<int>(case_.batch)),
            "cublas gemmBatched");
  }

  bool loops_;
  cublasHandle_t handle_ = nullptr;
  gemm_case case_;
  std::vector<prepared_set> sets_;
  std::unique_ptr<groups> groups_;  // of a list
};

}  // namespace

std::unique_ptr<gemm_provider> make_cublas(bool loops) { return std::make_unique<cublas_provider>(loops); }

}  // namespace keramos::perf
