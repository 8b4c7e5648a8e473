// Provider `cublaslt`: cublasLtMatmul on the default queue's stream, by the fastest of the algorithms that its heuristic
// names for the problem. They are timed in prepare(), before the measurement.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cublas.hpp"
#include "measure/core/host.hpp"
#include "measure/device/machine_queue.hpp"
#include "provider.hpp"

namespace keramos::perf {
namespace {

constexpr int most_candidates = 16;
constexpr std::size_t workspace_bytes = std::size_t(64) << 20;
constexpr double trial_s = 0.001;  // of a candidate, where one call is shorter

struct destroy {
  void operator()(cublasLtHandle_t x) const { cublasLtDestroy(x); }
  void operator()(cublasLtMatmulDesc_t x) const { cublasLtMatmulDescDestroy(x); }
  void operator()(cublasLtMatrixLayout_t x) const { cublasLtMatrixLayoutDestroy(x); }
  void operator()(cublasLtMatmulPreference_t x) const { cublasLtMatmulPreferenceDestroy(x); }
};
template <class Handle>
using owned = std::unique_ptr<std::remove_pointer_t<Handle>, destroy>;

owned<cublasLtMatrixLayout_t> layout_of(cudaDataType_t type, std::int64_t rows, std::int64_t cols,
                                        std::int64_t batch) {
  cublasLtMatrixLayout_t made = nullptr;
  require(cublasLtMatrixLayoutCreate(&made, type, std::uint64_t(rows), std::uint64_t(cols), rows),
          "cublasLtMatrixLayoutCreate");
  owned<cublasLtMatrixLayout_t> layout(made);
  if (batch > 0) {
    const auto count = static_cast<std::int32_t>(batch);
    const std::int64_t stride = rows * cols;
    require(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
            "CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT");
    require(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                             sizeof stride),
            "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET");
  }
  return layout;
}

struct device_memory {
  device_memory() {
    if (cudaMalloc(&data, workspace_bytes) != cudaSuccess) throw unavailable_error("no memory for cuBLASLt");
  }
  ~device_memory() { cudaFree(data); }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  void* data = nullptr;
};

struct candidates {
  cublasLtMatmulHeuristicResult_t found[most_candidates];
  int count = 0;
};

// One problem as cuBLASLt describes it.
class matmul {
 public:
  explicit matmul(const gemm_case& g)
      : case_(g),
        types_(cublas_types_of(g.type)),
        alpha_(alpha_of_sums(g), types_.scalar),
        beta_(g.beta, types_.scalar) {
    const column_major p(g, {});
    cublasLtMatmulDesc_t made = nullptr;
    require(cublasLtMatmulDescCreate(&made, types_.compute, types_.scalar), "cublasLtMatmulDescCreate");
    operation_.reset(made);
    require(cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_TRANSA, &p.op_a, sizeof p.op_a),
            "CUBLASLT_MATMUL_DESC_TRANSA");
    require(cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_TRANSB, &p.op_b, sizeof p.op_b),
            "CUBLASLT_MATMUL_DESC_TRANSB");
    const bool a_plain = p.op_a == CUBLAS_OP_N, b_plain = p.op_b == CUBLAS_OP_N;
    a_ = layout_of(types_.ab, a_plain ? p.m : p.k, a_plain ? p.k : p.m, g.batch);
    b_ = layout_of(types_.ab, b_plain ? p.k : p.n, b_plain ? p.n : p.k, g.batch);
    c_ = layout_of(types_.c, p.m, p.n, g.batch);
  }

  candidates algorithms(cublasLtHandle_t handle) const {
    cublasLtMatmulPreference_t made = nullptr;
    require(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    const owned<cublasLtMatmulPreference_t> preference(made);
    require(cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                 &workspace_bytes, sizeof workspace_bytes),
            "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES");
    // Parts of k are added in the type of sums, not in C's, which the other schemes do.
    const std::uint32_t reductions =
        types_.c == types_.scalar ? CUBLASLT_REDUCTION_SCHEME_MASK : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    require(cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                 &reductions, sizeof reductions),
            "CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK");
    candidates all;
    require(cublasLtMatmulAlgoGetHeuristic(handle, operation_.get(), a_.get(), b_.get(), c_.get(), c_.get(),
                                           made, most_candidates, all.found, &all.count),
            "cublasLtMatmulAlgoGetHeuristic");
    return all;
  }

  cublasStatus_t call(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm, void* memory,
                      cudaStream_t stream, const operand_set& set) const {
    const column_major p(case_, set);
    return cublasLtMatmul(handle, operation_.get(), alpha_.address(), p.a, a_.get(), p.b, b_.get(),
                          beta_.address(), p.c, c_.get(), p.c, c_.get(), &algorithm, memory, workspace_bytes,
                          stream);
  }

 private:
  gemm_case case_;
  cublas_types types_;
  cublas_scalar alpha_, beta_;
  owned<cublasLtMatmulDesc_t> operation_;
  owned<cublasLtMatrixLayout_t> a_, b_, c_;
};

