#include "report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "measure/core/json.hpp"

namespace keramos::perf {
namespace {

std::string byte_text(double bytes) {
  if (!(bytes > 0)) return bytes == 0 ? "0 B" : "-";
  const char* const units[] = {"B", "KB", "MB", "GB", "TB"};
  int u = 0;
  for (; bytes >= 1000 && u < 4; ++u) bytes /= 1000;
  return fmt::format("{:.3g} {}", bytes, units[u]);
}

std::string counted_columns(const std::string& read, const std::string& written, const std::string& l2) {
  return fmt::format("{:>11}{:>11}{:>11}", read, written, l2);
}

std::string rate_column(const ladder_row& row) {
  const auto& r = row.result;
  if (r.status == outcome::unavailable) return "unavailable";
  if (r.status == outcome::failed) return "FAILED";
  const double rate = r.giga_rate();
  const int decimals = rate >= 1000 ? 0 : rate >= 100 ? 1 : rate >= 10 ? 2 : 3;
  return (r.status == outcome::mismatch ? "WRONG " : "") + fmt::format("{:.{}f}", rate, decimals);
}

std::string trouble_line(const gemm_result& r) {
  if (r.status == outcome::mismatch) {
    return fmt::format("      WRONG: {}\n", r.trouble());
  }
  const bool told = r.status == outcome::failed || r.status == outcome::unavailable;
  return told ? fmt::format("      {}\n", r.reason) : std::string();
}

}  // namespace

void set_gains(std::vector<ladder_row>& rows) {
  double before = 0;
  for (auto& row : rows) {
    if (!row.result.timed()) continue;
    row.gain = before > 0 ? row.result.giga_rate() / before : 0;
    before = row.result.giga_rate();
  }
}

std::string ladder_table(const std::vector<ladder_row>& rows, bool with_counted) {
  if (rows.empty()) return {};
  const auto& g = rows.front().result.problem;
  const char* const op = is_integer(g.type) ? "OP/B" : "FLOP/B";
  auto text = fmt::format("\n{}, tile width {}, m x n x k = {} x {} x {}\n", name(g.type), rows.front().width,
                          g.m, g.n, g.k);
  text += fmt::format("  {:21}{:4}{:>13}{:>12} {:>7} {:>7}{:>13}{}{:>8}\n", "step", "op", "block tile",
                      rate_unit(g.type), "spread", "gain", "from global",
                      with_counted ? counted_columns("DRAM read", "DRAM write", "L2") : "", op);
  for (const auto& row : rows) {
    const auto& r = row.result;
    const auto& p = r.problem;
    const auto title =
        row.number > 0 ? fmt::format("{:>2} {}", row.number, row.step) : "   (" + row.step + ")";
    text += fmt::format(
        "  {:21}{:4}{:>13}{:>12} {:>7} {:>7}{:>13}{}{:>8}\n", title,
        fmt::format("{}{}", name(p.op_a), name(p.op_b)), row.tile.empty() ? "-" : row.tile, rate_column(row),
        r.timed() ? fmt::format("{:.1f}%", 100 * r.seconds.iqr / r.seconds.median) : "-",
        row.gain > 0 ? fmt::format("x{:.2f}", row.gain) : "-", row.bytes > 0 ? byte_text(row.bytes) : "-",
        with_counted ? counted_columns(byte_text(row.counted.dram_read), byte_text(row.counted.dram_write),
                                       byte_text(row.counted.l2))
                     : "",
        row.bytes > 0 ? fmt::format("{:.3g}", row.intensity()) : "-");
    text += "      " + row.why + "\n" + trouble_line(r);
  }
  return text;
}

nlohmann::ordered_json to_json(const ladder_row& row) {
  auto out = to_row(row.result);
  out["global_bytes"] = nullptr;
  if (row.bytes > 0) out["global_bytes"] = row.bytes;
  const auto put = [&](const char* key, double bytes) {
    out[key] = nullptr;
    if (!std::isnan(bytes)) out[key] = bytes;
  };
  put("dram_read_bytes", row.counted.dram_read);
  put("dram_write_bytes", row.counted.dram_write);
  put("l2_bytes", row.counted.l2);
  auto& more = out["ladder"];
  more["step"] = row.step;
  more["number"] = row.number;
  more["tile_width"] = row.width;
  more["tile"] = row.tile;
  more["gain"] = nullptr;
  if (row.gain > 0) more["gain"] = row.gain;
  more["why"] = row.why;
  const auto known = [](double x) {
    return std::isnan(x) ? nlohmann::ordered_json() : nlohmann::ordered_json(std::int64_t(x));
  };
  for (const auto& launch : row.counted.launches) {
    more["launches"].push_back({{"teams", known(launch.teams)},
                                {"threads_of_a_team", known(launch.threads)},
                                {"registers_of_a_thread", known(launch.registers)},
                                {"scratch_bytes", known(launch.scratch_bytes)}});
  }
  return out;
}

std::string ladder_document(const nlohmann::ordered_json& context, const std::vector<ladder_row>& rows) {
  nlohmann::ordered_json document;
  document["schema"] = "keramos-perf/1";
  document["context"] = context;
  document["results"] = nlohmann::ordered_json::array();
  for (const auto& r : rows) document["results"].push_back(to_json(r));
  return to_text(document, 2) + '\n';
}

}  // namespace keramos::perf
