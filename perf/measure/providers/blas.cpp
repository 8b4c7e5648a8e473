// Provider `blas`, and by name `openblas`, `blis`, `mkl`: any CBLAS, loaded while the program runs. A batch
// is a loop over it, but for `blas-batch`, which is its cblas_?gemm_batch_strided. For lists of problems the name
// of the loop ends with "-loop".
#include <chrono>

#include "provider.hpp"

namespace keramos::perf {
namespace {

class blas_provider : public gemm_provider {
 public:
  blas_provider(const provider_choice& choice, int threads)
      : batch_(choice.name == "blas-batch"),
        loops_(choice.loops),
        library_(batch_ ? "blas" : choice.name, choice.path, threads) {
    if (batch_ && !library_.has_batches(data_type::f32))
      throw unavailable_error(library_.libraries().front() + " has no cblas_sgemm_batch_strided");
  }

  provider_info info() const override {
    return {library_.name() + (batch_   ? "-batch"
                               : loops_ ? "-loop"
                                        : ""),
            library_.version(), library_.libraries(), library_.threads(), true};
  }
  std::string cannot(const gemm_case& g) const override {
    if (batch_ && g.form != batch_form::strided) return "it is measured with strided batches alone";
    if (batch_ ? library_.has_batches(g.type) : library_.has(g.type)) return "";
    const auto functions = cblas_functions(g.type);
    const std::string type(name(g.type));
    if (batch_ || functions.empty()) return "CBLAS has no product of " + type + (batch_ ? " in batches" : "");
    return library_.libraries().front() + " has none of " + functions;
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
  bool batch_, loops_;
  cblas_library library_;
  gemm_case case_;
  std::vector<operand_set> sets_;
};

}  // namespace

std::unique_ptr<gemm_provider> make_blas(const provider_choice& choice, int threads) {
  return std::make_unique<blas_provider>(choice, threads);
}

}  // namespace keramos::perf
