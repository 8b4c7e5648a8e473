// Provider `blas`: any CBLAS, loaded while the program runs.
#include <chrono>

#include "core/parallel.hpp"
#include "provider.hpp"

namespace keramos::perf {
namespace {

class blas_provider : public gemm_provider {
 public:
  blas_provider(const std::string& path, int threads) : library_(path, threads) {}

  provider_info info() const override {
    return {"blas", library_.version(), library_.libraries(), library_.threads(), true};
  }
  std::string cannot(const gemm_case& g) const override {
    return g.type == data_type::i32 ? "CBLAS has no integer product" : "";
  }
  void prepare(const gemm_case& g, const gemm_operands& operands) override {
    case_ = g;
    sets_ = operands.host;
  }
  double run(std::int64_t calls) override {
    // A thread pinned by an OpenMP runtime would keep a BLAS that works on it on one core.
    const wide_affinity all_cpus;
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < calls; ++i) {
      const auto& set = sets_[i % sets_.size()];
      library_.gemm(case_, set.a, set.b, set.c);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  cblas_library library_;
  gemm_case case_;
  std::vector<operand_set> sets_;
};

}  // namespace

std::unique_ptr<gemm_provider> make_blas(const std::string& path, int threads) {
  return std::make_unique<blas_provider>(path, threads);
}

}  // namespace keramos::perf
