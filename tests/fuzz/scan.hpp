// A random scan, at times in place or into memory near by.
#pragma once

#include <cmath>
#include <optional>
#include <sstream>
#include <string>

#include "arena.hpp"

namespace keramos::fuzz {

template <class T>
class scan {
  using wide = reference::wider_t<T>;

 public:
  scan(std::mt19937_64& rng, const arena (&memory)[3]) {
    const index_t limits[] = {10, 300, 5000, 30000};
    count_ = draw(rng, 1 + pick(rng, limits));
    inclusive_ = one_in(rng, 2), maximum_ = std::is_integral_v<T> && one_in(rng, 2);
    init_ = value(rng);
    for (auto* s : {&x_stride_, &y_stride_})
      *s = (one_in(rng, 3) ? 1 + draw(rng, 3) : 1) * (one_in(rng, 6) ? -1 : 1);
    together_ = one_in(rng, 3);
    if (together_ && one_in(rng, 2)) y_stride_ = x_stride_;
    const auto length = [&](index_t stride) { return count_ == 0 ? 0 : (count_ - 1) * std::abs(stride) + 1; };
    const auto first = [&](index_t stride) { return stride < 0 ? length(stride) - 1 : 0; };
    const index_t x_size = length(x_stride_), y_size = length(y_stride_);
    x_at_ = first(x_stride_), y_at_ = first(y_stride_);
    if (together_) {
      // The same elements, others, or some of both.
      const index_t shift = one_in(rng, 2) ? 0 : one_in(rng, 2) ? x_size : draw(rng, x_size + 2);
      y_at_ += shift;
      areas_[0].start(memory[0], std::max(x_size, y_size + shift), !one_in(rng, 3));
    } else {
      areas_[0].start(memory[0], x_size, !one_in(rng, 3));
      areas_[1].start(memory[1], y_size, !one_in(rng, 3));
    }
    const index_t nan_at = !std::is_integral_v<T> && one_in(rng, 6) ? draw(rng, count_ + 1) : -1;
    for (index_t i = 0; i < count_; ++i)
      areas_[0].before[x_at_ + i * x_stride_] = i == nan_at ? poison<T>() : value(rng);
    for (auto& a : areas_) a.upload();
  }

  std::string describe() const {
    std::ostringstream s;
    s << (inclusive_ ? "inclusive" : "exclusive") << "_scan" << (maximum_ ? " of maxima" : " of sums")
      << " of " << count_
      << (std::is_integral_v<T> ? " i32"
          : sizeof(T) == 4      ? " f32"
                                : " f64")
      << ", strides " << x_stride_ << ' ' << y_stride_ << " at " << x_at_ << ' ' << y_at_
      << (together_ ? " of one array" : "");
    return s.str();
  }

  /// Whether what becomes of it is promised: some overlaps need not be noticed.
  bool is_defined() const { return !must_be_refused() || (x_stride_ == y_stride_ && x_stride_ > 0); }

  std::optional<std::string> run() {
    const grid_view<const T, 1> x{areas_[0].data + x_at_, {count_}, {x_stride_}};
    const grid_view<T, 1> y{(together_ ? areas_[0] : areas_[1]).data + y_at_, {count_}, {y_stride_}};
    const bool refused = must_be_refused();
    try {
      queue q;
      if (maximum_)
        call(q, x, y, maximum{});
      else
        call(q, x, y, plus{});
      q.wait();
    } catch (const invalid_argument& e) {
      return refused ? std::nullopt : std::optional(std::string("refused: ") + e.what());
    }
    if (refused) return "an overlap was not refused";
    return judge();
  }

 private:
  /// Integers whose sums fit: those of `plus` must not overflow.
  static T value(std::mt19937_64& rng) {
    if constexpr (std::is_integral_v<T>)
      return T(draw(rng, 60001) - 30000);
    else
      return random_value<T>(rng);
  }

  template <class X, class Y, class Op>
  void call(queue& q, const X& x, const Y& y, const Op& op) const {
    if (inclusive_)
      inclusive_scan(q, x, y, op);
    else
      exclusive_scan(q, x, y, init_, op);
  }

  bool must_be_refused() const {
    if (!together_ || (x_at_ == y_at_ && x_stride_ == y_stride_)) return false;  // in place
    std::vector<bool> in_x(areas_[0].before.size(), false);
    for (index_t i = 0; i < count_; ++i) in_x[std::size_t(x_at_ + i * x_stride_)] = true;
    for (index_t i = 0; i < count_; ++i)
      if (in_x[std::size_t(y_at_ + i * y_stride_)]) return true;
    return false;
  }

  std::optional<std::string> judge() {
    for (auto& a : areas_) a.download();
    const area<T>& out = areas_[together_ ? 0 : 1];
    std::vector<bool> in_y(out.before.size(), false);
    wide sum = 0, magnitude = 0;
    T most = 0;
    bool any = false;
    const auto add = [&](T v) {
      most = any ? std::max(most, v) : v, any = true;
      sum += wide(v);
      if constexpr (!std::is_integral_v<T>) magnitude += std::abs(wide(v));
    };
    if (!inclusive_) add(init_);
    for (index_t i = 0; i < count_; ++i) {
      const T v = areas_[0].before[std::size_t(x_at_ + i * x_stride_)];
      if (inclusive_) add(v);
      const auto at = std::size_t(y_at_ + i * y_stride_);
      in_y[at] = true;
      const T got = out.after[at];
      bool right;
      if constexpr (std::is_integral_v<T>)
        right = maximum_ ? got == most : std::uint32_t(got) == sum;
      else if (std::isnan(sum))
        right = std::isnan(got);
      else
        right = std::abs(wide(got) - sum) <= wide(i + 2) * reference::unit_roundoff<T> * magnitude;
      if (!right) {
        std::ostringstream s;
        s << "y(" << i << ") is " << got << ", not " << (maximum_ ? wide(most) : sum);
        return s.str();
      }
      if (!inclusive_) add(v);
    }
    for (const area<T>& a : areas_)
      for (std::size_t at = 0; at < a.before.size(); ++at)
        if (!(&a == &out && in_y[at]) && !a.is_unchanged(at))
          return "wrote outside y, at element " + std::to_string(at);
    return std::nullopt;
  }

  index_t count_, x_stride_, y_stride_, x_at_, y_at_;
  bool inclusive_, maximum_, together_;
  T init_;
  area<T> areas_[2];
};

}  // namespace keramos::fuzz
