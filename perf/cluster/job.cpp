#include "job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "bind.hpp"
#include "commands/gemm/session.hpp"
#include "leader.hpp"
#include "measure/core/cpus.hpp"
#include "measure/core/host.hpp"
#include "measure/core/interrupt.hpp"
#include "measure/core/json.hpp"
#include "measure/core/parallel.hpp"

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;
using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

struct lost_leader : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What is known of rank 0, which may die or hang: then the others must not hold the allocation.
class watched_leader {
 public:
  explicit watched_leader(double timeout_s) : limit_(timeout_s) {}
  void said(const rank_message& message) {
    heard_ = clock::now();
    if (message.tag != job_tag::alive) return;
    const auto who = json::parse(message.text);
    name_ = fmt::format("rank 0 on {} (process {})", who.value("host", "?"), who.value("pid", 0));
  }
  void listen() { heard_ = clock::now(); }  // from now on its silence counts
  // It may take as long as this rank for what all do, and longer.
  void allow(seconds own) { limit_ = std::max(limit_, 5 * own); }
  void throw_if_silent() const {
    if (clock::now() - heard_ < limit_) return;
    throw lost_leader(
        fmt::format("no word from {} for {:.0f} s: it died or hangs, and the job ends; if it is "
                    "only slow, pass a larger --rank-timeout",
                    name_, limit_.count()));
  }

 private:
  seconds limit_;
  clock::time_point heard_;
  std::string name_ = "rank 0";
};

// The next message of rank 0 that is an order. Throws lost_leader, or the interruption.
rank_message next_order(communicator& ranks, watched_leader& leader) {
  leader.listen();
  for (rank_message message;;) {
    throw_if_interrupted();
    if (ranks.poll(message)) {
      leader.said(message);
      if (message.tag != job_tag::alive) return message;
    } else {
      leader.throw_if_silent();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
}

// A rank other than 0: measures what it is told to. Returns at the job's end.
void follow(communicator& ranks, const gemm_command_options& options, int& argc, char** argv) {
  const auto tell = [&](int tag, const json& what) { ranks.send(0, tag, to_text(what)); };
  watched_leader leader(options.rank_timeout_s);
  pulse pulse(options.rank_timeout_s);
  const auto beat = [&] {
    if (pulse.is_due()) tell(job_tag::alive, json::object());
  };
  try {
    const auto bound = bind_rank(ranks);
    gemm_session session(options, argc, argv);
    session.set_waiting(beat);
    tell(job_tag::hello, describe_rank(ranks, session.context(), bound));
    for (auto order = next_order(ranks, leader); order.tag == job_tag::measure;
         order = next_order(ranks, leader)) {
      const auto what = json::parse(order.text);
      const auto start = clock::now();
      const auto outcome = session.measure(what["case"], what["seed"], [&](const std::string&) { beat(); });
      leader.allow(clock::now() - start);
      tell(job_tag::rows, rows_message(outcome, what["case"]));
    }
  } catch (const lost_leader&) {
    throw;
  } catch (const std::exception& error) {
    tell(job_tag::bye, {{"reason", error.what()}, {"host", host_name()}});
    while (next_order(ranks, leader).tag != job_tag::end) {
    }
  }
}

[[noreturn]] void end_interrupted(communicator& ranks, int signal) {
  ranks.send(0, job_tag::bye,
             to_text({{"reason", fmt::format("interrupted by signal {}", signal)}, {"signal", true}}));
  // Long enough for the word to arrive; the launcher is about to end this process anyway.
  rank_message ignored;
  for (int i = 0; i < 50; ++i) {
    ranks.poll(ignored);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  _exit(128 + signal);
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
  if (context.value("device_is_host", false) && !rank.contains("cpus_used")) {
    rank["cpus_used"] = join(cpus_of(initial_affinity()));
  }
  rank["status"] = "running";
  return rank;
}

json rows_message(const gemm_session::case_outcome& outcome, std::size_t i) {
  json message;
  message["case"] = i;
  message["good"] = outcome.good;
  message["rows"] = json::array();
  for (const auto& r : outcome.rows) {
    message["rows"].push_back(to_row(r));
    if (r.status == outcome::mismatch || r.status == outcome::failed) {
      message["complaints"].push_back(r.status == outcome::failed
                                          ? fmt::format("{} FAILED: {}", r.provider, r.reason)
                                          : fmt::format("{} WRONG: {}", r.provider, r.trouble()));
    }
  }
  return message;
}

int run_job(communicator& ranks, const gemm_command_options& options, std::uint64_t seed, int& argc,
            char** argv) {
  int status = 1;
  try {
    if (ranks.rank() == 0) return job_leader(ranks, options, seed, argc, argv).run();
    follow(ranks, options, argc, argv);
    ranks.finish();
    return 0;
  } catch (const interruption& interrupted) {
    if (ranks.rank() != 0) end_interrupted(ranks, interrupted.signal);
    status = 128 + interrupted.signal;
  } catch (const usage_error& error) {
    fmt::print(stderr, "keramos-perf: {}\n", error.what());
    status = 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "keramos-perf: rank {} on {}: {}\n", ranks.rank(), host_name(), error.what());
  }
  ranks.abort(status);  // the others would wait
  return status;
}

}  // namespace keramos::perf
