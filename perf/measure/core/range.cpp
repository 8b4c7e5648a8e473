#include "range.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <map>

namespace keramos::perf {
namespace {

constexpr std::int64_t largest_size = std::int64_t(1) << 31;
constexpr std::size_t most_sizes = 10000;  // a mistyped step, not a benchmark

[[noreturn]] void bad_range(std::string_view text, std::string_view option) {
  throw usage_error(fmt::format(
      "{0} '{1}' is not a range: write {0} 256:4096:*2, {0} 100:500:+100 or {0} 128,256,500", option, text));
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > largest_size) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> items;
  for (;;) {
    const auto at = text.find(separator);
    items.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return items;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  const auto items = split(text, ',');
  return {items.begin(), items.end()};
}

std::vector<std::int64_t> parse_range(std::string_view text, std::string_view option) {
  std::vector<std::int64_t> sizes;
  for (const auto item : split(text, ',')) {
    const auto parts = split(item, ':');
    const auto first = parse_size(parts[0]);
    if (!first || parts.size() > 3 || parts.size() == 2) bad_range(text, option);
    if (parts.size() == 1) {
      sizes.push_back(*first);
      continue;
    }
    const auto last = parse_size(parts[1]);
    const bool multiply = parts[2].starts_with('*');
    if (!last || *last < *first || (!multiply && !parts[2].starts_with('+'))) {
      bad_range(text, option);
    }
    const auto step = parse_size(parts[2].substr(1));
    if (!step || (multiply && *step < 2)) bad_range(text, option);
    for (auto size = *first; size <= *last; size = multiply ? size * *step : size + *step) {
      sizes.push_back(size);
      if (sizes.size() > most_sizes) bad_range(text, option);
    }
  }
  return sizes;
}

namespace {

// The cells of a line, whose quotes are taken away: "a, b" is one cell, "" in it a quote.
std::vector<std::string> csv_cells(std::string_view line, const std::string& where) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool twice = quoted && line.substr(i, 2) == "\"\"";
    if (twice) ++i;
    if (line[i] == '"' && !twice) {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  if (quoted)
    throw usage_error(fmt::format("{}: a quote is not closed in '{}': write one more \"", where, line));
  for (auto& cell : cells) cell = trimmed(cell);
  return cells;
}

}  // namespace

std::vector<gemm_shape> read_shapes(std::istream& in, const std::string& file_name) {
  std::map<std::string, std::size_t> column;  // from the header line
  std::vector<gemm_shape> shapes;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // as spreadsheets write it
    if (number == 1 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    const auto content = trimmed(line);
    if (content.empty() || content.starts_with('#')) continue;
    const auto where = fmt::format("{}:{}", file_name, number);
    const auto cells = csv_cells(content, where);
    if (column.empty()) {
      for (std::size_t i = 0; i < cells.size(); ++i) column[cells[i]] = i;
      if (!column.contains("m") || !column.contains("n") || !column.contains("k")) {
        throw usage_error(
            fmt::format("{}: the first line must name the columns: write name,m,n,k,op", where));
      }
      continue;
    }
    const auto cell = [&](const char* name) -> std::string_view {
      const auto at = column.find(name);
      return at == column.end() || at->second >= cells.size() ? std::string_view() : cells[at->second];
    };
    const auto m = parse_size(cell("m")), n = parse_size(cell("n")), k = parse_size(cell("k"));
    if (!m || !n || !k) {
      throw usage_error(
          fmt::format("{}: m, n and k must be whole numbers of at least 1 in '{}'", where, content));
    }
    gemm_shape shape{std::string(cell("name")), *m, *n, *k, std::nullopt};
    if (!cell("op").empty()) {
      try {
        shape.ops = parse_ops(cell("op"));
      } catch (const usage_error&) {
        throw usage_error(fmt::format("{}: op '{}' is not known: write NN, NT, TN or TT", where, cell("op")));
      }
    }
    shapes.push_back(std::move(shape));
  }
  if (shapes.empty()) {
    throw usage_error(fmt::format("{}: no shapes: write a line name,m,n,k and one line a shape", file_name));
  }
  return shapes;
}

std::vector<gemm_shape> read_shapes(const std::string& path) {
  std::ifstream in(path);
  if (!in) {
    throw usage_error(
        fmt::format("--shapes {}: cannot be read: write the path of a CSV file such as "
                    "perf/data/shapes/deep_learning.csv",
                    path));
  }
  return read_shapes(in, path);
}

}  // namespace keramos::perf