class cublaslt_provider : public gemm_provider {
 public:
  cublaslt_provider() : stream_(machine_queue().execution_space().cuda_stream()) {
    cublasLtHandle_t made = nullptr;
    require(cublasLtCreate(&made), "cublasLtCreate");
    handle_.reset(made);
  }

  provider_info info() const override {
    return {"cublaslt",
            version_text(cublasLtGetVersion()) + ", the fastest of the heuristic's " +
                std::to_string(most_candidates) + ", f32 CUBLAS_COMPUTE_32F",
            loaded_libraries({"cublasLt", "libcudart"}), 0, false};
  }
  std::string cannot(const gemm_case& g) const override {
    if (g.form != batch_form::strided) return "it is measured with strided batches alone";
    if (multiplied_type(g.type) == data_type::f8_f32) {
      const column_major p(g, {});
      if (p.op_a == CUBLAS_OP_N || p.op_b != CUBLAS_OP_N || g.m % 16 != 0 || g.n % 16 != 0 || g.k % 16 != 0)
        return "cuBLASLt multiplies floats of eight bits where both operands lie along k and m, n and k are "
               "multiples of 16";
    }
    return cublas_cannot(g);
  }
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    sets_ = operands.device;
    problem_ = std::make_unique<matmul>(g);
    double least = 0;
    const auto all = problem_->algorithms(handle_.get());
    for (int i = 0; i < all.count; ++i) {
      if (all.found[i].state != CUBLAS_STATUS_SUCCESS) continue;
      const double seconds = trial(all.found[i].algo);
      if (seconds > 0 && (least == 0 || seconds < least)) least = seconds, algorithm_ = all.found[i].algo;
    }
    if (least == 0) throw unavailable_error("cuBLASLt's heuristic names no algorithm for this problem");
  }
  double run(std::int64_t calls) override {
    return seconds_on_queue([&] {
      in_turn(sets_, calls, [&](const operand_set& set) {
        require(problem_->call(handle_.get(), algorithm_, memory_.data, stream_, set), "cublasLtMatmul");
      });
    });
  }

 private:
  // Seconds of one call, warm; 0 if the algorithm refuses the problem after all.
  double trial(const cublasLtMatmulAlgo_t& algorithm) {
    const auto call = [&](const operand_set& set) {
      return problem_->call(handle_.get(), algorithm, memory_.data, stream_, set);
    };
    if (call(sets_.front()) != CUBLAS_STATUS_SUCCESS) return 0;
    const auto of = [&](std::int64_t calls) {
      return seconds_on_queue([&] { in_turn(sets_, calls, call); }) / double(calls);
    };
    const double one = of(1);
    return one >= trial_s ? one : of(std::clamp<std::int64_t>(std::int64_t(trial_s / one), 2, 100));
  }

  owned<cublasLtHandle_t> handle_;
  device_memory memory_;
  cudaStream_t stream_;
  std::unique_ptr<matmul> problem_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::vector<operand_set> sets_;
};

}  // namespace

std::unique_ptr<gemm_provider> make_cublaslt() { return std::make_unique<cublaslt_provider>(); }

}  // namespace keramos::perf
