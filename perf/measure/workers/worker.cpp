#include "worker.hpp"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "measure/core/cpus.hpp"
#include "measure/core/host_peak.hpp"
#include "measure/core/parallel.hpp"
#include "protocol.hpp"

namespace keramos::perf {
namespace {

using nlohmann::json;

struct worker_options {
  provider_choice choice;
  int threads = 0;  // 0: only tell about the device
};

void copy_to_shared_memory(const void* data, std::size_t bytes) {
  if (ftruncate(worker_memory, off_t(bytes)) != 0)
    throw std::runtime_error("no shared memory for the result");
  void* const shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, worker_memory, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory for the result");
  std::memcpy(shared, data, bytes);
  munmap(shared, bytes);
}

// Of all threads of this process.
double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

class worker {
 public:
  worker(const worker_options& options, int& argc, char** argv) : options_(options), channel_(worker_socket) {
    // An OpenMP runtime may have pinned this thread; pools made from it would inherit that.
    if (!options.choice.needs_kokkos) sched_setaffinity(0, sizeof(cpu_set_t), &initial_affinity());
    if (options.choice.needs_kokkos) machine_ = std::make_unique<machine>(argc, argv);
  }

  int run() {
    json request;
    while (channel_.receive(request)) {
      json answer;
      try {
        answer["value"] = answer_to(request);
      } catch (const unavailable_error& error) {
        answer["unavailable"] = error.what();
      } catch (const std::exception& error) {
        answer["error"] = error.what();
      }
      if (!channel_.send(answer)) break;
    }
    provider_.reset();  // before Kokkos ends
    return 0;
  }

 private:
  json answer_to(const json& request) {
    const std::string what = request.at("do");
    if (what == "run") {
      const double start = cpu_seconds();
      const double seconds = provider_->run(request.at("calls"));
      cpu_of_run_ = cpu_seconds() - start;
      return seconds;
    }
    if (what == "cpu_of_run") return cpu_of_run_;
    if (what == "device") return to_message(machine_->device());
    if (what == "provider") {
      provider_ = make_provider(options_.choice, options_.threads, true);
      return to_message(provider_->info());
    }
    if (what == "peak") return measure_host_peak(data_type(request.at("type").get<int>()), options_.threads);
    if (what == "cannot") return provider_->cannot(case_from(request.at("case")));
    if (what == "prepare") return prepare(request);
    if (what == "pin") return pin_threads(cpus_of(initial_affinity()));
    if (what == "product") {
      data_->reset_c();
      const double seconds = provider_->run(request.at("calls"));
      copy_to_shared_memory(data_->c(), data_->c_bytes());
      return seconds;
    }
    if (what == "release") {
      data_.reset();
      return nullptr;
    }
    throw std::runtime_error("the worker does not know '" + what + "'");
  }

  json prepare(const json& request) {
    const auto g = case_from(request.at("case"));
    data_.reset();
    data_ = std::make_unique<host_workspace>(g, request.at("sets"), request.at("seed"));
    provider_->prepare(g, {data_->operands(), data_->operands()});
    return nullptr;
  }

  const worker_options& options_;
  line_channel channel_;
  std::unique_ptr<machine> machine_;
  std::unique_ptr<gemm_provider> provider_;
  std::unique_ptr<host_workspace> data_;
  double cpu_of_run_ = 0;
};

}  // namespace

void add_worker_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv) {
  auto options = std::make_shared<worker_options>();
  auto* sub = app.add_subcommand("worker", "")->group("");  // not for people
  // Old Kokkos reads --threads itself.
  sub->add_option("--provider", options->choice.name);
  sub->add_option("--path", options->choice.path);
  sub->add_flag("--loops", options->choice.loops);
  sub->add_option("--use-threads", options->threads);
  sub->add_flag("!--no-kokkos", options->choice.needs_kokkos);
  sub->callback([options, &command, &argc, argv] {
    command = [options, &argc, argv] {
      // Libraries that talk on the standard output would spoil the results there.
      dup2(STDERR_FILENO, STDOUT_FILENO);
      return worker(*options, argc, argv).run();
    };
  });
}

}  // namespace keramos::perf
