#include "job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "bind.hpp"
#include "core/host.hpp"
#include "core/interrupt.hpp"
#include "gemm/session.hpp"
#include "leader.hpp"

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;

// A rank other than 0: measures what it is told to.
int follow(communicator& ranks, const gemm_command_options& options, int& argc, char** argv) {
  const auto tell = [&](int tag, const json& what) { ranks.send(0, tag, what.dump()); };
  try {
    const auto bound = bind_rank(ranks);
    gemm_session session(options, argc, argv);
    tell(job_tag::hello, describe_rank(ranks, session.context(), bound));
    for (rank_message message;;) {
      throw_if_interrupted();
      if (!ranks.poll(message)) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        continue;
      }
      if (message.tag != job_tag::measure) break;
      const auto order = json::parse(message.text);
      const auto outcome = session.measure(order["case"], order["seed"], [](const std::string&) {});
      tell(job_tag::rows, rows_message(outcome, order["case"]));
    }
    ranks.finish();
    return 0;
  } catch (const interruption& interrupted) {
    tell(job_tag::bye,
         {{"reason", fmt::format("interrupted by signal {}", interrupted.signal)}, {"signal", true}});
    // Long enough for the word to arrive; the launcher is about to end this process anyway.
    rank_message ignored;
    for (int i = 0; i < 50; ++i) {
      ranks.poll(ignored);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    _exit(128 + interrupted.signal);
  } catch (const std::exception& error) {
    tell(job_tag::bye, {{"reason", error.what()}, {"host", host_name()}});
    ranks.finish();
    return 1;
  }
}

}  // namespace

json describe_rank(const communicator& ranks, const json& context, const std::string& bound) {
  json rank;
  rank["rank"] = ranks.rank();
  rank["host"] = host_name();
  rank["pid"] = getpid();
  rank["local_rank"] = ranks.local_rank();
  rank["bound"] = bound;
  for (const char* key : {"device", "backend", "threads", "gpu_pci_bus_id", "cpus_used", "peak_gflops"}) {
    if (context.contains(key)) rank[key] = context[key];
  }
  rank["status"] = "running";
  return rank;
}

json rows_message(const gemm_session::case_outcome& outcome, std::size_t i) {
  json message;
  message["case"] = i;
  message["good"] = outcome.good();
  message["failure"] = outcome.failure;
  message["rows"] = json::array();
  for (const auto& r : outcome.rows) {
    message["rows"].push_back(to_row(r));
    if (r.status == outcome::mismatch || r.status == outcome::failed) {
      message["complaints"].push_back(r.status == outcome::failed
                                          ? fmt::format("{} FAILED: {}", r.provider, r.reason)
                                          : fmt::format("{} WRONG: {}", r.provider, r.check.where));
    }
  }
  return message;
}

int run_job(communicator& ranks, const gemm_command_options& options, std::uint64_t seed, int& argc,
            char** argv) {
  if (ranks.rank() != 0) return follow(ranks, options, argc, argv);
  return job_leader(ranks, options, seed, argc, argv).run();
}

}  // namespace keramos::perf
