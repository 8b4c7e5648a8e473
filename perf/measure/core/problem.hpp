// One GEMM problem as the harness sees it: C <- alpha op(A) op(B) + beta C, all three matrices
// packed (no gaps between rows or columns) and in one layout; or a batch of them, one after the other, of one size or each
// of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <keramos/gemm/types.hpp>

namespace keramos::perf {

// What the user wrote cannot be run; the message says what to write instead. Exit status 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The types of a product, by the words of KERAMOS_FOR_EACH_TYPES: elements of A and B, and behind "_" those of C where they
// are others; tf32 is f32 whose elements are rounded to eleven bits before they are multiplied, f32_emulated and f64_emulated
// ask Keramos to emulate; f8 is e4m3. In names with an x the first type is A's, the second that of B and C.
#define KERAMOS_PERF_WORD(Name) Name,
enum class data_type { KERAMOS_FOR_EACH_TYPES(KERAMOS_PERF_WORD) };
#undef KERAMOS_PERF_WORD
enum class transpose { N, T, C };  // C: T and conjugated; T of real numbers
enum class matrix_layout { right, left };

// How a library is told where a batch's matrices are: the first and the distance to the next; arrays of addresses in the
// device's memory; or problems of different sizes, listed on the host. They lie one after the other all the same.
enum class batch_form { strided, pointers, grouped };

struct gemm_extents {
  std::int64_t m, n, k;
};

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
  batch_form form = batch_form::strided;
  std::vector<gemm_extents> list = {};  // of a grouped batch, each problem's; see make_grouped
  std::string list_name = {};           // what its file calls it

  std::int64_t products() const { return batch > 0 ? batch : 1; }
  // Makes it a grouped batch of these problems, at least one: batch is how many there are, and m, n and k are their largest.
  void make_grouped(const std::string& name, std::vector<gemm_extents> problems);
  double operations() const;
  // Bytes of A, B and C, each of them once, or C `times_c` times.
  double bytes(double times_c = 1) const;
  // Bytes that must be read or written once: C twice if beta reads it.
  double traffic() const { return bytes(beta != 0 ? 2 : 1); }
  std::size_t a_bytes() const;
  std::size_t b_bytes() const;
  std::size_t c_bytes() const;

 private:
  // The sum of f(extents) over all problems.
  template <class F>
  double sum(const F& f) const;
};

// Problem l of a batch, and how many elements before its A, B and C those of the problems before it take.
struct placed_problem {
  gemm_extents extents;
  std::int64_t a, b, c;
};
// All problems of a batch, or the one that is none.
class placed_problems {
 public:
  explicit placed_problems(const gemm_case& g);

  std::int64_t size() const { return count_; }
  placed_problem operator[](std::int64_t l) const {
    if (!listed_.empty()) return listed_[std::size_t(l)];
    return {same_, l * same_.m * same_.k, l * same_.k * same_.n, l * same_.m * same_.n};
  }

 private:
  gemm_extents same_;
  std::int64_t count_;
  std::vector<placed_problem> listed_;
};
// One problem of a batch, as a product of its own.
gemm_case one_of(const gemm_case& g, const gemm_extents& extents);

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
std::string_view name(batch_form f);
std::size_t size_of_a(data_type t);  // bytes of an element
std::size_t size_of_b(data_type t);
std::size_t size_of_c(data_type t);
std::size_t size_of_sum(data_type t);  // of a sum of products, which C's elements may be rounded from
// The type of the numbers that are multiplied, whose peak is that of the product: f16 of f16_f32, f32 of c32 and f16xf32.
data_type multiplied_type(data_type t);
bool is_integer(data_type t);
bool is_integer(std::string_view name_of_type);  // of a file's text
bool is_complex(data_type t);                    // numbers of C
bool has_two_types(data_type t);                 // elements of A and B differ
// What sums are multiplied by: alpha, of which a C of eight bits is given a part so small, 0.0117 over the root of k, that
// about one in twenty elements of random data is beyond its range.
double alpha_of_sums(const gemm_case& g);
// Of a multiply-add: 2, or 8 of complex numbers, whose product is 6 and whose sum is 2, as LAPACK counts, or 4 of a real and a
// complex one.
int operations_of_multiply_add(data_type t);

extern const std::span<const data_type> all_types;
extern const std::span<const data_type> basic_types;  // f32, f64, i32: of kernels that are no product
std::string names(std::span<const data_type> types);  // "f32,f64,i32"
// One of `allowed` that is in this program; throws usage_error.
data_type parse_type(std::string_view text, std::span<const data_type> allowed = all_types);
// Of a file's text, if it is one.
std::optional<data_type> find_type(std::string_view text);
matrix_layout parse_layout(std::string_view text);
batch_form parse_form(std::string_view text);  // strided or pointers
struct op_pair {
  transpose a;
  transpose b;
};
op_pair parse_ops(std::string_view text);  // "NN", "NT", "CN", ...

}  // namespace keramos::perf
