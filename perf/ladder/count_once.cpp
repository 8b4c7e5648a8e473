// The run that is counted: one call of each step, in the order of the run that is timed.
#include <fmt/format.h>

#include <vector>

#include "command.hpp"
#include "commands/gemm/bench.hpp"
#include "counters.hpp"
#include "measure/core/cache_misses.hpp"
#include "measure/core/host.hpp"
#include "options.hpp"
#include "step.hpp"

namespace keramos::perf {
namespace {

constexpr double line_bytes = 64;

// What the caches held goes out for this, as in the timed run for other copies of the operands.
void fill_caches() {
  static std::vector<char> other(2 * cache_bytes());
  for (std::size_t i = 0; i < other.size(); i += std::size_t(line_bytes))
    static_cast<volatile char&>(other[i]) = 1;
}

void count_call(const gemm_case& g, const std::string& name, gemm_target& target, bool on_host,
                cache_miss_counter& misses) {
  double bytes = byte_counts::none;
  bool profiled = false;
  try {
    if (!target.cannot(g).empty()) return;
    target.prepare(g, 1, 1);
    if (on_host) {
      fill_caches();
    } else {
      target.run(1);  // so that what is allocated and loaded once is there
    }
    start_profiler();
    profiled = true;
    misses.begin();
    target.run(1);
    bytes = misses.end() * line_bytes;
  } catch (const std::exception&) {  // the timed run says why
  }
  if (!profiled) return;
  stop_profiler();
  fmt::print("{}", counted_line(counted_call(name, g), on_host ? bytes : byte_counts::none));
  std::fflush(stdout);
}

}  // namespace

int count_once(const ladder_options& options, int& argc, char** argv) {
  cache_miss_counter misses;  // before there are threads
  const auto bench = make_in_process_bench(options.choices(default_device_is_host()), argc, argv);
  const bool on_host = bench->device().is_host;
  for (auto g : options.cases(on_host)) {
    for (const auto op_b : {transpose::N, transpose::T}) {
      g.op_b = op_b;
      try {
        bench->begin(g, 1, 1);
        for (auto& slot : bench->slots()) {
          if (slot.target && (is_ladder_provider_name(slot.name) || op_b == transpose::N))
            count_call(g, slot.name, *slot.target, on_host, misses);
        }
      } catch (const std::exception&) {  // out of memory, say
      }
      bench->end();
    }
  }
  return 0;
}

}  // namespace keramos::perf
