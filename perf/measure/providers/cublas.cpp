// Provider `cublas`, on the default queue's stream: strict f32 and c32 (pedantic), tf32 where it is asked for, f64 and
// c64 in the default mode, whose tensor cores are IEEE f64 and faster than the pedantic
// mode's choice, f32 and f64 so too where Keramos emulates them, and f16 and bf16 on tensor cores with all sums in f32.
#include "cublas.hpp"

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

class cublas_provider : public gemm_provider {
 public:
  cublas_provider() {
    require(cublasCreate(&handle_), "cublasCreate");
    require(cublasSetStream(handle_, machine_queue().execution_space().cuda_stream()), "cublasSetStream");
  }
  ~cublas_provider() override { cublasDestroy(handle_); }
  cublas_provider(const cublas_provider&) = delete;
  cublas_provider& operator=(const cublas_provider&) = delete;

  provider_info info() const override {
    int version = 0;
    cublasGetVersion(handle_, &version);
    return {"cublas",
            version_text(std::size_t(version)) +
                ", f32 and c32 CUBLAS_PEDANTIC_MATH, f64 and c64 CUBLAS_DEFAULT_MATH, f16 and bf16 "
                "CUBLAS_COMPUTE_32F",
            loaded_libraries({"cublas", "libcudart"}), 0, false};
  }
  std::string cannot(const gemm_case& g) const override {
    if (multiplied_type(g.type) == data_type::f8_f32) return "cuBLAS has no product of floats of eight bits";
    if (g.type == data_type::i8) return "cuBLAS has no C of eight bits: write cublaslt";
    return cublas_cannot(g);
  }
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    require(cublasSetMathMode(handle_, mode_of(g.type)), "cublasSetMathMode");
    case_ = g;
    sets_ = operands.device;
  }
  double run(std::int64_t calls) override {
    return seconds_on_queue([&] {
      in_turn(sets_, calls, [&](const operand_set& set) {
        if (case_.type == data_type::f32 || case_.type == data_type::f32_emulated) {
          case_.batch > 0 ? call_batch<float>(cublasSgemmStridedBatched, set) : call<float>(cublasSgemm, set);
        } else if (case_.type == data_type::f64 || case_.type == data_type::f64_emulated) {
          case_.batch > 0 ? call_batch<double>(cublasDgemmStridedBatched, set)
                          : call<double>(cublasDgemm, set);
        } else {
          call_by_types(set);
        }
      });
    });
  }

 private:
  template <class T>
  using function = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                  const T*, const T*, int, const T*, int, const T*, T*, int);

  template <class T>
  using batched_function = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                          const T*, const T*, int, long long, const T*, int, long long,
                                          const T*, T*, int, long long, int);

  template <class T>
  void call(function<T>* f, const operand_set& set) {
    const column_major p(case_, set);
    const T alpha = static_cast<T>(case_.alpha), beta = static_cast<T>(case_.beta);
    require(f(handle_, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, static_cast<const T*>(p.a), p.lda,
              static_cast<const T*>(p.b), p.ldb, &beta, static_cast<T*>(p.c), p.m),
            "cublas gemm");
  }
  template <class T>
  void call_batch(batched_function<T>* f, const operand_set& set) {
    const column_major p(case_, set);
    const T alpha = static_cast<T>(case_.alpha), beta = static_cast<T>(case_.beta);
    const long long m = p.m, n = p.n, k = p.k;
    require(f(handle_, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, static_cast<const T*>(p.a), p.lda, m * k,
              static_cast<const T*>(p.b), p.ldb, k * n, &beta, static_cast<T*>(p.c), p.m, m * n,
              static_cast<int>(case_.batch)),
            "cublas gemmStridedBatched");
  }
  void call_by_types(const operand_set& set) {
    const column_major p(case_, set);
    const auto t = cublas_types_of(case_.type);
    const cublas_scalar alpha(case_.alpha, t.scalar), beta(case_.beta, t.scalar);
    if (case_.batch == 0) {
      require(cublasGemmEx(handle_, p.op_a, p.op_b, p.m, p.n, p.k, alpha.address(), p.a, t.ab, p.lda, p.b,
                           t.ab, p.ldb, beta.address(), p.c, t.c, p.m, t.compute, CUBLAS_GEMM_DEFAULT),
              "cublasGemmEx");
      return;
    }
    const long long m = p.m, n = p.n, k = p.k;
    require(cublasGemmStridedBatchedEx(handle_, p.op_a, p.op_b, p.m, p.n, p.k, alpha.address(), p.a, t.ab,
                                       p.lda, m * k, p.b, t.ab, p.ldb, k * n, beta.address(), p.c, t.c, p.m,
                                       m * n, static_cast<int>(case_.batch), t.compute, CUBLAS_GEMM_DEFAULT),
            "cublasGemmStridedBatchedEx");
  }

  cublasHandle_t handle_ = nullptr;
  gemm_case case_;
  std::vector<operand_set> sets_;
};

}  // namespace

std::unique_ptr<gemm_provider> make_cublas() { return std::make_unique<cublas_provider>(); }

}  // namespace keramos::perf
