// Sizes as the user writes them, and files of shapes.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem.hpp"

namespace keramos::perf {

// "512", "100,200,400", "256:4096:*2" (256, 512, ... 4096), "100:500:+100", or a comma list of
// those. Every size is at least 1. `option` is what messages call it, e.g. "--size".
std::vector<std::int64_t> parse_range(std::string_view text, std::string_view option);

// "a,b,c" -> {"a", "b", "c"}, blanks around the items dropped.
std::vector<std::string> split_list(std::string_view text);

struct gemm_shape {
  std::string name;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::optional<op_pair> ops;  // what the source of the shape uses
};

// CSV with a header line that names at least m, n and k; name and op are read when present and
// other columns (source, say) are for people. Lines that begin with # are comments.
std::vector<gemm_shape> read_shapes(std::istream& in, const std::string& file_name);
std::vector<gemm_shape> read_shapes(const std::string& path);

// A list of problems that one call multiplies.
struct gemm_list {
  std::string name;  // its place in the file where it has none
  std::vector<gemm_extents> problems;
  std::optional<op_pair> ops;
};

// As read_shapes, with a list in each line: m, n and k are as many numbers as it has problems, with blanks between them, or
// one number for all of them. m may be 0, of an expert without tokens say.
std::vector<gemm_list> read_lists(std::istream& in, const std::string& file_name);
std::vector<gemm_list> read_lists(const std::string& path);

}  // namespace keramos::perf
