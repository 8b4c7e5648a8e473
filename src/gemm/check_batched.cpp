#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <keramos/gemm/check.hpp>

namespace keramos::detail {
namespace {

constexpr const char* function = "keramos::gemm_batched";

[[noreturn]] void refuse(const std::string& what) {
  throw invalid_argument(std::string(function) + ": " + what);
}

std::string shape_of(const region& r) { return detail::shape_of(r.rows, r.cols); }
std::string shape_of(const batch_region& r) { return std::to_string(r.batch) + "x" + shape_of(r.first); }
std::string indexed(const char* name, index_t b) { return std::string(name) + "[" + std::to_string(b) + "]"; }

strided_array strided(const batch_region& r) {
  const region& m = r.first;
  return {m.data, m.element_bytes, {r.batch, m.rows, m.cols}, {r.stride, m.row_stride, m.col_stride}};
}

void refuse_overlap(const region& x, const std::string& x_name, const std::string& c_name, const region& c) {
  refuse(c_name + " (" + shape_of(c) + ") overlaps " + x_name + " (" + shape_of(x) +
         ") in memory; pass a copy of " + x.name + " or another C");
}

/// The bytes between which the matrices of a list lie that are not empty, in order.
std::vector<byte_range> ranges_of(const std::vector<region>& list) {
  std::vector<byte_range> ranges;
  ranges.reserve(list.size());
  for (const region& r : list)
    if (!r.empty()) ranges.push_back(bytes_of(detail::strided(r)));
  const auto before = [](const byte_range& x, const byte_range& y) { return x.first < y.first; };
  // Most lists are in order already.
  if (!std::is_sorted(ranges.begin(), ranges.end(), before)) std::sort(ranges.begin(), ranges.end(), before);
  return ranges;
}

/// Whether no range meets the one that follows.
bool are_apart(const std::vector<byte_range>& ranges) {
  const auto meet = [](const byte_range& x, const byte_range& next) { return next.first < x.last; };
  return std::adjacent_find(ranges.begin(), ranges.end(), meet) == ranges.end();
}
/// Whether no range of `x` meets one of `apart`, whose ranges are apart.
bool are_apart(const std::vector<byte_range>& apart, const std::vector<byte_range>& x) {
  auto other = x.begin();
  for (const byte_range& r : apart)
    for (; other != x.end() && other->first < r.last; ++other)
      if (other->last > r.first) return false;
  return true;
}

/// A matrix of a list.
struct listed {
  byte_range bytes;
  const region* matrix;
  index_t index;
  bool is_c;
  /// All its elements begin at `rest` modulo `period` bytes, both multiples of the largest element's size; a period of 0 says
  /// nothing.
  index_t period, rest;
};

listed listed_matrix(const region& r, std::size_t index, bool is_c, index_t largest_element) {
  listed x{bytes_of(detail::strided(r)), &r, index_t(index), is_c, 0, 0};
  x.period =
      std::gcd(r.rows > 1 ? r.row_stride : 0, r.cols > 1 ? r.col_stride : 0) * index_t(r.element_bytes);
  if (x.period > 0) x.rest = (x.bytes.first % x.period + x.period) % x.period;
  // Else elements of other rests could overlap it.
  if (x.rest % largest_element != 0 || x.period % largest_element != 0) x.period = x.rest = 0;
  return x;
}

/// The matrices that may still overlap those that begin later. Matrices that are interleaved have a period in
/// common and a rest each, and so need not be held against each other.
class open_matrices {
 public:
  /// Calls `f` with all that x might overlap, until it returns false; then x is one of them.
  template <class F>
  void add(const listed& x, const F& f) {
    for (auto& [period, by_rest] : open_) {
      if (period == x.period && period != 0) {
        if (!visit(by_rest[x.rest], x, f)) return;
      } else {
        for (auto& [rest, matrices] : by_rest)
          if (!visit(matrices, x, f)) return;
      }
    }
    open_[x.period][x.rest].push_back(&x);
  }

