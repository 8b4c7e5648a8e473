#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>

#include <keramos/gemm/check.hpp>

namespace keramos::detail {
namespace {

std::string shape_of(index_t rows, index_t cols) { return std::to_string(rows) + "x" + std::to_string(cols); }

[[noreturn]] void refuse(const std::string& caller, const std::string& what) {
  throw invalid_argument(caller + ": " + what);
}

/// Fills its byte range without gaps.
bool is_dense(const region& r) {
  const byte_range b = bytes_of(r);
  return b.last - b.first == r.rows * r.cols * index_t(r.element_bytes) && !writes_twice(r);
}

/// `r` as `count` runs of `length` consecutive elements, `stride` elements apart, if it is that.
struct runs {
  index_t count, length, stride;
};
bool as_runs(const region& r, runs& out) {
  if (r.col_stride == 1 && (r.row_stride >= r.cols || r.rows == 1))
    out = {r.rows, r.cols, r.row_stride};
  else if (r.row_stride == 1 && (r.col_stride >= r.rows || r.cols == 1))
    out = {r.cols, r.rows, r.col_stride};
  else if (r.cols == 1 && r.row_stride > 0)
    out = {r.rows, 1, r.row_stride};
  else if (r.rows == 1 && r.col_stride > 0)
    out = {r.cols, 1, r.col_stride};
  else
    return false;
  // Runs that follow each other without a gap, and one run alone, are one run.
  if (out.count == 1 || out.stride == out.length) out = {1, out.count * out.length, 0};
  return true;
}

index_t floor_div(index_t a, index_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

// 64-bit sums suffice: it lies in memory.
byte_range bytes_of(const region& r) {
  const auto size = std::intptr_t(r.element_bytes);
  const std::intptr_t down = (r.rows - 1) * r.row_stride * size;
  const std::intptr_t along = (r.cols - 1) * r.col_stride * size;
  const auto base = reinterpret_cast<std::intptr_t>(r.data);
  return {base + std::min<std::intptr_t>(down, 0) + std::min<std::intptr_t>(along, 0),
          base + std::max<std::intptr_t>(down, 0) + std::max<std::intptr_t>(along, 0) + size};
}

bool writes_twice(const region& r) {
  const index_t s = std::abs(r.row_stride), t = std::abs(r.col_stride);
  if (r.rows > 1 && s == 0) return r.cols > 0;
  if (r.cols > 1 && t == 0) return r.rows > 0;
  if (r.rows <= 1 || r.cols <= 1) return false;
  // i·s = j·t has its smallest solution at i = t/g, j = s/g.
  const index_t g = std::gcd(s, t);
  return t / g < r.rows && s / g < r.cols;
}

bool overlaps(const region& x, const region& y) {
  if (x.empty() || y.empty()) return false;
  const byte_range bx = bytes_of(x), by = bytes_of(y);
  if (bx.last <= by.first || by.last <= bx.first) return false;
  if (x.data == y.data) return true;

  // Blocks of one matrix: the run `d` elements further on meets one of ours if, for some number of
  // strides between them, the rest of d is shorter than a run.
  runs rx, ry;
  const auto size = std::intptr_t(x.element_bytes);
  const std::intptr_t apart =
      reinterpret_cast<std::intptr_t>(y.data) - reinterpret_cast<std::intptr_t>(x.data);
  if (x.element_bytes == y.element_bytes && apart % size == 0 && as_runs(x, rx) && as_runs(y, ry) &&
      (rx.stride == ry.stride || rx.count == 1 || ry.count == 1)) {
    const index_t d = apart / size;
    const index_t stride = rx.count == 1 ? ry.stride : rx.stride;
    if (stride == 0) return -ry.length < d && d < rx.length;
    // y's run j starts at d + j·stride, x's run i at i·stride: with q = i - j they meet if
    // -ry.length < d - q·stride < rx.length. Is there such a q among the runs that exist?
    const index_t first = std::max(floor_div(d - rx.length, stride) + 1, 1 - ry.count);
    const index_t last = std::min(-floor_div(-(d + ry.length), stride) - 1, rx.count - 1);
    return first <= last;
  }
  // A dense region holds every byte of its range; the other one's ends are bytes of it.
  const auto inside = [](std::intptr_t byte, const byte_range& range) {
    return range.first <= byte && byte < range.last;
  };
  const auto ends_inside = [&](const byte_range& r, const byte_range& dense) {
    return inside(r.first, dense) || inside(r.last - 1, dense);
  };
  if (is_dense(x) && is_dense(y)) return true;
  if (is_dense(x) && ends_inside(by, bx)) return true;
  if (is_dense(y) && ends_inside(bx, by)) return true;
  return false;
}

void check_shapes(const std::string& caller, const region& a, op op_a, const region& b, op op_b,
                  const region& c) {
  for (const region* r : {&a, &b, &c})
    if (r->rows < 0 || r->cols < 0)
      refuse(caller, std::string(r->name) + " is " + shape_of(r->rows, r->cols) +
                         " but extents must not be negative; check how its view was made");

  const index_t m = c.rows, n = c.cols;
  const index_t k = op_a == op::N ? a.cols : a.rows;
  const auto check_extents = [&caller](const region& x, op op_x, index_t rows, index_t cols,
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
  const std::string caller = "keramos::gemm";
  check_shapes(caller, a, op_a, b, op_b, c);
  for (const region* r : {&a, &b})
    if (overlaps(*r, c))
      refuse(caller, std::string("C (") + shape_of(c.rows, c.cols) + ") overlaps " + r->name + " (" +
                         shape_of(r->rows, r->cols) + ") in memory; pass a copy of " + r->name +
                         " or another C");
}

}  // namespace keramos::detail
