// What comes out: one row for each problem and provider, and the ways to write rows.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "measure/core/check.hpp"
#include "measure/core/problem.hpp"
#include "measure/core/statistics.hpp"

namespace keramos::perf {

enum class outcome { verified, mismatch, failed, unavailable };
std::string_view name(outcome o);  // "verified", "wrong", "failed", "unavailable"

struct gemm_result {
  std::string provider;
  std::string backend;
  std::string device;
  gemm_case problem;
  outcome status = outcome::unavailable;
  std::string reason;  // why it failed or is unavailable
  summary seconds;     // of one product, over the repetitions
  // Of one product, for each repetition, in the order they were taken. Sample i of all providers of a case
  // is of round i: A B C A B C. Of a provider whose calls take 10 s the last two are of no round.
  std::vector<double> samples;
  std::vector<double>
      cpu_samples;  // CPU time likewise, where all ran on one CPU: what others took is not in it
  verdict check;
  double peak_fraction = 0;  // of the device's arithmetic peak; 0: not known

  bool timed() const { return seconds.count > 0; }
  std::string trouble() const;  // why it is wrong, failed or unavailable; "" if it is verified
  double giga_rate() const { return problem.operations() / seconds.median * 1e-9; }
  // Of what must be read and written once.
  double gigabytes_per_second() const { return problem.traffic() / seconds.median * 1e-9; }
};

// "GFLOP/s", for integers "GOP/s".
const char* rate_unit(data_type type);

// A row under the names of the schema: null where nothing was measured. A row that is not verified has "status" and
// "reason" besides.
nlohmann::ordered_json to_row(const gemm_result& r);

// A field of CSV, in quotes only where it must be.
std::string quoted(const std::string& text);
// Of rows; keys that only some of them have (a job's rank) are columns too.
std::string to_csv(const nlohmann::ordered_json& rows);

// {"schema": "keramos-perf/1", "context": ..., "results": [...]}
std::string to_json(const nlohmann::ordered_json& context, const std::vector<gemm_result>& results);
std::string to_csv(const std::vector<gemm_result>& results);

// Rows as they come, providers side by side.
class result_table {
 public:
  explicit result_table(std::vector<std::string> providers, bool with_peak = false, bool batched = false)
      : providers_(std::move(providers)), with_peak_(with_peak), batched_(batched) {}

  // The lines for one problem: a heading where a type begins, the row, and a line for each result
  // that is wrong or missing. A row of a grouped batch has the range of each extent, and ends with the list's name.
  std::string row(const gemm_case& g, const std::vector<gemm_result>& results);

 private:
  std::string heading(data_type type) const;
  std::string cell(const gemm_result* result, const gemm_result* keramos) const;
  int width(const std::string& provider) const;
  bool has_ratio(const std::string& provider) const;

  std::vector<std::string> providers_;
  bool with_peak_;
  bool batched_;  // with the batch, and GB/s
  bool started_ = false;
  data_type type_ = data_type::f32;
};

}  // namespace keramos::perf
