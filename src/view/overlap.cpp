#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>

#include <keramos/view/overlap.hpp>

namespace keramos::detail {
namespace {

/// The sums of one value each of some progressions 0, stride, 2·stride, ... of `count` values.
class sums_of_progressions {
 public:
  /// Values stride·i for 0 <= i < count.
  void add(index_t stride, index_t count) {
    if (count <= 1 || stride == 0) return;
    if (stride < 0) {
      offset_ += stride * (count - 1);
      stride = -stride;
    }
    int t = terms_;  // the widest strides first
    while (t > 0 && term_[t - 1].stride < stride) --t;
    if (t > 0 && term_[t - 1].stride == stride) {
      term_[t - 1].count += count - 1;
      return;
    }
    std::copy_backward(term_ + t, term_ + terms_, term_ + terms_ + 1);
    term_[t] = {stride, count};
    ++terms_;
  }

  bool reach(index_t sum) {
    for (int t = terms_ - 1; t >= 0; --t) {
      term_[t].span = term_[t].stride * (term_[t].count - 1) + (t + 1 < terms_ ? term_[t + 1].span : 0);
      term_[t].divisor = std::gcd(term_[t].stride, t + 1 < terms_ ? term_[t + 1].divisor : 0);
    }
    return reach(0, sum - offset_);
  }

 private:
  struct term {
    index_t stride, count;
    index_t span = 0, divisor = 0;  // largest sum, and common divisor, of this term and those behind it
  };

  bool reach(int t, index_t sum) {
    if (sum == 0) return true;
    if (t == terms_ || sum < 0 || sum > term_[t].span || sum % term_[t].divisor != 0 || steps_ == 0)
      return false;
    --steps_;
    const int left = terms_ - t;
    if (left == 1) return true;
    if (left == 2) return reach_with_two(term_[t], term_[t + 1], sum);
    const index_t stride = term_[t].stride, rest = term_[t + 1].span;
    const index_t first = sum > rest ? (sum - rest + stride - 1) / stride : 0;
    for (index_t i = std::min(term_[t].count - 1, sum / stride); i >= first && steps_ > 0; --i)
      if (reach(t + 1, sum - i * stride)) return true;
    return false;
  }

  /// Whether a·i + b·j = sum; their common divisor divides it.
  static bool reach_with_two(const term& a, const term& b, index_t sum) {
    const index_t step = b.stride / a.divisor;  // from one i that solves it to the next
    const index_t rest = b.stride * (b.count - 1);
    const index_t least = sum > rest ? (sum - rest + a.stride - 1) / a.stride : 0;
    const index_t most = std::min(a.count - 1, sum / a.stride);
    const index_t any = solve(a.stride / a.divisor % step, sum / a.divisor % step, step);
    const index_t first =
        any >= least ? any - (any - least) / step * step : any + (least - any + step - 1) / step * step;
    return first <= most;
  }

  /// i of a·i ≡ b modulo m, 0 <= i < m, for a without a common divisor with m.
  static index_t solve(index_t a, index_t b, index_t m) {
    if (m == 1) return 0;
    index_t r0 = m, r1 = a, x0 = 0, x1 = 1;
    while (r1 > 1) {
      const index_t q = r0 / r1;
      r0 = std::exchange(r1, r0 - q * r1);
      x0 = std::exchange(x1, x0 - q * x1);
    }
    __extension__ using wide = __int128;
    return index_t(wide(x1 < 0 ? x1 + m : x1) * b % m);
  }

  term term_[7];
  int terms_ = 0;
  index_t offset_ = 0;  // the least sum
  int steps_ = 10'000;
};

/// Whether each dimension's stride leads past all of the dimensions with smaller strides: then no two indices have the same
/// element.
bool nests(const strided_array& x) {
  struct dimension {
    index_t stride = 0, span = 0;
  } all[3];
  for (int d = 0; d < 3; ++d) {
    if (x.extent[d] == 1) continue;
    if (x.stride[d] == 0) return false;
    all[d] = {std::abs(x.stride[d]), std::abs(x.stride[d]) * (x.extent[d] - 1)};
  }
  const auto order = [](dimension& low, dimension& high) {
    if (high.stride < low.stride) std::swap(low, high);
  };
  order(all[0], all[1]), order(all[1], all[2]), order(all[0], all[1]);
  // Those of one index come first, with strides and spans of 0.
  return (all[1].stride > all[0].span || all[1].stride == 0) &&
         (all[2].stride > all[0].span + all[1].span || all[2].stride == 0);
}

}  // namespace

// 64-bit sums suffice: it lies in memory.
byte_range bytes_of(const strided_array& x) {
  index_t low = 0, high = 0;
  for (int d = 0; d < 3; ++d) {
    const index_t span = x.stride[d] * (x.extent[d] - 1);
    (span < 0 ? low : high) += span;
  }
  const auto size = std::intptr_t(x.element_bytes), first = reinterpret_cast<std::intptr_t>(x.data);
  return {first + low * size, first + (high + 1) * size};
}

bool share_memory(const strided_array& x, const strided_array& y) {
  if (x.empty() || y.empty()) return false;
  const byte_range of_x = bytes_of(x), of_y = bytes_of(y);
  if (of_x.last <= of_y.first || of_y.last <= of_x.first) return false;
  index_t apart = index_t(reinterpret_cast<std::intptr_t>(y.data) - reinterpret_cast<std::intptr_t>(x.data));
  auto x_unit = index_t(x.element_bytes), y_unit = index_t(y.element_bytes);
  sums_of_progressions sums;
  if (x_unit == y_unit && apart % x_unit == 0) {
    apart /= x_unit;
    x_unit = y_unit = 1;
  } else {  // byte by byte
    sums.add(1, x_unit);
    sums.add(-1, y_unit);
  }
  for (int d = 0; d < 3; ++d) {
    sums.add(x.stride[d] * x_unit, x.extent[d]);
    sums.add(-y.stride[d] * y_unit, y.extent[d]);
  }
  return sums.reach(apart);
}

bool shares_elements(const strided_array& x) {
  if (x.empty() || nests(x)) return false;
  for (int d = 0; d < 3; ++d) {
    // Two indices of which d is the first to differ: by 1 to extent - 1, and all others by less than theirs.
    if (x.extent[d] == 1) continue;
    sums_of_progressions sums;
    sums.add(x.stride[d], x.extent[d] - 1);
    for (int e = d + 1; e < 3; ++e) {
      sums.add(x.stride[e], x.extent[e]);
      sums.add(-x.stride[e], x.extent[e]);
    }
    if (sums.reach(-x.stride[d])) return true;
  }
  return false;
}

}  // namespace keramos::detail
