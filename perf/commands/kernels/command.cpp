#include "command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "commands/gemm/engine.hpp"
#include "family.hpp"
#include "measure/core/interrupt.hpp"
#include "measure/core/range.hpp"
#include "measure/core/statistics.hpp"
#include "measure/core/visit_type.hpp"
#include "measure/device/machine.hpp"
#include "report/context.hpp"
#include "report/output.hpp"
#include "report/progress.hpp"
#include "report/result.hpp"

namespace keramos::perf {
namespace {

const std::vector<std::string> all_kernels = {"transpose",      "stencil2d",      "stencil3d",  "reduce",
                                              "inclusive_scan", "exclusive_scan", "convolution"};

struct kernels_options {
  std::string kernels = "all", types = "f32,f64", sizes;
  int repetitions = 7;
  double time_limit_s = 10;
  std::uint64_t seed = 0;
  std::string format = "table", output;

  void add_to(CLI::App& app) {
    app.add_option("--kernel", kernels, fmt::format("any of {}", fmt::join(all_kernels, ",")))
        ->capture_default_str();
    app.add_option("--type", types, "any of " + names(basic_types))->capture_default_str();
    app.add_option(
        "--size", sizes,
        "elements of the input, about: 1000000, a list, or a range 65536:16777216:*4 (default: 2^27 "
        "on a GPU, 2^24 on a host)");
    app.add_option("--repetitions", repetitions, "timed repetitions of each case")->capture_default_str();
    app.add_option("--time-limit", time_limit_s,
                   "seconds for one provider's repetitions; 3 are made however long they take")
        ->capture_default_str();
    app.add_option("--seed", seed, "of the random data (default, and 0: a fresh one)");
    app.add_option("--format", format, "table, json or csv")->capture_default_str();
    app.add_option("--output", output,
                   "write the results to this file (JSON, or .csv), and the table to the terminal");
    app.footer(
        "Every result is compared element by element: exit status 1 if one is wrong.\n"
        "Examples:\n"
        "  keramos-perf kernels --kernel transpose,reduce --size 65536:16777216:*4\n"
        "  keramos-perf kernels --output kernels.json && keramos-perf roofline kernels.json");
  }

  std::vector<std::string> chosen_kernels() const {
    if (kernels == "all") return all_kernels;
    auto names = split_list(kernels);
    for (const auto& k : names) {
      if (std::find(all_kernels.begin(), all_kernels.end(), k) == all_kernels.end())
        throw usage_error(
            fmt::format("kernel '{}' is not known: write --kernel {}", k, fmt::join(all_kernels, ",")));
    }
    return names;
  }
  std::vector<data_type> chosen_types() const {
    std::vector<data_type> parsed;
    for (const auto& text : split_list(types)) parsed.push_back(parse_type(text, basic_types));
    return parsed;
  }
  std::vector<std::int64_t> chosen_sizes() const {
    return parse_range(!sizes.empty()             ? sizes
                       : default_device_is_host() ? "16777216"
                                                  : "134217728",
                       "--size");
  }
  void check() const {
    chosen_kernels(), chosen_types(), chosen_sizes();
    if (repetitions < 1) throw usage_error("--repetitions must be at least 1: write --repetitions 7");
    if (!(time_limit_s >= 0)) throw usage_error("--time-limit must be seconds: write --time-limit 10");
    if (format != "table" && format != "json" && format != "csv")
      throw usage_error(fmt::format("format '{}' is not known: write --format table, json or csv", format));
    check_output_file(output);
  }
};

template <class T>
std::unique_ptr<kernel_family> make_family(const std::string& kernel, std::int64_t elements,
                                           std::uint64_t seed) {
  if (kernel == "transpose") return make_transpose_family<T>(elements, seed);
  if (kernel == "stencil2d") return make_stencil_family<T>(2, elements, seed);
  if (kernel == "stencil3d") return make_stencil_family<T>(3, elements, seed);
  if (kernel == "reduce") return make_reduce_family<T>(elements, seed);
  if (kernel == "inclusive_scan") return make_scan_family<T>(true, elements, seed);
  if (kernel == "exclusive_scan") return make_scan_family<T>(false, elements, seed);
  return make_convolution_family<T>(elements, seed);
}

std::unique_ptr<kernel_family> make_family(const std::string& kernel, data_type type, std::int64_t elements,
                                           std::uint64_t seed) {
  return visit_type(type, [&](auto types) -> std::unique_ptr<kernel_family> {
    using T = typename decltype(types)::a;
    if constexpr (!std::is_arithmetic_v<T> || sizeof(T) < 4)
      return nullptr;  // chosen_types has none of those
    else
      return make_family<T>(kernel, elements, seed);
  });
}

class kernels_session {
 public:
  kernels_session(const kernels_options& options, int& argc, char** argv)
      : options_(options),
        command_line_(joined(argc, argv)),
        machine_(argc, argv),
        output_(options.format == "table" ? "" : options.format, options.output) {}

