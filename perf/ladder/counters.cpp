#include "counters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "measure/core/cache_misses.hpp"
#include "measure/core/host.hpp"
#include "measure/core/program.hpp"

namespace keramos::perf {
namespace {

// Names that Nsight Compute has on compute capability 7.0 to 9.0. Of L2 what the L1 caches ask for and write,
// without the traffic between L2's own parts, which lts__t_bytes has too.
constexpr const char* metrics[] = {"dram__bytes_read.sum", "dram__bytes_write.sum",
                                   "lts__t_sectors_srcunit_tex.sum"};
constexpr const char* launch_metrics[] = {
    "launch__grid_size", "launch__block_size", "launch__registers_per_thread",
    "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic"};
constexpr double byte_counts::*members[] = {&byte_counts::dram_read, &byte_counts::dram_write,
                                            &byte_counts::l2};

std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && inside && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      inside = !inside;
    } else if (line[i] == ',' && !inside) {
      fields.emplace_back();
    } else if (line[i] != '\r') {
      fields.back() += line[i];
    }
  }
  return fields;
}

// Bytes of one; NaN for a unit that nobody expects, so that nothing is guessed.
double bytes_of_unit(const std::string& unit) {
  if (unit == "sector") return 32;
  double bytes = 1;
  for (const char* known : {"byte", "Kbyte", "Mbyte", "Gbyte", "Tbyte"}) {
    if (unit == known) return bytes;
    bytes *= 1000;
  }
  return byte_counts::none;
}

double number(std::string text) {
  std::erase(text, ',');  // of thousands
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : byte_counts::none;  // "n/a", say
}

// The sums of each call's kernels, in order.
class ncu_table {
 public:
  void read(const std::string& line) {
    if (line.starts_with("\"ID\",")) {
      header_ = csv_fields(line);
      scale_.clear();
    } else if (!header_.empty() && line.starts_with('"')) {
      auto fields = csv_fields(line);
      fields.resize(header_.size());
      fields.front().empty() ? read_units(fields) : read_kernel(fields);
    }
  }
  const std::vector<byte_counts>& calls() const { return calls_; }

 private:
  std::size_t column(const char* name) const {
    return std::size_t(std::find(header_.begin(), header_.end(), name) - header_.begin());
  }
  std::string field(const std::vector<std::string>& fields, const char* name) const {
    const auto at = column(name);
    return at < fields.size() ? fields[at] : std::string();
  }
  void read_units(const std::vector<std::string>& fields) {
    for (const char* metric : metrics) scale_.push_back(bytes_of_unit(field(fields, metric)));
  }
  void read_kernel(const std::vector<std::string>& fields) {
    if (field(fields, "Kernel Name").find(profiler_mark_name) != std::string::npos) {
      calls_.emplace_back();
      first_ = true;
    } else if (!calls_.empty() && !scale_.empty()) {
      for (std::size_t i = 0; i < std::size(metrics); ++i) {
        double& sum = calls_.back().*members[i];
        sum = (first_ ? 0 : sum) + number(field(fields, metrics[i])) * scale_[i];
      }
      const auto told = [&](int i) { return number(field(fields, launch_metrics[i])); };
      calls_.back().launches.push_back({told(0), told(1), told(2), told(3) + told(4)});
      first_ = false;
    }
  }

  std::vector<std::string> header_;
  std::vector<double> scale_;  // bytes of each metric's unit
  std::vector<byte_counts> calls_;
  bool first_ = true;  // no kernel of the last call yet
};

std::string why_nothing(const std::string& output) {
  if (output.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    return "this user may not read the GPU's counters (ERR_NVGPUCTRPERM: run as root, or see "
           "https://developer.nvidia.com/ERR_NVGPUCTRPERM)";
  }
  std::istringstream in(output);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("==ERROR==")) return "ncu says:" + line.substr(9);
    if (!line.empty() && line[0] != '"' && line[0] != '{') last = line;
  }
  return "the run that was to be counted " +
         (last.empty() ? std::string("told nothing") : "ended with: " + last);
}

std::string find_ncu() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const toolkit = std::getenv(variable)) folders.push_back(toolkit + std::string("/bin"));
  }
  folders.push_back("/usr/local/cuda/bin");
  std::error_code none;
  for (const auto& version : std::filesystem::directory_iterator("/opt/nvidia/nsight-compute", none)) {
    folders.push_back(version.path());
  }
  return find_program("ncu", folders);
}

}  // namespace

std::string counted_call(const std::string& provider, const gemm_case& g) {
  return fmt::format("{} {} {}x{}x{}", provider, name(g.type), g.m, g.n, g.k);
}

std::string counted_line(const std::string& call, double dram_read) {
  return nlohmann::ordered_json{{"counted", call}, {"dram_read_bytes", dram_read}}.dump() + '\n';
}

counted_bytes counted_bytes_from(const std::string& output, byte_counting who) {
  counted_bytes counted;
  std::vector<std::string> calls;
  ncu_table table;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    table.read(line);
    if (!line.starts_with("{\"counted\":")) continue;
    const auto told = nlohmann::json::parse(line, nullptr, false);
    if (told.is_discarded()) continue;
    calls.push_back(told.value("counted", ""));
    const auto& bytes = told["dram_read_bytes"];
    if (bytes.is_number()) counted.of[calls.back()].dram_read = bytes.get<double>();
  }
  for (std::size_t i = 0; i < std::min(calls.size(), table.calls().size()); ++i) {
    counted.of[calls[i]] = table.calls()[i];
  }
  const bool any = std::any_of(counted.of.begin(), counted.of.end(), [](const auto& call) {
    return std::any_of(std::begin(members), std::end(members),
                       [&](auto member) { return !std::isnan(call.second.*member); });
  });
  if (!any) {
    counted.problem = why_nothing(output);
  } else if (who == byte_counting::ncu) {
    counted.by = fmt::format("ncu, each kernel with empty caches: {}, {}, {} x 32 bytes", metrics[0],
                             metrics[1], metrics[2]);
  } else {
    counted.by =
        "perf events of all threads, caches filled with other data: PERF_COUNT_HW_CACHE_MISSES x 64 bytes";
  }
  return counted;
}

counted_bytes count_bytes(byte_counting who, const std::vector<std::string>& arguments) {
  counted_bytes counted;
  std::vector<std::string> command;
  if (who == byte_counting::ncu) {
    command = {find_ncu(),
               "--csv",
               "--page",
               "raw",
               "--print-units",
               "base",
               "--profile-from-start",
               "off",
               "--clock-control",
               "none",
               "--metrics",
               fmt::format("{},{}", fmt::join(metrics, ","), fmt::join(launch_metrics, ","))};
    if (command[0].empty()) {
      counted.problem = "no ncu in PATH or the CUDA toolkit (install nsight-compute, or set CUDA_HOME)";
    }
  } else if (who == byte_counting::cache_misses) {
    counted.problem = cache_miss_counter().problem();
  } else {
    counted.problem = "counters are read on hosts and NVIDIA GPUs only";
  }
  if (!counted.problem.empty()) return counted;
  command.push_back(executable_path());
  command.insert(command.end(), arguments.begin() + 1, arguments.end());
  command.push_back("--count-once");
  return counted_bytes_from(run_program(command).text, who);
}

}  // namespace keramos::perf
