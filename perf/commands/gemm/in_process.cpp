// All providers in this process, on the same data.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "bench.hpp"
#include "measure/core/parallel.hpp"

namespace keramos::perf {
namespace {

class local_target : public gemm_target {
 public:
  local_target(std::unique_ptr<gemm_provider> provider, std::unique_ptr<workspace>& data)
      : provider_(std::move(provider)), data_(data) {}

  provider_info info() const override { return provider_->info(); }
  std::string cannot(const gemm_case& g) override { return provider_->cannot(g); }
  void prepare(const gemm_case& g, std::int64_t, std::uint64_t) override {
    provider_->prepare(g, data_->operands());
  }
  // Other providers' threads may still spin on the cores after their last call: OpenBLAS' do so for
  // 2^26 clock cycles, 20 to 30 ms.
  void take_turn() override {
    if (provider_->info().threads != 1) std::this_thread::sleep_for(std::chrono::milliseconds(40));
  }
  double run(std::int64_t calls) override {
    // A thread pinned by an OpenMP runtime would keep a BLAS that works on it on one core.
    std::optional<wide_affinity> all_cpus;
    if (provider_->info().on_host) all_cpus.emplace();
    return provider_->run(calls);
  }
  product_of_calls product(std::int64_t calls) override {
    const bool on_host = provider_->info().on_host;
    data_->reset_c(on_host);
    const double seconds = run(calls);
    return {data_->fetch_c(on_host), seconds};
  }

 private:
  std::unique_ptr<gemm_provider> provider_;
  std::unique_ptr<workspace>& data_;
};

class in_process_bench : public gemm_bench {
 public:
  in_process_bench(const std::vector<provider_choice>& choices, int& argc, char** argv)
      : machine_(argc, argv) {
    for (const auto& choice : choices) {
      add_slot(choice, [&] {
        return std::make_unique<local_target>(make_provider(choice, device().threads, device().is_host),
                                              data_);
      });
    }
  }
  ~in_process_bench() override { slots().clear(); }  // before Kokkos ends

  const device_description& device() const override { return machine_.device(); }
  device_peak peak(data_type type) override { return peak_of(type, device()); }
  void describe(nlohmann::ordered_json& context) const override { context["processes"] = "one for all"; }
  void begin(const gemm_case& g, std::int64_t sets, std::uint64_t seed) override {
    data_ = std::make_unique<workspace>(g, sets, seed);
  }
  operand_set first_set() const override { return data_->operands().host.front(); }
  const void* initial_c() const override { return data_->initial_c(); }
  void end() override { data_.reset(); }

 private:
  machine machine_;
  std::unique_ptr<workspace> data_;
};

}  // namespace

std::string gemm_bench::unique_name(const std::string& name) const {
  const auto is_taken = [&](const std::string& wanted) {
    return std::any_of(slots_.begin(), slots_.end(), [&](const target_slot& s) { return s.name == wanted; });
  };
  auto unique = name;
  for (int i = 2; is_taken(unique); ++i) unique = fmt::format("{}#{}", name, i);
  return unique;
}

usage_error gemm_bench::bad_path(const provider_choice& choice, const std::string& problem) {
  return usage_error(
      fmt::format("{0}={1}: {2}: write the path of a CBLAS library, such as that of libopenblas.so.0",
                  choice.name, choice.path, problem));
}

std::unique_ptr<gemm_bench> make_in_process_bench(const std::vector<provider_choice>& choices, int& argc,
                                                  char** argv) {
  return std::make_unique<in_process_bench>(choices, argc, argv);
}

}  // namespace keramos::perf