  int run() {
    const auto seed = options_.seed != 0 ? options_.seed : std::random_device{}() | 1u;
    output_.context = machine_context(machine_.device(), {"keramos-perf kernels", command_line_, seed, {}});
    output_.print(fmt::format(
        "{} on {}, Kokkos {}, revision {}, seed {}\n"
        "GB/s: bytes that must be moved at least, by the median; of copy: part of the copy's rate "
        "in this run\n\n",
        machine_.device().backend, machine_.device().name, machine_.device().kokkos_version,
        output_.context["git_revision"].get<std::string>(), seed));
    output_.print(fmt::format("{:15} {:4} {:>16}  {:9} {:>9} {:>7} {:>8}\n", "kernel", "type", "shape",
                              "provider", "GB/s", "spread", "of copy"));
    output_.save();
    try {
      measure_all(seed);
      output_.finish();
    } catch (interruption& interrupted) {
      progress_.clear();
      output_.finish(fmt::format("interrupted by signal {}; the cases before are here", interrupted.signal));
      interrupted.told = true;
      throw;
    }
    return good_ ? 0 : 1;
  }

 private:
  static std::string joined(int argc, char** argv) {
    std::string line;
    for (int i = 0; i < argc; ++i) line += (i ? " " : "") + std::string(argv[i]);
    return line;
  }

  void measure_all(std::uint64_t seed) {
    const auto kernels = options_.chosen_kernels();
    const auto types = options_.chosen_types();
    const auto sizes = options_.chosen_sizes();
    std::vector<double> costs;
    for (std::size_t i = 0; i < kernels.size() * types.size(); ++i)
      costs.insert(costs.end(), sizes.begin(), sizes.end());
    time_left left(costs);
    for (const auto& kernel : kernels) {
      for (const auto type : types) {
        for (const auto size : sizes) {
          throw_if_interrupted();
          progress_.show(fmt::format("{} {} {}  {}", kernel, name(type), size, left.text()));
          measure(kernel, type, size, seed);
          left.part_done();
          output_.save();
        }
      }
    }
  }

  void measure(const std::string& kernel, data_type type, std::int64_t size, std::uint64_t seed) {
    const auto family = make_family(kernel, type, size, seed);
    std::vector<timed_subject> subjects;
    for (const auto& provider : family->providers()) {
      timed_subject s;
      s.name = provider;
      s.run = [&family, provider](std::int64_t calls) { return family->run(provider, calls); };
      s.before = [](int) {};
      family->run(provider, 1);
      const double once = family->run(provider, 3) / 3;
      s.calls = std::clamp<std::int64_t>(std::int64_t(0.02 / std::max(once, 1e-9)), 1, 10'000);
      s.repetitions = repetitions_within(options_.time_limit_s, double(s.calls) * once, options_.repetitions);
      subjects.push_back(std::move(s));
    }
    time_interleaved(subjects);
    progress_.clear();

    std::vector<summary> seconds;
    double copy_rate = 0;
    for (const auto& s : subjects) {
      seconds.push_back(summarize(s.seconds));
      if (s.name == "copy") copy_rate = family->bytes_of("copy") / seconds.back().median;
    }
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      const auto& s = subjects[i];
      const auto wrong = s.failure.empty() ? family->verify(s.name) : s.failure;
      const double rate = family->bytes_of(s.name) / seconds[i].median;
      good_ = good_ && wrong.empty();
      output_.print(fmt::format("{:15} {:4} {:>16}  {:9} {:9.1f} {:6.1f}% {:7.1f}%{}\n", i ? "" : kernel,
                                i ? "" : name(type), i ? "" : family->shape(), s.name, rate * 1e-9,
                                100 * seconds[i].iqr / seconds[i].median, 100 * rate / copy_rate,
                                wrong.empty() ? "" : "  WRONG: " + wrong));
      nlohmann::ordered_json row{{"kernel", kernel},
                                 {"type", name(type)},
                                 {"shape", family->shape()},
                                 {"provider", s.name},
                                 {"repetitions", seconds[i].count},
                                 {"median_s", seconds[i].median},
                                 {"min_s", seconds[i].min},
                                 {"iqr_s", seconds[i].iqr},
                                 {"samples_s", s.seconds},
                                 {"bytes", family->bytes_of(s.name)},
                                 {"gbytes_per_s", rate * 1e-9},
                                 {"copy_fraction", rate / copy_rate},
                                 {"verified", wrong.empty()}};
      if (!wrong.empty()) row["status"] = name(s.failure.empty() ? outcome::mismatch : outcome::failed);
      if (!wrong.empty()) row["reason"] = wrong;
      if (!s.failure.empty()) row["verified"] = nullptr;
      output_.add(std::move(row));
    }
  }

  const kernels_options& options_;
  std::string command_line_;
  machine machine_;
  run_output output_;
  progress_line progress_;
  bool good_ = true;
};

}  // namespace

void add_kernels_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv) {
  auto options = std::make_shared<kernels_options>();
  auto* kernels = app.add_subcommand(
      "kernels", "transpose, stencils, reduce, scans, convolution against the bandwidth of a copy");
  options->add_to(*kernels);
  kernels->callback([options, &command, &argc, argv] {
    command = [options, &argc, argv] {
      options->check();
      note_interrupts();
      return kernels_session(*options, argc, argv).run();
    };
  });
}

}  // namespace keramos::perf
