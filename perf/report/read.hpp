// Results files read back, of gemm or of any other command that writes rows under the same schema.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace keramos::perf {

// A row: what was measured (strings and whole numbers other than the figures), and its figures.
struct result_row {
  std::string provider;
  std::vector<std::pair<std::string, std::string>> keys;  // type, op_a, m, ... but neither provider nor rank
  std::int64_t m = 0, n = 0, k = 0;                       // 0 where the row has none
  std::string extents;                                    // of a list, each problem's
  int rank = -1;                                          // of a job; -1: it was none
  int repetitions = 0;
  double median_s = 0, min_s = 0, iqr_s = 0;  // 0: not measured
  std::vector<double> samples;      // of each repetition, in order; files of older versions have none
  std::vector<double> cpu_samples;  // CPU time likewise, where all ran on one CPU; or none
  double gflops = 0;                // 0: the row has none
  double gbytes_per_s = 0;          // of what must be moved; 0: the row has none
  double peak_fraction = 0;         // of the arithmetic peak; 0: not known
  double max_error = 0, error_bound = 0;
  std::optional<bool> verified;  // none: not run
  std::string status,
      reason;           // "wrong", "failed" or "unavailable", and why; "" of verified rows and in old files
  std::string step;     // of a ladder; "": it is none
  int step_number = 0;  // 0: a variant that shows what goes wrong
  int tile_width = 0;
  double gain = 0;  // over the step before; 0: not known

  bool measured() const { return median_s > 0; }
  bool failed() const { return status == "failed"; }
  bool is_wrong() const { return failed() || !verified.value_or(true); }
  bool good() const { return measured() && !is_wrong(); }
  // What is drawn: GB/s where the row has them, for then they matter more.
  double rate() const { return gbytes_per_s > 0 ? gbytes_per_s : gflops; }
  // Of one key; "" if the row has none of that name.
  std::string value(const std::string& key) const;
  std::string problem() const;  // "f32 NT left 64 x 64 x 128": all keys, short
};

struct results_file {
  std::string path;
  nlohmann::ordered_json context;
  std::vector<result_row> rows;
  bool complete = true;  // false: interrupted, or a rank failed

  std::string text(const std::string& key) const;  // of the context; "" if there is none
  // Where it ran: the device, its backend and on hosts the number of threads.
  std::string platform() const;
};

// Where the devices of two contexts differ though their names may be the same: "family 26 and 25, model
// 2 and 17". "" if nothing that both tell differs; files of older versions tell nothing but the name.
std::string device_difference(const nlohmann::ordered_json& one, const nlohmann::ordered_json& other);

// The platform of each file; where two of the same name are different devices, with what tells them apart.
std::vector<std::string> platform_names(const std::vector<results_file>& files);

result_row row_of(const nlohmann::ordered_json& row);

// All of these throw usage_error for a file that is none of ours.
results_file results_of(const nlohmann::ordered_json& document, const std::string& path);
results_file read_results(const std::string& path);
results_file parse_results(const std::string& text, const std::string& path);

// Keeps the rows for which every "key=value" holds; the values may be lists: "type=f32,f64". Throws
// usage_error if that is not how an item is written or a key is in no row.
void keep_where(std::vector<result_row>& rows, const std::vector<std::string>& conditions);

void add_unique(std::vector<std::string>& names, const std::string& name);

double geometric_mean(const std::vector<double>& values);  // NaN of none

// Columns as wide as they must be; the first `left` of them to the left, the others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& lines, std::size_t left);

}  // namespace keramos::perf
