#include "command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "bench.hpp"
#include "options.hpp"
#include "report/context.hpp"
#include "report/result.hpp"
#include "runner.hpp"

namespace keramos::perf {
namespace {

// One line on the terminal that says what is going on, and is gone when it is done.
class progress_line {
 public:
  void show(const std::string& text) const {
    if (on_) fmt::print(stderr, "\r\033[K{}", text);
    if (on_) std::fflush(stderr);
  }
  void clear() const { show(""); }

 private:
  bool on_ = isatty(STDERR_FILENO) != 0;
};

// The file holds what is done so far at any moment: a crash in a later case loses nothing.
void replace_file(const std::string& path, const std::string& content) {
  const auto part = path + ".part";
  {
    std::ofstream out(part, std::ios::binary);
    out << content;
    if (!out.flush()) throw std::runtime_error(fmt::format("{} cannot be written", path));
  }
  std::filesystem::rename(part, path);
}

class gemm_session {
 public:
  gemm_session(const gemm_command_options& options, int& argc, char** argv)
      : options_(options),
        command_line_(joined(argc, argv)),
        bench_(make_bench(options, argc, argv)),
        cases_(options.cases(bench_->device().is_host ? "256:2048:*2" : "1024:8192:*2")) {}

  int run() {
    tell_unavailable();
    progress_.show("measuring the device's peak");
    run_settings settings;
    settings.repetitions = options_.repetitions;
    settings.time_limit_s = options_.time_limit_s;
    settings.sets = options_.sets;
    settings.seed = options_.seed != 0 ? options_.seed : std::random_device{}() | 1u;
    context_ = std::make_unique<nlohmann::ordered_json>(
        make_context(*bench_, {"keramos-perf gemm", command_line_, settings.seed, options_.parsed_types()}));
    table_ = std::make_unique<result_table>(names(), context_->contains("peak_gflops"));
    progress_.clear();
    print_table(headline(*context_));
    save();
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const auto& g = cases_[i];
      settings.progress = [&](const std::string& what) {
        progress_.show(fmt::format("[{}/{}] {} {}{} {} {}x{}x{}  {}", i + 1, cases_.size(), name(g.type),
                                   name(g.op_a), name(g.op_b), name(g.layout), g.m, g.n, g.k, what));
      };
      measure(g, settings);
    }
    if (!table_is_shown()) fmt::print("{}", rendered(options_.format));
    return good_ ? 0 : 1;
  }

 private:
  static std::string joined(int argc, char** argv) {
    std::string line;
    for (int i = 0; i < argc; ++i) line += (i ? " " : "") + std::string(argv[i]);
    return line;
  }

  static std::unique_ptr<gemm_bench> make_bench(const gemm_command_options& options, int& argc, char** argv) {
    const bool on_host = default_device_is_host();
    const auto choices = options.choices(on_host);
    return on_host && !options.in_process ? make_worker_bench(choices, argc, argv)
                                          : make_in_process_bench(choices, argc, argv);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& s : bench_->slots()) {
      if (s.target || s.asked_for) all.push_back(s.name);
    }
    return all;
  }

  void tell_unavailable() const {
    for (const auto& s : bench_->slots()) {
      if (!s.target) fmt::print(stderr, "keramos-perf: no {}: {}\n", s.name, s.problem);
    }
  }

  void measure(const gemm_case& g, const run_settings& settings) {
    std::vector<gemm_result> rows;
    std::string failure;
    try {
      rows = run_case(g, *bench_, settings);
    } catch (const std::exception& error) {  // out of memory, say: the next case may fit
      failure = fmt::format("  FAILED: {}\n", error.what());
    }
    for (auto& r : rows) r.peak_fraction = r.timed() ? r.giga_rate() / peak_of(g.type) : 0;
    progress_.clear();
    print_table(table_->row(g, rows) + failure);
    good_ = good_ && failure.empty();
    for (auto& r : rows) {
      good_ = good_ && (r.status == outcome::verified || r.status == outcome::unavailable);
      results_.push_back(std::move(r));
    }
    save();
  }

  // In GFLOP/s; infinite where it is not known.
  double peak_of(data_type type) const {
    const auto peaks = context_->find("peak_gflops");
    const auto key = std::string(name(type));
    const bool known = peaks != context_->end() && peaks->contains(key);
    return known ? peaks->at(key).get<double>() : std::numeric_limits<double>::infinity();
  }

  // The table goes to the terminal, unless another format does.
  bool table_is_shown() const {
    return !options_.output.empty() || options_.format.empty() || options_.format == "table";
  }
  void print_table(const std::string& text) {
    table_text_ += text;
    if (table_is_shown()) fmt::print("{}", text);
    if (table_is_shown()) std::fflush(stdout);
  }

  std::string rendered(const std::string& format) const {
    if (format == "json") return to_json(*context_, results_);
    return format == "csv" ? to_csv(results_) : table_text_;
  }
  void save() const {
    if (!options_.output.empty()) replace_file(options_.output, rendered(options_.output_format()));
  }

  const gemm_command_options& options_;
  std::string command_line_;
  progress_line progress_;
  std::unique_ptr<gemm_bench> bench_;
  std::vector<gemm_case> cases_;
  std::unique_ptr<result_table> table_;
  std::unique_ptr<nlohmann::ordered_json> context_;
  std::vector<gemm_result> results_;
  std::string table_text_;
  bool good_ = true;
};

// What can be found wrong before anything is started.
void check_usage(const gemm_command_options& options) {
  options.check();
  options.cases("1");
  if (!options.output.empty()) {
    const auto folder = std::filesystem::absolute(options.output).parent_path();
    if (!std::filesystem::is_directory(folder)) {
      throw usage_error(fmt::format("--output {0}: there is no folder {1}: write mkdir -p {1} first",
                                    options.output, folder.string()));
    }
  }
}

}  // namespace

void add_gemm_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv) {
  auto options = std::make_shared<gemm_command_options>();
  auto* gemm = app.add_subcommand("gemm", "C <- alpha op(A) op(B) + beta C");
  options->add_to(*gemm);
  gemm->callback([options, &command, &argc, argv] {
    command = [options, &argc, argv] {
      check_usage(*options);
      return gemm_session(*options, argc, argv).run();
    };
  });
}

}  // namespace keramos::perf
