// Provider `blas`, and by name `openblas`, `blis`, `mkl`: any CBLAS, loaded while the program runs. A batch
// is a loop over it, but for `blas-batch`, which is its cblas_?gemm_batch_strided.
#include <chrono>

#include "provider.hpp"

namespace keramos::perf {
namespace {

class blas_provider : public gemm_provider {
 public:
  blas_provider(const std::string& name, const std::string& path, int threads)
      : batch_(name == "blas-batch"), library_(batch_ ? "blas" : name, path, threads) {
    if (batch_ && !library_.has_batches())
      throw unavailable_error(library_.libraries().front() + " has no cblas_sgemm_batch_strided");
  }

  provider_info info() const override {
    return {library_.name() + (batch_ ? "-batch" : ""), library_.version(), library_.libraries(),
            library_.threads(), true};
  }
  std::string cannot(const gemm_case& g) const override {
    return g.type == data_type::i32 ? "CBLAS has no integer product" : "";
  }
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    case_ = g;
    sets_ = operands.host;
  }
  double run(std::int64_t calls) override {
    const auto start = std::chrono::steady_clock::now();
    batch_ ? library_.gemm_batch(case_, sets_, calls) : library_.gemm(case_, sets_, calls);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  bool batch_;
  cblas_library library_;
  gemm_case case_;
  std::vector<operand_set> sets_;
};

}  // namespace

std::unique_ptr<gemm_provider> make_blas(const std::string& name, const std::string& path, int threads) {
  return std::make_unique<blas_provider>(name, path, threads);
}

}  // namespace keramos::perf
