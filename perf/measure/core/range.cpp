#include "range.hpp"

#include <fmt/format.h>

#include <algorithm>
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

std::optional<std::int64_t> parse_size(std::string_view text, std::int64_t least = 1) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > largest_size) {
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

// What a line of a file of shapes holds, as text.
struct csv_line {
  std::string_view m, n, k;
  std::string name, where, content;
  std::optional<op_pair> ops;
};

// Calls f(line) for each; returns whether there is one.
template <class F>
bool for_lines(std::istream& in, const std::string& file_name, const F& f) {
  std::map<std::string, std::size_t> column;  // from the header line
  bool any = false;
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
    csv_line here{cell("m"),   cell("n"), cell("k"), std::string(cell("name")), where, std::string(content),
                  std::nullopt};
    if (!cell("op").empty()) {
      try {
        here.ops = parse_ops(cell("op"));
      } catch (const usage_error&) {
        throw usage_error(fmt::format("{}: op '{}' is not known: write NN, NT, TN or TT", where, cell("op")));
      }
    }
    f(here);
    any = true;
  }
  return any;
}

std::ifstream open_file(const char* option, const std::string& path, const char* example) {
  std::ifstream in(path);
  if (!in) {
    throw usage_error(
        fmt::format("{} {}: cannot be read: write the path of a CSV file such as perf/data/shapes/{}", option,
                    path, example));
  }
  return in;
}

}  // namespace

std::vector<gemm_shape> read_shapes(std::istream& in, const std::string& file_name) {
  std::vector<gemm_shape> shapes;
  const bool any = for_lines(in, file_name, [&](const csv_line& line) {
    const auto m = parse_size(line.m), n = parse_size(line.n), k = parse_size(line.k);
    if (!m || !n || !k) {
      const bool is_list = line.m.find(' ') != std::string_view::npos;
      throw usage_error(fmt::format("{}: m, n and k must be whole numbers of at least 1 in '{}'{}",
                                    line.where, line.content.substr(0, 60),
                                    is_list ? ": write keramos-perf batched --grouped for lists" : ""));
    }
    shapes.push_back({line.name, *m, *n, *k, line.ops});
  });
  if (!any)
    throw usage_error(fmt::format("{}: no shapes: write a line name,m,n,k and one line a shape", file_name));
  return shapes;
}

std::vector<gemm_shape> read_shapes(const std::string& path) {
  auto in = open_file("--shapes", path, "deep_learning.csv");
  return read_shapes(in, path);
}

std::vector<gemm_list> read_lists(std::istream& in, const std::string& file_name) {
  std::vector<gemm_list> lists;
  const bool any = for_lines(in, file_name, [&](const csv_line& line) {
    std::size_t count = 1;
    const auto numbers = [&](const char* column, std::string_view text, std::int64_t least) {
      std::vector<std::int64_t> all;
      for (const auto item : split(text, ' ')) {
        if (item.empty()) continue;  // of several blanks
        const auto size = parse_size(item, least);
        if (!size)
          throw usage_error(fmt::format(
              "{}: '{}' of column {} is no size: write whole numbers of at least {} with blanks between them",
              line.where, item, column, least));
        all.push_back(*size);
      }
      if (all.empty()) throw usage_error(fmt::format("{}: column {} is empty", line.where, column));
      if (count > 1 && all.size() > 1 && all.size() != count)
        throw usage_error(
            fmt::format("{}: {} has {} numbers, and a column before it {}: write as many, or one for all",
                        line.where, column, all.size(), count));
      count = std::max(count, all.size());
      return all;
    };
    const auto m = numbers("m", line.m, 0), n = numbers("n", line.n, 1), k = numbers("k", line.k, 1);
    gemm_list list{line.name.empty() ? line.where : line.name, {}, line.ops};
    const auto at = [](const std::vector<std::int64_t>& all, std::size_t i) {
      return all.size() == 1 ? all.front() : all[i];
    };
    for (std::size_t i = 0; i < count; ++i) list.problems.push_back({at(m, i), at(n, i), at(k, i)});
    if (std::all_of(list.problems.begin(), list.problems.end(), [](const auto& p) { return p.m == 0; }))
      throw usage_error(fmt::format("{}: m of all problems is 0: there is nothing to measure", line.where));
    lists.push_back(std::move(list));
  });
  if (!any)
    throw usage_error(fmt::format("{}: no lists: write a line name,m,n,k and one line a list", file_name));
  return lists;
}

std::vector<gemm_list> read_lists(const std::string& path) {
  auto in = open_file("--grouped", path, "experts.csv");
  return read_lists(in, path);
}

}  // namespace keramos::perf
