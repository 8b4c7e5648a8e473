#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>

#include <keramos/gemm/check.hpp>

namespace keramos::detail {
namespace {

constexpr const char* function = "keramos::gemm_batched";

[[noreturn]] void refuse(const std::string& what) {
  throw invalid_argument(std::string(function) + ": " + what);
}

std::string shape_of(const region& r) { return std::to_string(r.rows) + "x" + std::to_string(r.cols); }
std::string shape_of(const batch_region& r) { return std::to_string(r.batch) + "x" + shape_of(r.first); }
std::string indexed(const char* name, index_t b) { return std::string(name) + "[" + std::to_string(b) + "]"; }

index_t floor_div(index_t a, index_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// Whether d = i·s + j·t for some |i| < rows and |j| < cols.
bool reaches(index_t d, index_t rows, index_t s, index_t cols, index_t t) {
  for (index_t i = 1 - rows; i < rows; ++i) {
    const index_t rest = d - i * s;
    if (t == 0 ? rest == 0 : rest % t == 0 && std::abs(rest / t) < cols) return true;
  }
  return false;
}

/// All regions of a batch as bytes.
byte_range bytes_of(const batch_region& r) {
  byte_range whole = bytes_of(r.first);
  const auto along = std::intptr_t((r.batch - 1) * r.stride) * std::intptr_t(r.first.element_bytes);
  (along < 0 ? whole.first : whole.last) += along;
  return whole;
}

bool meet(const byte_range& x, const byte_range& y) { return x.first < y.last && y.first < x.last; }

/// Those of a batch, first and last, whose bytes meet these.
struct index_pair {
  index_t first, last;
};
index_pair neighbours(const byte_range& bytes, const batch_region& r) {
  if (r.stride == 0) return {0, 0};
  const byte_range r0 = bytes_of(r.first);
  // bytes.first < r0.last + b·step and r0.first + b·step < bytes.last
  index_t low = bytes.first - r0.last, high = bytes.last - r0.first;
  index_t step = r.stride * index_t(r.first.element_bytes);
  if (step < 0) step = -step, std::swap(low, high), low = -low, high = -high;
  return {std::max<index_t>(floor_div(low, step) + 1, 0), std::min(-floor_div(-high, step), r.batch) - 1};
}

void refuse_overlap(const region& x, const std::string& x_name, const std::string& c_name, const region& c) {
  refuse(c_name + " (" + shape_of(c) + ") overlaps " + x_name + " (" + shape_of(x) +
         ") in memory; pass a copy of " + x.name + " or another C");
}

/// A matrix of a list, where it begins and ends.
struct listed {
  byte_range bytes;
  const region* matrix;
  index_t index;
  bool is_c;
};

}  // namespace

bool writes_twice(const batch_region& r) {
  if (r.empty()) return false;
  if (writes_twice(r.first)) return true;
  if (r.batch == 1) return false;
  if (r.stride == 0) return true;
  // Each dimension's steps larger than all that the smaller ones reach: no two meet.
  struct dimension {
    index_t extent, stride;
  } d[3] = {{r.batch, std::abs(r.stride)},
            {r.first.rows, std::abs(r.first.row_stride)},
            {r.first.cols, std::abs(r.first.col_stride)}};
  std::sort(d, d + 3, [](const dimension& x, const dimension& y) { return x.stride < y.stride; });
  index_t reach = 0;
  bool nested = true;
  for (const dimension& x : d) {
    if (x.extent == 1) continue;
    nested = nested && x.stride > reach;
    reach += (x.extent - 1) * x.stride;
  }
  if (nested) return false;
  const index_t in_matrix =
      (r.first.rows - 1) * std::abs(r.first.row_stride) + (r.first.cols - 1) * std::abs(r.first.col_stride);
  const index_t most = std::min(r.batch - 1, in_matrix / std::abs(r.stride));
  const bool rows_shorter = r.first.rows <= r.first.cols;
  for (index_t b = 1; b <= most; ++b) {
    const index_t apart = b * std::abs(r.stride);
    if (rows_shorter ? reaches(apart, r.first.rows, r.first.row_stride, r.first.cols, r.first.col_stride)
                     : reaches(apart, r.first.cols, r.first.col_stride, r.first.rows, r.first.row_stride))
      return true;
  }
  return false;
}

bool overlaps(const batch_region& x, const batch_region& y, index_t& which_x, index_t& which_y) {
  if (x.empty() || y.empty() || !meet(bytes_of(x), bytes_of(y))) return false;
  const auto test = [&](index_t bx, index_t by) {
    if (!overlaps(x[bx], y[by])) return false;
    which_x = bx, which_y = by;
    return true;
  };
  const auto first_of_x_meets = [&] {
    const auto [first, last] = neighbours(bytes_of(x.first), y);
    for (index_t by = first; by <= last; ++by)
      if (test(0, by)) return true;
    return false;
  };
  if (x.stride == y.stride) {
    // Only the distance in the batch counts: the first of each against all of the other.
    if (first_of_x_meets()) return true;
    const auto [first, last] = neighbours(bytes_of(y.first), x);
    for (index_t bx = first; bx <= last; ++bx)
      if (test(bx, 0)) return true;
    return false;
  }
  if (x.stride == 0) return first_of_x_meets();
  for (index_t bx = 0; bx < x.batch; ++bx) {
    const auto [first, last] = neighbours(bytes_of(x[bx]), y);
    for (index_t by = first; by <= last; ++by)
      if (test(bx, by)) return true;
  }
  return false;
}

void check_gemm_batched(const batch_region& a, op op_a, const batch_region& b, op op_b,
                        const batch_region& c) {
  for (const batch_region* r : {&a, &b, &c})
    if (r->batch < 0)
      refuse(std::string(r->first.name) + " is " + shape_of(*r) +
             " (batch x rows x columns) but extents must not be negative; check how its view was made");
  for (const batch_region* r : {&a, &b})
    if (r->batch != c.batch)
      refuse(std::string(r->first.name) + " is a batch of " + std::to_string(r->batch) + " but C of " +
             std::to_string(c.batch) + "; pass as many matrices, or one matrix for all problems");
  // Of nothing, data may be null.
  const auto shapes_of = [&](const batch_region& r) {
    static const char something = 0;
    region first = r.first;
    if (c.batch == 0 && !first.data) first.data = &something;
    return first;
  };
  check_shapes(function, shapes_of(a), op_a, shapes_of(b), op_b, shapes_of(c));
  if (c.addressed) return;
  if (writes_twice(c))
    refuse("C has strides " + std::to_string(c.stride) + "x" + std::to_string(c.first.row_stride) + "x" +
           std::to_string(c.first.col_stride) + " (batch x row x column) with which its " + shape_of(c) +
           " elements share memory; use strides that keep its matrices apart");
  index_t bx = 0, bc = 0;
  for (const batch_region* r : {&a, &b})
    if (!r->addressed && overlaps(*r, c, bx, bc))
      refuse_overlap(r->first, indexed(r->first.name, bx), indexed("C", bc), c.first);
}

void check_gemm_batched(const std::vector<region>& a, op op_a, const std::vector<region>& b, op op_b,
                        const std::vector<region>& c) {
  const auto entry = [](const std::vector<region>& x, std::size_t i) -> const region& {
    return x[x.size() == 1 ? 0 : i];
  };
  for (const auto* x : {&a, &b})
    if (x->size() != c.size() && x->size() != 1)
      refuse(std::string(x == &a ? "A" : "B") + " lists " + std::to_string(x->size()) + " matrices but C " +
             std::to_string(c.size()) + "; list as many, or pass one matrix for all problems");
  for (std::size_t i = 0; i < c.size(); ++i) {
    const auto check = [&](const std::string& caller) {
      check_shapes(caller, entry(a, i), op_a, entry(b, i), op_b, c[i]);
    };
    try {
      check(function);
    } catch (const invalid_argument&) {  // only then is a name for the problem worth its time
      check(std::string(function) + ": problem " + std::to_string(i));
    }
  }

  // In order of their addresses, only those that begin before the last one has ended can overlap.
  std::vector<listed> all;
  all.reserve(a.size() + b.size() + c.size());
  for (const auto* x : {&a, &b, &c})
    for (std::size_t i = 0; i < x->size(); ++i)
      if (!(*x)[i].empty()) all.push_back({bytes_of((*x)[i]), &(*x)[i], index_t(i), x == &c});
  std::sort(all.begin(), all.end(),
            [](const listed& x, const listed& y) { return x.bytes.first < y.bytes.first; });
  std::vector<const listed*> open;
  // Matrices that are interleaved all meet: then only so many pairs are looked at.
  std::size_t pairs = 100 * all.size();
  for (const listed& x : all) {
    std::erase_if(open, [&](const listed* o) { return o->bytes.last <= x.bytes.first; });
    if (pairs < open.size()) break;
    pairs -= open.size();
    for (const listed* o : open) {
      if (!(x.is_c || o->is_c) || !overlaps(*x.matrix, *o->matrix)) continue;
      const listed& one_c = x.is_c ? x : *o;
      const listed& other = x.is_c ? *o : x;
      if (other.is_c)
        refuse(indexed("C", std::min(x.index, o->index)) + " and " +
               indexed("C", std::max(x.index, o->index)) + " share memory; pass matrices that lie apart");
      refuse_overlap(*other.matrix, indexed(other.matrix->name, other.index), indexed("C", one_c.index),
                     *one_c.matrix);
    }
    open.push_back(&x);
  }
}

}  // namespace keramos::detail
