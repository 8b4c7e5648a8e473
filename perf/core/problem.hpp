// One GEMM problem as the harness sees it: C <- alpha op(A) op(B) + beta C, all three matrices
// packed (no gaps between rows or columns) and in one layout; or a batch of them, one after the other.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace keramos::perf {

// What the user wrote cannot be run; the message says what to write instead. Exit status 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class data_type { f32, f64, i32 };
enum class transpose { N, T };
enum class matrix_layout { right, left };

struct gemm_case {
  data_type type = data_type::f32;
  transpose op_a = transpose::N;
  transpose op_b = transpose::N;
  matrix_layout layout = matrix_layout::right;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  double alpha = 1;
  double beta = 0;
  std::int64_t batch = 0;  // 0: one product, by a library's plain call; else so many, by its batched one

  std::int64_t products() const { return batch > 0 ? batch : 1; }
  double operations() const { return 2.0 * double(products()) * double(m) * double(n) * double(k); }
  // Elements that must be read or written once.
  double traffic() const {
    const double of_c = double(m) * double(n) * (beta != 0 ? 2 : 1);
    return double(products()) * (double(m) * double(k) + double(k) * double(n) + of_c);
  }
};

// How to reach element (i, j) of a matrix, or of op(matrix): data[i * row + j * col].
struct strides {
  std::int64_t row;
  std::int64_t col;
};

strides strides_of_op_a(const gemm_case& g);  // op(A) is m x k
strides strides_of_op_b(const gemm_case& g);  // op(B) is k x n
strides strides_of_c(const gemm_case& g);     // C is m x n

std::string_view name(data_type t);
std::string_view name(transpose t);
std::string_view name(matrix_layout l);
std::size_t size_of(data_type t);

data_type parse_type(std::string_view text);
matrix_layout parse_layout(std::string_view text);
struct op_pair {
  transpose a;
  transpose b;
};
op_pair parse_ops(std::string_view text);  // "NN", "NT", "TN" or "TT"

template <class T>
struct type_tag {
  using type = T;
};

// Calls f(type_tag<float>{}), f(type_tag<double>{}) or f(type_tag<std::int32_t>{}).
template <class F>
decltype(auto) visit_type(data_type t, F&& f) {
  switch (t) {
    case data_type::f32:
      return f(type_tag<float>{});
    case data_type::f64:
      return f(type_tag<double>{});
    case data_type::i32:
      break;
  }
  return f(type_tag<std::int32_t>{});
}

}  // namespace keramos::perf
