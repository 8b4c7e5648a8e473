#include "session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "report/context.hpp"
#include "runner.hpp"

namespace keramos::perf {
namespace {

std::unique_ptr<gemm_bench> make_bench(const gemm_command_options& options, int& argc, char** argv) {
  const bool on_host = default_device_is_host();
  const auto choices = options.choices(on_host);
  return on_host && !options.in_process ? make_worker_bench(choices, options.provider_timeout_s, argc, argv)
                                        : make_in_process_bench(choices, argc, argv);
}

}  // namespace

gemm_session::gemm_session(const gemm_command_options& options, int& argc, char** argv) : options_(options) {
  const auto command_line =
      fmt::format("{}", fmt::join(argv, argv + argc, " "));  // Kokkos takes its own arguments away
  bench_ = make_bench(options, argc, argv);
  const char* const sizes = options.batched            ? "4:128:*2"
                            : bench_->device().is_host ? "256:2048:*2"
                                                       : "1024:8192:*2";
  // Of all three operands of a batch: nothing of one call is in the cache for the next.
  const double batch_bytes = std::max(8.0 * double(device_cache_bytes()), 64e6);
  cases_ = options.cases(sizes, batch_bytes);
  const char* const tool = options.batched ? "keramos-perf batched" : "keramos-perf gemm";
  context_ = make_context(*bench_, {tool, command_line, 0, options.parsed_types()});
}

std::vector<std::string> gemm_session::providers() const {
  std::vector<std::string> all;
  for (const auto& s : bench_->slots()) {
    if (s.target || s.asked_for) all.push_back(s.name);
  }
  return all;
}

std::vector<std::string> gemm_session::unavailable() const {
  std::vector<std::string> all;
  for (const auto& s : bench_->slots()) {
    if (!s.target) all.push_back(fmt::format("no {}: {}", s.name, s.problem));
  }
  return all;
}

bool gemm_session::has_all() const {
  const auto& slots = bench_->slots();
  return std::all_of(slots.begin(), slots.end(), [](const auto& s) { return s.target || !s.asked_for; });
}

double gemm_session::peak_of(data_type type) const {
  const auto peaks = context_.find("peak_gflops");
  const auto key = std::string(name(type));
  const bool known = peaks != context_.end() && peaks->contains(key);
  return known ? peaks->at(key).get<double>() : std::numeric_limits<double>::infinity();
}

std::vector<double> gemm_session::costs() const {
  std::vector<double> all;
  for (const auto& g : cases_) {
    const double peak = peak_of(g.type);
    const double rate = peak < 1e9 ? 0.3e9 * peak : 1e12;
    const double repetition = 0.03 + g.operations() / rate;
    const double verification = std::min(g.operations(), 3e8) * 1e-9 + g.traffic() * 5e-9;
    all.push_back(double(providers().size()) * (options_.repetitions + 3) * repetition + verification);
  }
  return all;
}

std::string gemm_session::title(std::size_t i) const {
  const auto& g = cases_[i];
  const auto up_to = g.form == batch_form::grouped ? " up to" : "";
  const auto count = g.batch > 0 ? fmt::format(" {} of{}", g.batch, up_to) : "";
  return fmt::format("[{}/{}] {} {}{} {}{} {}x{}x{}", i + 1, cases_.size(), name(g.type), name(g.op_a),
                     name(g.op_b), name(g.layout), count, g.m, g.n, g.k);
}

gemm_session::case_outcome gemm_session::measure(std::size_t i, std::uint64_t seed,
                                                 const std::function<void(const std::string&)>& progress) {
  run_settings settings;
  settings.repetitions = options_.repetitions;
  settings.time_limit_s = options_.time_limit_s;
  settings.sets = options_.sets;
  settings.seed = seed;
  settings.progress = progress;
  case_outcome result{run_case(cases_[i], *bench_, settings)};
  for (const auto& r : result.rows)
    result.good = result.good && (r.status == outcome::verified || r.status == outcome::unavailable);
  result.good = result.good && has_all();
  for (auto& r : result.rows) r.peak_fraction = r.timed() ? r.giga_rate() / peak_of(cases_[i].type) : 0;
  return result;
}

}  // namespace keramos::perf
