#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "measure/core/range.hpp"
#include "measure/device/machine.hpp"
#include "report/output.hpp"

namespace keramos::perf {
namespace {

void check_format(const std::string& format) {
  if (format != "table" && format != "json" && format != "csv") {
    throw usage_error(fmt::format("format '{}' is not known: write --format table, json or csv", format));
  }
}

}  // namespace

void gemm_command_options::add_to(CLI::App& app) {
  app.add_option("--type", types,
                 "any of " + names(all_types) +
                     ": elements of A and B, and behind _ of C if others; c32 and c64 are complex, and a "
                     "multiply-add of theirs counts as 8 operations")
      ->capture_default_str();
  app.add_option(
      "--op", ops,
      "op of A, then of B, each N, T or C (conjugated and transposed): NN,NT,CN, say (default NN)");
  app.add_option("--layout", layouts, "right (row-major), left or right,left")->capture_default_str();
  if (batched) {
    app.add_option("--batch", batches, "matrices in a batch; like --size (default: far beyond the cache)");
    app.add_option("--form", forms,
                   "how the library is told where they are: strided (equally spaced), pointers (arrays of "
                   "addresses) or strided,pointers")
        ->capture_default_str();
    app.add_option(
        "--grouped", grouped_files,
        "CSV files of lists of problems of different sizes, of which one call multiplies all; columns "
        "m,n,k and maybe name and op (perf/data/shapes/experts.csv)");
  }
  app.add_option("--size", sizes,
                 "squares m = n = k: 512, a list 100,200, or a range 256:4096:*2 or 100:500:+100");
  app.add_option("--m", m, "rows of C; like --size, with --n and --k");
  app.add_option("--n", n, "columns of C; all combinations of the three are measured");
  app.add_option("--k", k, "the summed extent");
  app.add_option("--shapes", shape_files, "CSV files with columns m,n,k and maybe op (perf/data/shapes)");
  app.add_option(
      "--provider", providers,
      std::string("any of keramos,kokkoskernels,blas,openblas,blis,mkl,cublas,cublaslt, and "
                  "blas=PATH for any CBLAS library, as many as you like (default: all that fit the device)") +
          (batched ? "; a CBLAS is called in a loop, blas-batch uses its "
                     "cblas_?gemm_batch_strided; with --grouped cublas-loop calls cuBLAS for each problem"
                   : ""));
  app.add_option("--blas", blas_paths, "CBLAS libraries for provider blas (default: the system's)");
  app.add_flag("--in-process", in_process,
               "all providers in one process, as on GPUs; on hosts each has its own otherwise, pinned to "
               "the same CPUs");
  app.add_option("--repetitions", repetitions, "timed repetitions of each case")->capture_default_str();
  app.add_option("--time-limit", time_limit_s,
                 "seconds for one provider's repetitions; 3 are made however long they take")
      ->capture_default_str();
  app.add_option(
         "--provider-timeout", provider_timeout_s,
         "seconds that a provider's process may be silent for, beyond what its first call takes at 0.1 "
         "GFLOP/s a thread or later ones at a 20th of its speed; then it is ended and its row failed (hosts)")
      ->capture_default_str();
  app.add_option("--sets", sets, "copies of the operands used in turn (default: beyond the cache)");
  app.add_option("--alpha", alpha)->capture_default_str();
  app.add_option("--beta", beta)->capture_default_str();
  app.add_option("--seed", seed, "of the random data (default, and 0: a fresh one)");
  app.add_option("--format", format, "table, json or csv (default table)");
  app.add_option("--output", output,
                 "write the results to this file as --format or the file's name says (.json, .csv), "
                 "and the table to the terminal");
  app.add_flag(
      "--resume", resume,
      "keep what an earlier run of this command has left in the --output file, and measure the rest");
}

void gemm_command_options::add_job_options_to(CLI::App& app) {
  auto* all = app.add_flag("--concurrent", concurrent, "all ranks measure at once (default)")
                  ->group("Under mpirun, srun, flux run");
  app.add_flag("--isolated", isolated, "one rank after the other")->group(all->get_group())->excludes(all);
  app.add_option("--outlier", outlier,
                 "name ranks and nodes that take more than this times the median rank's time")
      ->capture_default_str()
      ->group(all->get_group());
  app.add_option("--rank-timeout", rank_timeout_s, "seconds without a word from a rank until it is given up")
      ->capture_default_str()
      ->group(all->get_group());
}

void gemm_command_options::check() const {
  if (!(outlier > 1)) throw usage_error("--outlier is a ratio above 1: write --outlier 1.05");
  if (!(rank_timeout_s > 0)) throw usage_error("--rank-timeout must be seconds: write --rank-timeout 120");
  if (repetitions < 1) throw usage_error("--repetitions must be at least 1: write --repetitions 7");
  if (sets < 0) throw usage_error("--sets must be at least 1: write --sets 4, or leave it out");
  if (!(provider_timeout_s > 0))
    throw usage_error("--provider-timeout must be seconds: write --provider-timeout 60");
  if (!(time_limit_s >= 0)) throw usage_error("--time-limit must be seconds: write --time-limit 10");
  if (!format.empty()) check_format(format);
  if (resume && (output.empty() || run_output::file_format(format, output) != "json"))
    throw usage_error("--resume goes on with a JSON file: write --resume --output results.json");
  const bool has_shapes =
      !(sizes.empty() && m.empty() && n.empty() && k.empty() && shape_files.empty() && batches.empty());
  if (calls() == call_kind::grouped && (has_shapes || forms != "strided")) {
    throw usage_error(
        "--grouped has all sizes in its files: leave out --size, --m, --n, --k, --shapes, --batch and "
        "--form");
  }
  const auto chosen = choices(default_device_is_host());
  if (!blas_paths.empty() &&
      std::none_of(chosen.begin(), chosen.end(), [](const auto& c) { return c.name.starts_with("blas"); })) {
    throw usage_error(fmt::format("--blas is for the provider blas: write --provider {},blas", providers));
  }
  const auto all = parsed_types();
  const bool in_f64 = std::all_of(all.begin(), all.end(), [](data_type t) {
    return std::string_view(name(t)).starts_with("f64") || t == data_type::c64;
  });
  for (const auto& [option, value] : {std::pair("--alpha", alpha), std::pair("--beta", beta)}) {
    if (!std::isfinite(in_f64 ? value : double(float(value))))
      throw usage_error(
          fmt::format("{0} {1} is no number of {2}: write {0} 1", option, value, in_f64 ? "f64" : "f32"));
  }
  const bool integers = types.find("i32") != std::string::npos;
  if (integers && (alpha != double(std::int32_t(alpha)) || beta != double(std::int32_t(beta)))) {
    throw usage_error("alpha and beta of integers are whole numbers: write --alpha 1 --beta 0");
  }
}

std::vector<provider_choice> gemm_command_options::choices(bool device_is_host) const {
  return choose_providers(providers.empty() ? std::vector<std::string>() : split_list(providers), blas_paths,
                          device_is_host, calls());
}

call_kind gemm_command_options::calls() const {
  if (!grouped_files.empty()) return call_kind::grouped;
  return batched ? call_kind::batched : call_kind::plain;
}

std::vector<data_type> gemm_command_options::parsed_types() const {
  std::vector<data_type> parsed;
  for (const auto& text : split_list(types)) parsed.push_back(parse_type(text));
  return parsed;
}

std::vector<gemm_shape> gemm_command_options::shapes(const char* default_sizes) const {
  std::vector<gemm_shape> all;
  const int given = !m.empty() + !n.empty() + !k.empty();
  if (given != 0 && given != 3) {
    throw usage_error("--m, --n and --k go together: write --m 4096 --n 64 --k 4096, say");
  }
  if (given == 3) {
    for (const auto rows : parse_range(m, "--m")) {
      for (const auto cols : parse_range(n, "--n")) {
        for (const auto sum : parse_range(k, "--k")) all.push_back({{}, rows, cols, sum, {}});
      }
    }
  }
  if (!sizes.empty() || (given == 0 && shape_files.empty())) {
    for (const auto s : parse_range(sizes.empty() ? default_sizes : sizes, "--size")) {
      all.push_back({{}, s, s, s, {}});
    }
  }
  for (const auto& file : shape_files) {
    for (auto& shape : read_shapes(file)) all.push_back(std::move(shape));
  }
  return all;
}

void gemm_command_options::add_batches(std::vector<gemm_case>& all, const gemm_case& like,
                                       double batch_bytes) const {
  auto g = like;
  g.batch = 1;
  std::vector<std::int64_t> counts{
      static_cast<std::int64_t>(std::clamp(std::ceil(batch_bytes / g.traffic()), 1.0, 1e8))};
  if (!batches.empty()) counts = parse_range(batches, "--batch");
  for (const auto count : counts) {
    g.batch = count;
    for (const auto& form : split_list(forms)) {
      g.form = parse_form(form);
      all.push_back(g);
    }
  }
}

void gemm_command_options::add_lists(std::vector<gemm_case>& all, const gemm_case& like,
                                     const std::vector<gemm_list>& lists) const {
  for (const auto& list : lists) {
    auto g = like;
    if (ops.empty() && list.ops) g.op_a = list.ops->a, g.op_b = list.ops->b;
    g.make_grouped(list.name, list.problems);
    all.push_back(g);
  }
}

std::vector<gemm_case> gemm_command_options::cases(const char* default_sizes, double batch_bytes) const {
  const bool grouped = calls() == call_kind::grouped;
  const auto all_shapes = grouped ? std::vector<gemm_shape>() : shapes(default_sizes);
  std::vector<gemm_list> lists;
  for (const auto& file : grouped_files) {
    for (auto& list : read_lists(file)) lists.push_back(std::move(list));
  }

  std::vector<op_pair> all_ops;
  for (const auto& text : split_list(ops.empty() ? "NN" : ops)) all_ops.push_back(parse_ops(text));
  std::vector<gemm_case> all;
  for (const auto type : parsed_types()) {
    for (const auto& op : all_ops) {
      for (const auto& layout : split_list(layouts)) {
        gemm_case g{type, op.a, op.b, parse_layout(layout), 0, 0, 0, alpha, beta};
        add_lists(all, g, lists);
        for (const auto& s : all_shapes) {
          const auto used = ops.empty() && s.ops ? *s.ops : op;
          g.op_a = used.a, g.op_b = used.b, g.m = s.m, g.n = s.n, g.k = s.k;
          if (batched)
            add_batches(all, g, batch_bytes);
          else
            all.push_back(g);
        }
      }
    }
  }
  for (const auto& g : all) {
    // Beyond any machine's memory, and soon beyond what 64 bits count.
    if (const double bytes = g.traffic() * double(std::max<std::int64_t>(sets, 1)); bytes > 1e15) {
      throw usage_error(fmt::format("{} x {} x {} in {} needs {:.3g} bytes{}: write smaller sizes", g.m, g.n,
                                    g.k, name(g.type), bytes,
                                    batched    ? fmt::format(" for {} of them", g.batch)
                                    : sets > 1 ? fmt::format(" for {} sets", sets)
                                               : ""));
    }
  }
  return all;
}

}  // namespace keramos::perf
