#include "problem.hpp"

#include <fmt/format.h>

namespace keramos::perf {
namespace {

// Strides of op(X), where op(X) is rows x cols and X is packed in the layout.
strides strides_of_op(transpose op, matrix_layout layout, std::int64_t rows, std::int64_t cols) {
  // op(X) is contiguous along its rows when X is row-major and used as it is, or column-major
  // and transposed.
  const bool along_rows = (op == transpose::N) == (layout == matrix_layout::right);
  return along_rows ? strides{cols, 1} : strides{1, rows};
}

}  // namespace

strides strides_of_op_a(const gemm_case& g) { return strides_of_op(g.op_a, g.layout, g.m, g.k); }
strides strides_of_op_b(const gemm_case& g) { return strides_of_op(g.op_b, g.layout, g.k, g.n); }
strides strides_of_c(const gemm_case& g) { return strides_of_op(transpose::N, g.layout, g.m, g.n); }

std::string_view name(data_type t) {
  switch (t) {
    case data_type::f32:
      return "f32";
    case data_type::f64:
      return "f64";
    case data_type::i32:
      break;
  }
  return "i32";
}
std::string_view name(transpose t) { return t == transpose::N ? "N" : "T"; }
std::string_view name(matrix_layout l) { return l == matrix_layout::right ? "right" : "left"; }
std::size_t size_of(data_type t) { return t == data_type::f64 ? 8 : 4; }

data_type parse_type(std::string_view text) {
  for (auto t : {data_type::f32, data_type::f64, data_type::i32}) {
    if (text == name(t)) return t;
  }
  throw usage_error(fmt::format("type '{}' is not known: write --type with any of f32,f64,i32", text));
}

matrix_layout parse_layout(std::string_view text) {
  for (auto l : {matrix_layout::right, matrix_layout::left}) {
    if (text == name(l)) return l;
  }
  throw usage_error(
      fmt::format("layout '{}' is not known: write --layout right (row-major), left (column-major) or "
                  "right,left",
                  text));
}

op_pair parse_ops(std::string_view text) {
  for (auto a : {transpose::N, transpose::T}) {
    for (auto b : {transpose::N, transpose::T}) {
      if (text.size() == 2 && text.substr(0, 1) == name(a) && text.substr(1) == name(b)) {
        return {a, b};
      }
    }
  }
  throw usage_error(
      fmt::format("op '{}' is not known: write --op with any of NN,NT,TN,TT (op of A, then of B)", text));
}

}  // namespace keramos::perf
