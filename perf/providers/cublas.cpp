// Provider `cublas`: strict f32 (pedantic), and f64 in the default mode, whose tensor cores are IEEE f64 and
// faster than the pedantic mode's choice; on the default queue's stream.
#include <cublas_v2.h>

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
          call<float>(cublasSgemm, set);
        } else {
          call<double>(cublasDgemm, set);
        }
      });
    });
  }

 private:
  template <class T>
  using function = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                  const T*, const T*, int, const T*, int, const T*, T*, int);

  template <class T>
  void call(function<T>* f, const operand_set& set) {
    const auto& g = case_;
    const T alpha = static_cast<T>(g.alpha), beta = static_cast<T>(g.beta);
    const auto op_a = g.op_a == transpose::N ? CUBLAS_OP_N : CUBLAS_OP_T;
    const auto op_b = g.op_b == transpose::N ? CUBLAS_OP_N : CUBLAS_OP_T;
    const int m = static_cast<int>(g.m), n = static_cast<int>(g.n), k = static_cast<int>(g.k);
    const auto* a = static_cast<const T*>(set.a);
    const auto* b = static_cast<const T*>(set.b);
    auto* c = static_cast<T*>(set.c);
    const bool right = g.layout == matrix_layout::right;
    const int lda = right == (g.op_a == transpose::N) ? k : m;
    const int ldb = right == (g.op_b == transpose::N) ? n : k;
    // cuBLAS is column-major: a row-major C is the column-major C^T = op(B)^T op(A)^T.
    require(right ? f(handle_, op_b, op_a, n, m, k, &alpha, b, ldb, a, lda, &beta, c, n)
                  : f(handle_, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, m),
            "cublas gemm");
  }

  cublasHandle_t handle_ = nullptr;
  gemm_case case_;
  std::vector<operand_set> sets_;
};

}  // namespace

std::unique_ptr<gemm_provider> make_cublas() { return std::make_unique<cublas_provider>(); }

}  // namespace keramos::perf
