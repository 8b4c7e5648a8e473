// Each provider in a process of its own, all confined to the same CPUs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/gemm/bench.hpp"
#include "measure/core/cpus.hpp"
#include "process.hpp"

namespace keramos::perf {
namespace {

using message = nlohmann::json;

// Nothing that is worth measuring is slower, on one thread.
constexpr double slowest_rate = 1e8;       // operations a second, of a first call
constexpr double slowest_data_rate = 1e8;  // bytes a second, of making a case's data
constexpr double slower_than_known = 20;   // a call may be, than those before

struct patience {
  double timeout_s;  // beyond what an answer may take
  const std::function<void()>& waiting;
};

class remote_target : public gemm_target {
 public:
  remote_target(worker_start start, shared_memory& memory, patience wait)
      : start_(std::move(start)), memory_(memory), wait_(wait) {
    restart();
  }

  provider_info info() const override { return info_; }
  std::string cannot(const gemm_case& g) override {
    if (!process_->is_alive()) restart();  // a case that killed it must not fail the next
    return ask({{"do", "cannot"}, {"case", to_message(g)}});
  }
  void prepare(const gemm_case& g, std::int64_t sets, std::uint64_t seed) override {
    c_bytes_ = g.c_bytes();
    call_may_take_s_ = g.operations() / (slowest_rate * std::max(1, info_.threads));
    ask({{"do", "prepare"}, {"case", to_message(g)}, {"sets", sets}, {"seed", seed}},
        double(sets) * g.traffic() / slowest_data_rate);
  }
  void pin() override { ask({{"do", "pin"}}); }
  double run(std::int64_t calls) override { return timed("run", calls); }
  double cpu_seconds() override {
    return start_.cpus.size() == 1 ? ask({{"do", "cpu_of_run"}}).get<double>() : 0;
  }
  product_of_calls product(std::int64_t calls) override {
    const double seconds = timed("product", calls);
    return {memory_.map(c_bytes_), seconds};
  }
  void release() override {
    memory_.clear();
    if (process_->is_alive()) ask({{"do", "release"}});
  }
  double peak(data_type type) { return ask({{"do", "peak"}, {"type", int(type)}}); }

 private:
  message ask(const message& request, double may_take_s = 0) {
    return process_->ask(request, wait_.timeout_s + may_take_s, wait_.waiting);
  }
  double timed(const char* what, std::int64_t calls) {
    const double seconds = ask({{"do", what}, {"calls", calls}}, double(calls) * call_may_take_s_);
    call_may_take_s_ = slower_than_known * seconds / double(calls);
    return seconds;
  }
  void restart() {
    process_.reset();
    process_ = std::make_unique<worker_process>(start_, memory_);
    info_ = info_from(ask({{"do", "provider"}}));
  }

  worker_start start_;
  shared_memory& memory_;
  patience wait_;
  std::unique_ptr<worker_process> process_;
  provider_info info_;
  std::size_t c_bytes_ = 0;
  double call_may_take_s_ = 0;  // for the case at hand
};

class worker_bench : public gemm_bench {
 public:
  worker_bench(const std::vector<provider_choice>& choices, double timeout_s, int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      if (std::string(argv[i]).starts_with("--kokkos-")) kokkos_arguments_.push_back(argv[i]);
    }
    device_ = device_from(worker_process(start({}, 0), memory_).ask({{"do", "device"}}, timeout_s));
    cpus_ = choose_cpus(device_.threads);
    for (const auto& choice : choices) {
      add_slot(choice, [&] {
        return std::make_unique<remote_target>(start(choice, device_.threads), memory_,
                                               patience{timeout_s, waiting});
      });
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
    if (choice.loops) s.arguments.push_back("--loops");
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

std::unique_ptr<gemm_bench> make_worker_bench(const std::vector<provider_choice>& choices, double timeout_s,
                                              int argc, char** argv) {
  return std::make_unique<worker_bench>(choices, timeout_s, argc, argv);
}

}  // namespace keramos::perf
