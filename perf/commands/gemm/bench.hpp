// Who is measured and where: all providers in this process (in_process.cpp; GPUs), or each in a worker
// process of its own (workers/; hosts), where each library has its own threads and affinity.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure/device/machine.hpp"
#include "measure/providers/provider.hpp"

namespace keramos::perf {

struct product_of_calls {
  const void* c = nullptr;  // on the host, valid until the target's next call
  double seconds = 0;       // of the calls
};

// A provider with data of its own. Everything may throw, which fails the case for this provider only.
class gemm_target {
 public:
  virtual ~gemm_target() = default;
  virtual provider_info info() const = 0;
  virtual std::string cannot(const gemm_case&) = 0;  // why not, in a few words; "" if it can
  virtual void prepare(const gemm_case&, std::int64_t sets, std::uint64_t seed) = 0;
  // Before its turn: whatever keeps the others' leftovers away from the measurement.
  virtual void take_turn() {}
  // After warming up: threads to CPUs.
  virtual void pin() {}
  virtual double run(std::int64_t calls) = 0;  // seconds, as gemm_provider::run
  // CPU time of the last run: on one CPU its seconds less those that other processes had. 0: not known, or on
  // several CPUs, where waiting threads spend it too.
  virtual double cpu_seconds() { return 0; }
  // `calls` products into C of the first set, which is reset before.
  virtual product_of_calls product(std::int64_t calls) = 0;
  virtual void release() {}  // the data of this case
};

// One row that results will have: a target, or why there is none.
struct target_slot {
  std::string name;
  bool asked_for = false;               // by name: then it gets rows even if unavailable
  std::unique_ptr<gemm_target> target;  // may be null
  std::string problem;                  // then one line that says why
};

class gemm_bench {
 public:
  virtual ~gemm_bench() = default;
  virtual const device_description& device() const = 0;
  virtual device_peak peak(data_type) = 0;
  virtual void describe(nlohmann::ordered_json& context) const = 0;  // adds how it measures
  // The data of the first set on the host, the same as the targets have; made for each case.
  virtual void begin(const gemm_case&, std::int64_t sets, std::uint64_t seed) = 0;
  virtual operand_set first_set() const = 0;
  virtual const void* initial_c() const = 0;
  virtual void end() = 0;

  std::vector<target_slot>& slots() { return slots_; }
  // Called some times a second while a provider's process is waited for.
  std::function<void()> waiting;

 protected:
  // Adds a slot for this choice, whose target `make` makes. A path that cannot be used is bad usage; a library that
  // hangs or dies while it is loaded gets rows that say so.
  template <class Make>
  void add_slot(const provider_choice& choice, const Make& make) {
    target_slot slot{choice.name, choice.asked_for, nullptr, {}};
    try {
      slot.target = make();
      slot.name = unique_name(slot.target->info().name);
    } catch (const unavailable_error& error) {
      slot.problem = error.what();
      if (!choice.path.empty()) throw bad_path(choice, slot.problem);
      if (choice.bonus) return;
    } catch (const std::exception& error) {
      slot.problem = error.what();
      slot.asked_for = true;
    }
    slots_.push_back(std::move(slot));
  }

 private:
  std::string unique_name(const std::string& name) const;
  static usage_error bad_path(const provider_choice& choice, const std::string& problem);

  std::vector<target_slot> slots_;
};

std::unique_ptr<gemm_bench> make_in_process_bench(const std::vector<provider_choice>& choices, int& argc,
                                                  char** argv);
// Hosts only. A provider that is silent for `timeout_s` longer than it may take is ended (workers/bench.cpp).
std::unique_ptr<gemm_bench> make_worker_bench(const std::vector<provider_choice>& choices, double timeout_s,
                                              int argc, char** argv);

}  // namespace keramos::perf
