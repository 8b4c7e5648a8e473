// Provider `cublas`: strict f32 (pedantic), and f64 in the default mode, whose tensor cores are IEEE f64 and
// faster than the pedantic mode's choice; on the default queue's stream.
#include <cublas_v2.h>

#include <utility>

#include "core/host.hpp"
#include "device/machine_queue.hpp"
#include "provider.hpp"

namespace keramos::perf {
namespace {

void require(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw unavailable_error(std::string(what) + ": " + cublasGetStatusString(status));
  }
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
            std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
                std::to_string(version % 100) + ", f32 CUBLAS_PEDANTIC_MATH, f64 CUBLAS_DEFAULT_MATH",
            loaded_libraries({"cublas", "libcudart"}), 0, false};
  }
  std::string cannot(const gemm_case& g) const override {
    return g.type == data_type::i32 ? "cuBLAS has no product of 32-bit integers" : "";
  }
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    const bool strict = g.type == data_type::f32;
    require(cublasSetMathMode(handle_, strict ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH),
            "cublasSetMathMode");
    case_ = g;
    sets_ = operands.device;
  }
  double run(std::int64_t calls) override {
    return seconds_on_queue([&] {
      for_sets_in_turn(sets_, calls, [&](const operand_set& set) {
        if (case_.type == data_type::f32) {
          case_.batch > 0 ? call_batch<float>(cublasSgemmStridedBatched, set) : call<float>(cublasSgemm, set);
        } else {
          case_.batch > 0 ? call_batch<double>(cublasDgemmStridedBatched, set)
                          : call<double>(cublasDgemm, set);
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

  // cuBLAS is column-major: a row-major C is the column-major C^T = op(B)^T op(A)^T.
  template <class T>
  struct column_major {
    cublasOperation_t op_a, op_b;
    int m, n, k;
    const T *a, *b;
    T* c;
    int lda, ldb;

    column_major(const gemm_case& g, const operand_set& set) {
      const auto op = [](transpose t) { return t == transpose::N ? CUBLAS_OP_N : CUBLAS_OP_T; };
      const bool right = g.layout == matrix_layout::right;
      op_a = op(g.op_a), op_b = op(g.op_b);
      m = static_cast<int>(g.m), n = static_cast<int>(g.n), k = static_cast<int>(g.k);
      a = static_cast<const T*>(set.a), b = static_cast<const T*>(set.b);
      c = static_cast<T*>(set.c);
      lda = right == (g.op_a == transpose::N) ? k : m;
      ldb = right == (g.op_b == transpose::N) ? n : k;
      if (!right) return;
      std::swap(op_a, op_b), std::swap(m, n), std::swap(a, b), std::swap(lda, ldb);
    }
  };

  template <class T>
  void call(function<T>* f, const operand_set& set) {
    const column_major<T> p(case_, set);
    const T alpha = static_cast<T>(case_.alpha), beta = static_cast<T>(case_.beta);
    require(f(handle_, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, p.a, p.lda, p.b, p.ldb, &beta, p.c, p.m),
            "cublas gemm");
  }
  template <class T>
  void call_batch(batched_function<T>* f, const operand_set& set) {
    const column_major<T> p(case_, set);
    const T alpha = static_cast<T>(case_.alpha), beta = static_cast<T>(case_.beta);
    const long long m = p.m, n = p.n, k = p.k;
    require(f(handle_, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, p.a, p.lda, m * k, p.b, p.ldb, k * n, &beta,
              p.c, p.m, m * n, static_cast<int>(case_.batch)),
            "cublas gemmStridedBatched");
  }

  cublasHandle_t handle_ = nullptr;
  gemm_case case_;
  std::vector<operand_set> sets_;
};

}  // namespace

std::unique_ptr<gemm_provider> make_cublas() { return std::make_unique<cublas_provider>(); }

}  // namespace keramos::perf
