#include <string>
#include <string_view>

#include <keramos/gemm/check.hpp>

namespace keramos::detail {
namespace {

[[noreturn]] void refuse(std::string_view caller, const std::string& what) {
  throw invalid_argument(std::string(caller) + ": " + what);
}

}  // namespace

bool writes_twice(const region& r) {
  // Rows or columns side by side, as most have.
  const bool plain =
      (r.col_stride == 1 && r.row_stride >= r.cols) || (r.row_stride == 1 && r.col_stride >= r.rows);
  return !plain && shares_elements(strided(r));
}

bool overlaps(const region& x, const region& y) { return share_memory(strided(x), strided(y)); }

void check_shapes(std::string_view caller, const region& a, op op_a, const region& b, op op_b,
                  const region& c) {
  for (const region* r : {&a, &b, &c})
    if (r->rows < 0 || r->cols < 0)
      refuse(caller, std::string(r->name) + " is " + shape_of(r->rows, r->cols) +
                         " but extents must not be negative; check how its view was made");

  const index_t m = c.rows, n = c.cols;
  const index_t k = op_a == op::N ? a.cols : a.rows;
  const auto check_extents = [caller](const region& x, op op_x, index_t rows, index_t cols,
                                      const char* shape) {
    const bool plain = op_x == op::N;
    if ((plain ? x.rows : x.cols) == rows && (plain ? x.cols : x.rows) == cols) return;
    const std::string name = x.name;
    const bool other_fits = (plain ? x.cols : x.rows) == rows && (plain ? x.rows : x.cols) == cols;
    const std::string option = name == "A" ? "op_a" : "op_b";
    refuse(caller,
           name + " is " + shape_of(x.rows, x.cols) + " but op(" + name + ") must be " +
               shape_of(rows, cols) + " (" + shape + "); " +
               (other_fits ? "pass " + option + (plain ? " = op::T" : " = op::N") + " or fix " : "fix ") +
               name + "'s extents");
  };
  // C has m and n; k is B's unless B is the one that cannot fit.
  const bool b_fits = (op_b == op::N ? b.cols : b.rows) == n;
  if (!b_fits) check_extents(b, op_b, k, n, "k x n");
  check_extents(a, op_a, m, op_b == op::N ? b.rows : b.cols, "m x k");

  for (const region* r : {&a, &b, &c})
    if (!r->empty() && r->data == nullptr)
      refuse(caller, std::string(r->name) + " is " + shape_of(r->rows, r->cols) +
                         " but its data is null; allocate it or pass extents of 0");

  if (!c.empty() && writes_twice(c))
    refuse(caller, "C has strides " + shape_of(c.row_stride, c.col_stride) +
                       " (row x column) with which its " + shape_of(c.rows, c.cols) +
                       " elements share memory; use strides that keep them apart");
}

void check_gemm(const region& a, op op_a, const region& b, op op_b, const region& c) {
  constexpr std::string_view caller = "keramos::gemm";
  check_shapes(caller, a, op_a, b, op_b, c);
  for (const region* r : {&a, &b})
    if (overlaps(*r, c))
      refuse(caller, std::string("C (") + shape_of(c.rows, c.cols) + ") overlaps " + r->name + " (" +
                         shape_of(r->rows, r->cols) + ") in memory; pass a copy of " + r->name +
                         " or another C");
}

}  // namespace keramos::detail
