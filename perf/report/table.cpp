#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "result.hpp"

namespace keramos::perf {
namespace {

std::string number(double value) {
  const int decimals = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

// An extent of all problems of a case: "64", or of a list "0-512".
std::string extent(const gemm_case& g, std::int64_t gemm_extents::*of, std::int64_t largest) {
  std::int64_t least = largest;
  for (const auto& p : g.list) least = std::min(least, p.*of);
  return least == largest ? std::to_string(largest) : fmt::format("{}-{}", least, largest);
}

}  // namespace

const char* rate_unit(data_type type) { return is_integer(type) ? "GOP/s" : "GFLOP/s"; }

bool result_table::has_ratio(const std::string& provider) const {
  return provider != "keramos" &&
         std::find(providers_.begin(), providers_.end(), "keramos") != providers_.end();
}

int result_table::width(const std::string& provider) const {
  return std::max<int>((has_ratio(provider) ? 25 : 17) + (with_peak_ ? 5 : 0) + (batched_ ? 7 : 0),
                       static_cast<int>(provider.size()) + 3);
}

std::string result_table::heading(data_type type) const {
  std::string names = fmt::format("{:{}}", "", batched_ ? 41 : 32);
  std::string columns = fmt::format("{:3}{:6}{:>7}{:>8}{:>8}{}", "op", "layout", "m", "n", "k",
                                    batched_ ? fmt::format("{:>9}", "batch") : "");
  for (const auto& provider : providers_) {
    names += fmt::format("{:>{}}", provider, width(provider));
    const auto fields =
        fmt::format("{:>9}{} {:>6}{}{}", rate_unit(type), batched_ ? "   GB/s" : "", "spread",
                    with_peak_ ? " peak" : "", has_ratio(provider) ? fmt::format(" {:>7}", "ratio") : "");
    columns += fmt::format("{:>{}}", fields, width(provider));
  }
  return fmt::format("\n{}\n{}\n{}\n", name(type), names, columns);
}

std::string result_table::cell(const gemm_result* result, const gemm_result* keramos) const {
  if (result == nullptr) return "-";
  if (result->status == outcome::unavailable) return "unavailable";
  if (result->status == outcome::failed) return "FAILED";
  const double spread = result->seconds.iqr / result->seconds.median;
  auto text = fmt::format("{:>9}{} {:>6}", number(result->giga_rate()),
                          batched_ ? fmt::format(" {:>6}", number(result->gigabytes_per_second())) : "",
                          fmt::format("{:.1f}%", 100 * spread));
  if (with_peak_) {
    text += fmt::format(" {:>4}",
                        result->peak_fraction > 0 ? fmt::format("{:.0f}%", 100 * result->peak_fraction) : "");
  }
  if (result->status == outcome::mismatch) text = "WRONG " + text;
  if (has_ratio(result->provider)) {
    text += fmt::format(" {:>7}", keramos != nullptr && keramos->timed()
                                      ? number(keramos->giga_rate() / result->giga_rate())
                                      : "");
  }
  return text;
}

std::string result_table::row(const gemm_case& g, const std::vector<gemm_result>& results) {
  std::string text;
  if (!started_ || type_ != g.type) text = heading(g.type);
  started_ = true;
  type_ = g.type;
  std::map<std::string, const gemm_result*> by_provider;
  for (const auto& r : results) by_provider[r.provider] = &r;
  const auto find = [&](const std::string& provider) {
    const auto at = by_provider.find(provider);
    return at == by_provider.end() ? nullptr : at->second;
  };
  text += fmt::format("{:3}{:6}{:>7}{:>8}{:>8}", fmt::format("{}{}", name(g.op_a), name(g.op_b)),
                      name(g.layout), extent(g, &gemm_extents::m, g.m), extent(g, &gemm_extents::n, g.n),
                      extent(g, &gemm_extents::k, g.k));
  if (batched_) text += fmt::format("{:>9}", g.batch);
  for (const auto& provider : providers_) {
    text += fmt::format(" {:>{}}", cell(find(provider), find("keramos")), width(provider) - 1);
  }
  if (g.form == batch_form::pointers) text += "  pointers";
  if (g.form == batch_form::grouped) text += "  " + g.list_name;
  text += '\n';
  for (const auto& r : results) {
    if (r.status == outcome::mismatch) {
      text += fmt::format("  {}: WRONG: {}\n", r.provider, r.trouble());
    } else if (r.status == outcome::failed) {
      text += fmt::format("  {}: FAILED: {}\n", r.provider, r.reason);
    }
  }
  return text;
}

}  // namespace keramos::perf
