// Each provider in a process of its own, all confined to the same CPUs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/cpus.hpp"
#include "gemm/bench.hpp"
#include "process.hpp"

namespace keramos::perf {
namespace {

using nlohmann::json;

class remote_target : public gemm_target {
 public:
  remote_target(worker_start start, shared_memory& memory) : start_(std::move(start)), memory_(memory) {
    restart();
  }

  provider_info info() const override { return info_; }
  std::string cannot(const gemm_case& g) override {
    if (!process_->is_alive()) restart();  // a case that killed it must not fail the next
    return process_->ask({{"do", "cannot"}, {"case", to_message(g)}});
  }
  void prepare(const gemm_case& g, std::int64_t sets, std::uint64_t seed) override {
    c_bytes_ = std::size_t(g.products()) * std::size_t(g.m) * std::size_t(g.n) * size_of(g.type);
    process_->ask({{"do", "prepare"}, {"case", to_message(g)}, {"sets", sets}, {"seed", seed}});
  }
  void pin() override { pinned_ = process_->ask({{"do", "pin"}}); }
  double run(std::int64_t calls) override { return process_->ask({{"do", "run"}, {"calls", calls}}); }
  product_of_calls product(std::int64_t calls) override {
    const double seconds = process_->ask({{"do", "product"}, {"calls", calls}});
    return {memory_.map(c_bytes_), seconds};
  }
  void release() override {
    memory_.clear();
    if (process_->is_alive()) process_->ask({{"do", "release"}});
  }
  double peak(data_type type) { return process_->ask({{"do", "peak"}, {"type", int(type)}}); }

 private:
  void restart() {
    process_.reset();
    process_ = std::make_unique<worker_process>(start_, memory_);
    try {
      info_ = info_from(process_->ask({{"do", "provider"}}));
    } catch (const unavailable_error&) {
      throw;
    } catch (const std::exception& error) {  // it died while it loaded the library
      throw unavailable_error(error.what());
    }
  }

  worker_start start_;
  shared_memory& memory_;
  std::unique_ptr<worker_process> process_;
  provider_info info_;
  std::size_t c_bytes_ = 0;
  bool pinned_ = false;
};

class worker_bench : public gemm_bench {
 public:
  worker_bench(const std::vector<provider_choice>& choices, int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      if (std::string(argv[i]).starts_with("--kokkos-")) kokkos_arguments_.push_back(argv[i]);
    }
    device_ = device_from(worker_process(start({}, 0), memory_).ask({{"do", "device"}}));
    cpus_ = choose_cpus(device_.threads);
    for (const auto& choice : choices) {
      add_slot(choice,
               [&] { return std::make_unique<remote_target>(start(choice, device_.threads), memory_); });
    }
  }

  ~worker_bench() override { slots().clear(); }  // they use the memory

  const device_description& device() const override { return device_; }
  // By a worker, on the CPUs where the others work.
  device_peak peak(data_type type) override {
    for (const auto& slot : slots()) {
      if (slot.target) return {static_cast<remote_target&>(*slot.target).peak(type), "measured"};
    }
    return {};
  }
  void describe(nlohmann::ordered_json& context) const override {
    context["processes"] = "one for each provider";
    context["cpus_used"] = join(cpus_);
  }
  void begin(const gemm_case& g, std::int64_t, std::uint64_t seed) override {
    data_ = std::make_unique<host_workspace>(g, 1, seed);
  }
  operand_set first_set() const override { return data_->operands().front(); }
  const void* initial_c() const override { return data_->initial_c(); }
  void end() override { data_.reset(); }

 private:
  worker_start start(const provider_choice& choice, int threads) const {
    worker_start s;
    s.arguments = {"worker", "--use-threads", std::to_string(threads)};
    if (!choice.name.empty()) s.arguments.insert(s.arguments.end(), {"--provider", choice.name});
    if (!choice.path.empty()) s.arguments.insert(s.arguments.end(), {"--path", choice.path});
    if (!choice.needs_kokkos) s.arguments.push_back("--no-kokkos");
    s.arguments.insert(s.arguments.end(), kokkos_arguments_.begin(), kokkos_arguments_.end());
    s.cpus = cpus_;
    // MKL loads its other halves by name.
    if (const auto slash = choice.path.rfind('/'); slash != std::string::npos) {
      s.library_folder = choice.path.substr(0, slash);
    }
    return s;
  }

  shared_memory memory_;
  std::vector<std::string> kokkos_arguments_;
  device_description device_;
  std::vector<int> cpus_;
  std::unique_ptr<host_workspace> data_;
};

}  // namespace

std::unique_ptr<gemm_bench> make_worker_bench(const std::vector<provider_choice>& choices, int argc,
                                              char** argv) {
  return std::make_unique<worker_bench>(choices, argc, argv);
}

}  // namespace keramos::perf
