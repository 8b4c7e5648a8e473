// The options of keramos-perf gemm and batched, as written and as understood.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/core/problem.hpp"
#include "measure/core/range.hpp"
#include "measure/providers/provider.hpp"

namespace CLI {
class App;
}

namespace keramos::perf {

constexpr double default_provider_timeout_s = 60;

struct gemm_command_options {
  bool batched = false;                    // the command is batched
  std::string batches;                     // "": as many as exceed the cache by far
  std::string forms = "strided";           // of batches
  std::vector<std::string> grouped_files;  // instead of shapes
  std::string types = "f32,f64";
  std::string ops;  // "": NN, and for shapes from a file the op they name
  std::string layouts = "right";
  std::string sizes, m, n, k;
  std::vector<std::string> shape_files;
  std::string providers;  // "": all that make sense here
  std::vector<std::string> blas_paths;
  bool in_process = false;
  int repetitions = 7;
  double time_limit_s = 10;
  double provider_timeout_s = default_provider_timeout_s;
  std::int64_t sets = 0;
  double alpha = 1, beta = 0;
  std::uint64_t seed = 0;                     // 0: a fresh one
  bool concurrent = false, isolated = false;  // ranks of a job; default: concurrent
  double outlier = 1.05;
  double rank_timeout_s = 120;
  std::string format;  // "": table, and for --output what the file's name says
  std::string output;
  bool resume = false;

  void add_to(CLI::App& app);
  void add_job_options_to(CLI::App& app);

  call_kind calls() const;

  // All of these throw usage_error.
  void check() const;
  std::vector<provider_choice> choices(bool device_is_host) const;
  std::vector<data_type> parsed_types() const;
  // In the order they are measured: by type, op, layout, then shape. `default_sizes` is what
  // --size is when nothing says which shapes; batches that are not given fill `batch_bytes`.
  std::vector<gemm_case> cases(const char* default_sizes, double batch_bytes) const;

 private:
  std::vector<gemm_shape> shapes(const char* default_sizes) const;
  // The cases of a type, op and layout, which `like` has; the op may be the shape's own.
  void add_batches(std::vector<gemm_case>& all, const gemm_case& like, double batch_bytes) const;
  void add_lists(std::vector<gemm_case>& all, const gemm_case& like,
                 const std::vector<gemm_list>& lists) const;
};

}  // namespace keramos::perf