 private:
  using matrices = std::vector<const listed*>;

  template <class F>
  static bool visit(matrices& all, const listed& x, const F& f) {
    std::erase_if(all, [&](const listed* o) { return o->bytes.last <= x.bytes.first; });
    return std::all_of(all.begin(), all.end(), [&](const listed* o) { return f(*o); });
  }

  std::map<index_t, std::unordered_map<index_t, matrices>> open_;
};

}  // namespace

bool writes_twice(const batch_region& r) { return shares_elements(strided(r)); }

bool overlaps(const batch_region& x, const batch_region& y, index_t& which_x, index_t& which_y) {
  if (!share_memory(strided(x), strided(y))) return false;
  // Only now is it worth its time to find two such matrices.
  const strided_array all_of_y = strided(y);
  for (which_x = 0; which_x + 1 < x.batch; ++which_x)
    if (share_memory(detail::strided(x[which_x]), all_of_y)) break;
  const strided_array one_of_x = detail::strided(x[which_x]);
  for (which_y = 0; which_y + 1 < y.batch; ++which_y)
    if (share_memory(one_of_x, detail::strided(y[which_y]))) break;
  return true;
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
                        const std::vector<region>& c, one_for_all given) {
  const auto entry = [](const std::vector<region>& x, std::size_t i) -> const region& {
    return x[x.size() == 1 ? 0 : i];
  };
  for (const auto* x : {&a, &b})
    if (x->size() != c.size() && !(x == &a ? given.a : given.b))
      refuse(std::string(x == &a ? "A" : "B") + " lists " + std::to_string(x->size()) +
             (x->size() == 1 ? " matrix" : " matrices") + " but C " + std::to_string(c.size()) +
             "; list as many, or pass one matrix for all problems");
  for (std::size_t i = 0; i < c.size(); ++i) {
    const auto check = [&](std::string_view caller) {
      check_shapes(caller, entry(a, i), op_a, entry(b, i), op_b, c[i]);
    };
    try {
      check(function);
    } catch (const invalid_argument&) {  // only then is a name for the problem worth its time
      check(std::string(function) + ": problem " + std::to_string(i));
    }
  }

  // Most lists are plainly sound: no byte between the ends of a C lies between those of another matrix.
  if (const auto of_c = ranges_of(c);
      are_apart(of_c) && are_apart(of_c, ranges_of(a)) && are_apart(of_c, ranges_of(b)))
    return;
  // In order of their addresses, only those that begin before the last one has ended can overlap.
  std::vector<listed> all;
  all.reserve(a.size() + b.size() + c.size());
  std::size_t largest = 1;
  for (const auto* x : {&a, &b, &c})
    if (!x->empty()) largest = std::max(largest, x->front().element_bytes);
  for (const auto* x : {&a, &b, &c})
    for (std::size_t i = 0; i < x->size(); ++i)
      if (!(*x)[i].empty()) all.push_back(listed_matrix((*x)[i], i, x == &c, index_t(largest)));
  std::sort(all.begin(), all.end(),
            [](const listed& x, const listed& y) { return x.bytes.first < y.bytes.first; });
  open_matrices open;
  // Where very many meet all the same, only so many pairs are looked at.
  std::size_t pairs = 100 * all.size();
  for (const listed& x : all) {
    open.add(x, [&](const listed& o) {
      if (pairs == 0) return false;
      --pairs;
      if (!(x.is_c || o.is_c) || !overlaps(*x.matrix, *o.matrix)) return true;
      const listed& one_c = x.is_c ? x : o;
      const listed& other = x.is_c ? o : x;
      if (other.is_c)
        refuse(indexed("C", std::min(x.index, o.index)) + " and " + indexed("C", std::max(x.index, o.index)) +
               " share memory; pass matrices that lie apart");
      refuse_overlap(*other.matrix, indexed(other.matrix->name, other.index), indexed("C", one_c.index),
                     *one_c.matrix);
      return true;
    });
    if (pairs == 0) break;
  }
}

}  // namespace keramos::detail
