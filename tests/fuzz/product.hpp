// A random product, or a batch of them, by whichever call.
#pragma once

#include <cmath>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <keramos/gemm/fused.hpp>

#include "arena.hpp"

namespace keramos::fuzz {

/// A matrix in an area: element (i, j) is at `at + i * row_stride + j * col_stride`.
struct placed {
  index_t rows, cols, row_stride, col_stride, at;
  index_t operator()(index_t i, index_t j) const { return at + i * row_stride + j * col_stride; }
  bool empty() const { return rows == 0 || cols == 0; }
};

/// The layouts of one operand: some with unit stride, some without, gaps, turned over, of A and B also repeated.
class layouts {
 public:
  /// Places a matrix from `end` on and moves `end` behind it.
  static placed next(std::mt19937_64& rng, index_t rows, index_t cols, bool may_repeat, index_t& end) {
    const index_t step = one_in(rng, 4) ? 1 + draw(rng, 3) : 1;
    const index_t gap = one_in(rng, 2) ? 0 : draw(rng, 9);
    placed p{rows, cols, 0, 0, 0};
    if (one_in(rng, 2))
      p.col_stride = step, p.row_stride = std::max<index_t>(cols, 1) * step + gap;
    else
      p.row_stride = step, p.col_stride = std::max<index_t>(rows, 1) * step + gap;
    if (one_in(rng, 12)) p.row_stride = -p.row_stride;
    if (one_in(rng, 12)) p.col_stride = -p.col_stride;
    if (may_repeat && one_in(rng, 20)) (one_in(rng, 2) ? p.row_stride : p.col_stride) = 0;
    const index_t down = std::max<index_t>(rows - 1, 0) * p.row_stride;
    const index_t along = std::max<index_t>(cols - 1, 0) * p.col_stride;
    p.at = end - std::min<index_t>(down, 0) - std::min<index_t>(along, 0);
    if (!p.empty()) end += std::abs(down) + std::abs(along) + 1;
    return p;
  }
};

/// Whether the library promises to notice that these two overlap: blocks of one matrix, or one without gaps
/// (gemm/check.hpp).
inline bool overlap_is_provable(const placed& x, const placed& y) {
  const auto leading = [](const placed& p) -> index_t {
    if (p.col_stride == 1 && p.row_stride >= p.cols) return p.row_stride;
    if (p.row_stride == 1 && p.col_stride >= p.rows) return p.col_stride;
    return 0;
  };
  const auto is_dense = [](const placed& p) {
    return (p.col_stride == 1 && p.row_stride == p.cols) || (p.row_stride == 1 && p.col_stride == p.rows);
  };
  return (leading(x) != 0 && leading(x) == leading(y)) || is_dense(x) || is_dense(y);
}

/// Whether the device rounds floats to tf32: hosts, and many GPUs, refuse to.
inline bool rounds_to_tf32() {
  static const bool can = [] {
    alignas(16) static float memory[3][64];  // which a plan does not read
    const auto matrix = [&](int x) { return matrix_view<float>::row_major(memory[x], 8, 8); };
    try {
      queue q;
      plan_gemm(q, matrix(0), matrix(1), matrix(2), {.compute = gemm_compute::tf32});
      return true;
    } catch (const error&) {
      return false;
    }
  }();
  return can;
}

/// An epilogue that knows where it is: it turns the sign of some elements.
struct turned_signs {
  KERAMOS_INLINE_FUNCTION static bool turns(index_t i, index_t j, index_t batch) {
    return (i + 2 * j + 3 * batch) % 5 == 0;
  }
  template <class T>
  KERAMOS_INLINE_FUNCTION T operator()(T x, index_t i, index_t j, index_t batch) const {
    return turns(i, j, batch) ? -x : x;
  }
};

/// Of elements of types A, B and C.
template <class A, class B = A, class C = A>
class product {
  using types = keramos::detail::types_of<A, B, C>;
  /// Of elements of two types the wider or complex ones.
  using number = reference::wider_element<A, B>;
  using scalar = test::scalar_type_for<number>;

 public:
  enum class form { one, strided, pointers, list };
  static constexpr bool one_type = std::is_same_v<A, C> && std::is_same_v<B, C>;

 private:
  /// Its kernels are compiled here, so not for all types.
  static constexpr bool takes_epilogues =
      std::is_same_v<C, bfloat16> ||
      (one_type && (std::is_same_v<A, float> || std::is_same_v<A, Kokkos::complex<double>>));

 public:
  /// `close`: small ones of which A or B lies among C, if all are of one type.
  product(std::mt19937_64& rng, form f, bool close, const arena (&memory)[3])
      : form_(f), close_(close && one_type) {
    const index_t count = f == form::one ? 1 : 1 + draw(rng, 7);
    op_a_ = pick(rng, ops), op_b_ = pick(rng, ops);
    // Of the scalars none, one and the special ones matter most.
    alpha_ = random_scalar(rng) * test::scale_to<C>, beta_ = one_in(rng, 2) ? scalar(0) : random_scalar(rng);
    has_epilogue_ = takes_epilogues && one_in(rng, 4);
    if (has_epilogue_ && alpha_ == scalar(0)) alpha_ = 1;  // sums are formed whatever alpha is
    if (one_type && std::is_floating_point_v<A> && !has_epilogue_ && one_in(rng, 6))
      compute_ = sizeof(A) == 8                       ? gemm_compute::f64_emulated
                 : rounds_to_tf32() && one_in(rng, 2) ? gemm_compute::tf32
                                                      : gemm_compute::f32_emulated;
    const bool a_for_all = f != form::one && one_in(rng, 5), b_for_all = f != form::one && one_in(rng, 5);
    index_t m = 0, n = 0, k = 0, ends[3] = {0, 0, 0};
    const int among = close ? int(draw(rng, 2)) : 2;  // the operand that lies where C lies
    for (index_t i = 0; i < count; ++i) {
      const bool fresh = i == 0 || f == form::list;
      if (fresh && !(i > 0 && (a_for_all || b_for_all))) extents(rng, count, m, n, k);
      const bool ta = op_a_ != op::N, tb = op_b_ != op::N;
      const index_t rows[] = {ta ? k : m, tb ? n : k, m}, cols[] = {ta ? m : k, tb ? k : n, n};
      placed all[3];
      for (int x = 0; x < 3; ++x) {
        const bool again = i > 0 && ((x == 0 && a_for_all) || (x == 1 && b_for_all));
        if (again) {
          all[x] = problems_[0].of[x];
        } else if (i > 0 && f != form::list) {
          all[x] = problems_[0].of[x];
          all[x].at += i * stride_[x];
        } else {
          all[x] = layouts::next(rng, rows[x], cols[x], x < 2, ends[x]);
          if (x == 2 && close && one_in(rng, 2))
            like(rng, all[x], problems_.empty() ? all[among] : problems_[0].of[among]);
          ends[x] += one_in(rng, 2) ? 0 : draw(rng, 40);
        }
      }
      if (i == 0 && (f == form::strided || f == form::pointers)) {
        for (int x = 0; x < 3; ++x) stride_[x] = distance(rng, all[x], ends[x]);
        if (a_for_all) stride_[0] = 0;
        if (b_for_all) stride_[1] = 0;
      }
      problems_.push_back({{all[0], all[1], all[2]}, k});
    }
    // What is among C shares its area, shifted at will.
    const index_t shift = close ? draw(rng, 60) - 20 : 0;
    area_of_[0] = 0, area_of_[1] = 1, area_of_[2] = 2;
    if (close) {
      area_of_[among] = 2;
      for (auto& p : problems_) p.of[among].at += shift;
    }
    for (int x = 0; x < 3; ++x) fit(x, memory[x], !one_in(rng, 3));
    fill(rng);
    refusal_ = must_be_refused();
  }

  /// Whether what becomes of it is promised: some overlaps need not be noticed.
  bool is_defined() const { return refusal_.has_value(); }

  std::string describe() const {
    std::ostringstream s;
    s << types::name
      << (form_ == form::one        ? " gemm"
          : form_ == form::strided  ? " gemm_batched, strided"
          : form_ == form::pointers ? " gemm_batched, by pointers"
                                    : " gemm_batched, listed")
      << (close_ ? ", close" : "") << (has_epilogue_ ? ", with an epilogue" : "")
      << (compute_ == gemm_compute::standard ? ""
          : compute_ == gemm_compute::tf32   ? ", as tf32"
                                             : ", emulated")
      << (subnormal_ ? ", with subnormals" : "") << ", op " << char(op_a_) << char(op_b_) << ", alpha "
      << alpha_ << ", beta " << beta_;
    for (const auto& p : problems_)
      for (int x = 0; x < 3; ++x)
        s << (x == 0 ? "; " : ", ") << "ABC"[x] << ' ' << p.of[x].rows << 'x' << p.of[x].cols << " strides "
          << p.of[x].row_stride << ' ' << p.of[x].col_stride << " at " << p.of[x].at << " of "
          << in_area(area_of_[x], [](const auto& area) { return area.before.size(); });
    return s.str();
  }

  /// What is wrong with it, if anything is.
  std::optional<std::string> run() {
    std::optional<std::string> refused;
    try {
      multiply();
    } catch (const invalid_argument& e) {
      refused = std::string("refused: ") + e.what();
    }
    if (refused && refusal_ == false) return refused;
    if (!refused && refusal_ == true) return "an overlap was not refused";
    for (int x = 0; x < 3; ++x) in_area(x, [](auto& area) { area.download(); });
    return refused ? unchanged_outside({}) : judge();
  }

 private:
  struct problem {
    placed of[3];
    index_t k;
  };
  static constexpr op ops[3] = {op::N, op::T, op::C};

  scalar random_scalar(std::mt19937_64& rng) {
    if constexpr (complex_like<number>) {
      const double re = random_part(rng);
      return {re, one_in(rng, 2) ? 0 : random_part(rng)};
    } else {
      return random_part(rng);
    }
  }
  double random_part(std::mt19937_64& rng) {
    if constexpr (!std::is_integral_v<A>) {
      if (one_in(rng, 20)) return pick(rng, specials);
      if (one_in(rng, 20))
        return double(std::numeric_limits<sum_t<number>>::denorm_min()) * double(1 + draw(rng, 1000));
    }
    constexpr double usual[] = {1, 1, 0, -1, 3, -2};
    return pick(rng, usual);
  }
  static constexpr double specials[4] = {std::numeric_limits<double>::quiet_NaN(),
                                         std::numeric_limits<double>::infinity(),
                                         -std::numeric_limits<double>::infinity(), 0};

  void extents(std::mt19937_64& rng, index_t count, index_t& m, index_t& n, index_t& k) const {
    const auto extent = [&](index_t longest) {
      const index_t limits[] = {20, 70, longest};
      return one_in(rng, 40) ? 0 : 1 + draw(rng, pick(rng, limits));
    };
    const index_t most = close_ ? 12 : count > 1 ? 60 : 200;
    do {
      m = std::min(extent(most), close_ ? most : 999), n = std::min(extent(most), close_ ? most : 999);
      k = std::min(extent(one_in(rng, 8) ? 6 * most : most), close_ ? most : 9999);
      if (!close_ && count == 1 && one_in(rng, 10)) (one_in(rng, 2) ? m : n) *= 3;
    } while (m * n * k > 6'000'000);
  }

  /// Gives C the strides of the operand that it lies among.
  static void like(std::mt19937_64& rng, placed& c, const placed& x) {
    const index_t leading =
        std::max({std::abs(x.row_stride), std::abs(x.col_stride), c.rows, c.cols, index_t(1)});
    c.row_stride = leading, c.col_stride = 1;
    if (one_in(rng, 2)) std::swap(c.row_stride, c.col_stride);
  }

  /// From one matrix of a batch to the next: behind it, or between its elements.
  static index_t distance(std::mt19937_64& rng, const placed& p, index_t end) {
    const index_t small = std::min(std::abs(p.row_stride), std::abs(p.col_stride));
    if (small > 1 && one_in(rng, 2)) return 1;
    const index_t s = std::max<index_t>(end, 1);
    return one_in(rng, 8) ? -s : s;
  }

  /// Moves what lies in area x so that it begins at 0 and ends with the area.
  void fit(int which, const arena& memory, bool at_end) {
    index_t low = std::numeric_limits<index_t>::max(), high = -low;
    const auto for_each = [&](const auto& f) {
      for (auto& p : problems_)
        for (int x = 0; x < 3; ++x)
          if (area_of_[x] == which) f(p.of[x]);
    };
    for_each([&](const placed& p) {
      if (p.empty()) return;
      for (const index_t i : {index_t(0), p.rows - 1})
        for (const index_t j : {index_t(0), p.cols - 1})
          low = std::min(low, p(i, j)), high = std::max(high, p(i, j));
    });
    if (high < low) low = 0, high = -1;
    for_each([&](placed& p) { p.at = p.empty() ? 0 : p.at - low; });
    in_area(which, [&](auto& area) { area.start(memory, high - low + 1, at_end); });
  }

  template <class F>
  void for_each_element(int x, const F& f) {
    in_area(area_of_[x], [&](auto& area) {
      for (auto& p : problems_)
        for (index_t i = 0; i < p.of[x].rows; ++i)
          for (index_t j = 0; j < p.of[x].cols; ++j) f(area.before[std::size_t(p.of[x](i, j))]);
    });
  }

  template <class T>
  static T random_special(std::mt19937_64& rng) {
    using limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, float8_e5m2>)  // conversions make no infinities
      return one_in(rng, 2) ? limits::quiet_NaN() : limits::infinity();
    else if constexpr (std::is_same_v<T, float8_e4m3>)
      return limits::quiet_NaN();
    else
      return T(sum_t<part_t<T>>(pick(rng, specials)));
  }

  /// x scaled to where about half of A's numbers, or of B's if their smallest ones are larger, are subnormal (-1), or so that
  /// these times it are of usual size (1).
  template <class T>
  static T scaled(const T& x, int towards) {
    using part = part_t<T>;
    const double least = std::max(double(std::numeric_limits<part_t<A>>::min()),
                                  double(std::numeric_limits<part_t<B>>::min())),
                 scale = towards < 0 ? 4 * least : 1 / least;
    const auto of_part = [&](const part& r) { return part(sum_t<part>(double(r) * scale)); };
    if constexpr (complex_like<T>)
      return T(of_part(x.real()), of_part(x.imag()));
    else
      return of_part(x);
  }

  void fill(std::mt19937_64& rng) {
    constexpr bool is_integer = std::is_integral_v<A>;
    // Of subnormal elements tf32 keeps fewer bits than the bound says.
    subnormal_ = !is_integer && compute_ != gemm_compute::tf32 && one_in(rng, 6);
    const bool special = !is_integer && one_in(rng, 5);
    constexpr int choices[][3] = {{-1, 1, 0}, {1, -1, 0}, {-1, -1, -1}, {-1, 1, -1}};
    const auto& towards = choices[draw(rng, 4)];
    const auto random = [&]<class T>(int x, T& v) {
      v = random_value<T>(rng);
      if constexpr (!is_integer) {
        if (subnormal_ && towards[x] != 0) v = scaled(v, towards[x]);
        if (x < 2 && special && one_in(rng, 300)) v = random_special<T>(rng);
      }
    };
    // C first: what lies among it keeps its own values.
    if (beta_ != scalar(0)) for_each_element(2, [&](auto& v) { random(2, v); });
    if (alpha_ != scalar(0))
      for (int x : {0, 1}) for_each_element(x, [&](auto& v) { random(x, v); });
    for (int x = 0; x < 3; ++x) in_area(x, [](auto& area) { area.upload(); });
  }

  /// Calls f with area x.
  template <class F>
  decltype(auto) in_area(int x, const F& f) {
    return x == 0 ? f(a_) : x == 1 ? f(b_) : f(c_);
  }
  template <class F>
  decltype(auto) in_area(int x, const F& f) const {
    return x == 0 ? f(a_) : x == 1 ? f(b_) : f(c_);
  }
  /// The areas of operands.
  const area<A>& area_of_a() const {
    if constexpr (one_type)
      if (area_of_[0] == 2) return c_;
    return a_;
  }
  const area<B>& area_of_b() const {
    if constexpr (one_type)
      if (area_of_[1] == 2) return c_;
    return b_;
  }
  void multiply() {
    const auto a = views<const A>(0, area_of_a());
    const auto b = views<const B>(1, area_of_b());
    const auto c = views<C>(2, c_);
    if (form_ == form::one) {
      multiply(a[0], b[0], c[0]);
    } else if (form_ == form::strided) {
      const auto batch = [&]<class U>(const matrix_view<U>& x, index_t stride) {
        return batched_matrix_view<U>::strided(x, index_t(problems_.size()), stride);
      };
      multiply(batch(a[0], stride_[0]), batch(b[0], stride_[1]), batch(c[0], stride_[2]));
    } else if (form_ == form::pointers) {
      const backend_copy at_a(a.data(), a.size() * sizeof(a[0])), at_b(b.data(), b.size() * sizeof(b[0])),
          at_c(c.data(), c.size() * sizeof(c[0]));
      const auto array = []<class U>(const std::vector<matrix_view<U>>& x, const backend_copy& addresses) {
        return matrix_array<U>{addresses.data(), sizeof(x[0]),    index_t(x.size()), x[0].rows,
                               x[0].cols,        x[0].row_stride, x[0].col_stride};
      };
      multiply(array(a, at_a), array(b, at_b), array(c, at_c));
    } else {
      multiply(a, b, c);
    }
  }
  template <class U, class T>
  std::vector<matrix_view<U>> views(int x, const area<T>& in) const {
    std::vector<matrix_view<U>> all;
    for (const problem& p : problems_) {
      const placed& of = p.of[x];
      all.push_back({in.data + of.at, of.rows, of.cols, of.row_stride, of.col_stride});
    }
    return all;
  }
  template <class MA, class MB, class MC>
  void multiply(const MA& a, const MB& b, const MC& c) const {
    queue q;
    const auto call = [&](const auto&... arguments) {
      if constexpr (matrix_like<MC>)
        gemm(q, arguments..., {.op_a = op_a_, .op_b = op_b_, .compute = compute_}).wait();
      else
        gemm_batched(q, arguments..., {op_a_, op_b_, compute_}).wait();
    };
    if constexpr (takes_epilogues) {
      if (has_epilogue_) return call(a, b, c, epilogue::linear(alpha_, beta_) | turned_signs());
    }
    call(alpha_, a, b, beta_, c);
  }

  /// By the addresses of all elements. Nothing where the library need not notice.
  std::optional<bool> must_be_refused() const {
    std::vector<int> owner(c_.before.size(), -1);  // the problem whose C it is
    bool twice = false, twice_provable = false, any = false, provable = false;
    for (std::size_t l = 0; l < problems_.size(); ++l) {
      const placed& c = problems_[l].of[2];
      for (index_t i = 0; i < c.rows; ++i)
        for (index_t j = 0; j < c.cols; ++j) {
          int& o = owner[std::size_t(c(i, j))];
          if (o >= 0) {
            twice = true;
            twice_provable |=
                form_ != form::list || o == int(l) || overlap_is_provable(problems_[o].of[2], c);
          }
          o = int(l);
        }
    }
    for (const problem& p : problems_)
      for (int x : {0, 1}) {
        if (area_of_[x] != 2) continue;
        for (index_t i = 0; i < p.of[x].rows; ++i)
          for (index_t j = 0; j < p.of[x].cols; ++j)
            if (const int o = owner[std::size_t(p.of[x](i, j))]; o >= 0) {
              any = true;
              provable |= overlap_is_provable(p.of[x], problems_[o].of[2]);
            }
      }
    // What lies behind pointers cannot be checked.
    if (form_ != form::pointers && (twice_provable || provable)) return true;
    if (twice || any) return std::nullopt;
    return false;
  }

  std::optional<std::string> unchanged_outside(const std::vector<bool>& in_c) const {
    for (int x = 0; x < 3; ++x) {
      const std::size_t size = in_area(x, [](const auto& area) { return area.before.size(); });
      for (std::size_t at = 0; at < size; ++at)
        if (!(x == 2 && !in_c.empty() && in_c[at]) &&
            !in_area(x, [at](const auto& area) { return area.is_unchanged(at); }))
          return std::string("wrote outside C, at element ") + std::to_string(at) + " of the area of " +
                 "ABC"[x];
    }
    return std::nullopt;
  }

  std::optional<std::string> judge() const {
    const reference::arithmetic how = test::arithmetic_of<number>(compute_);
    std::vector<bool> in_c(c_.before.size(), false);
    for (std::size_t l = 0; l < problems_.size(); ++l) {
      const auto& [a, b, c] = problems_[l].of;
      const bool multiplies = has_epilogue_ || (alpha_ != scalar(0) && problems_[l].k > 0);
      const index_t k = multiplies ? problems_[l].k : 0;
      const reference::element_judge<number, C> judge(multiplies ? alpha_ : scalar(0), beta_, how);
      const auto x = applied(op_a_, a, area_of_a());
      const auto y = applied(op_b_, b, area_of_b());
      const test::reference_sums sums(x, y, c.rows, c.cols, k, how);
      for (index_t i = 0; i < c.rows; ++i)
        for (index_t j = 0; j < c.cols; ++j) {
          in_c[std::size_t(c(i, j))] = true;
          const C before = c_.before[std::size_t(c(i, j))];
          C got = c_.after[std::size_t(c(i, j))];
          if constexpr (takes_epilogues)
            if (has_epilogue_ && turned_signs::turns(i, j, index_t(l))) got = negated(got);
          const auto sum = sums(i, j);
          if (is_right(got, judge, sum, multiplies, before)) continue;
          std::ostringstream s;
          s << "C[" << l << "](" << i << ", " << j << ") is " << test::printable(got) << ", not "
            << judge.expected(sum, before) << ", bound " << judge.bound(sum, before);
          return s.str();
        }
    }
    return unchanged_outside(in_c);
  }
  static C negated(const C& x) {
    if constexpr (complex_like<C>)
      return C(-x.real(), -x.imag());
    else
      return C(-sum_t<C>(x));
  }
  /// op of what was in an area.
  template <class T>
  static reference::operand<T> applied(op o, const placed& p, const area<T>& in) {
    const T* const first = in.before.data() + p.at;
    return o == op::N ? reference::operand<T>{first, p.row_stride, p.col_stride}
                      : reference::operand<T>{first, p.col_stride, p.row_stride, o == op::C};
  }

  bool is_right(C got, const reference::element_judge<number, C>& judge,
                const reference::element_sum<number>& sum, bool multiplies, C before) const {
    if constexpr (complex_like<C>) {
      // Plain formulas: a part that is no finite number makes one of the result so, but which depends on the order.
      const bool finite =
          std::isfinite(sum.magnitude) && (!multiplies || is_finite(alpha_)) && is_finite(beta_);
      return finite ? judge.accepts(got, sum, before) : !is_finite(got);
    } else if constexpr (!std::is_integral_v<C>) {
      const auto expected = judge.expected(sum, before);
      // A sum that rounding makes zero gives NaN, where the exact one gives infinity.
      if (multiplies && std::isinf(alpha_)) return !is_finite(got);
      if (std::isnan(expected)) return std::isnan(sum_t<C>(got));
      if (std::isinf(expected)) return decltype(expected)(got) == expected;
    }
    return judge.accepts(got, sum, before);
  }

  form form_;
  bool close_, has_epilogue_, subnormal_;
  op op_a_, op_b_;
  gemm_compute compute_ = gemm_compute::standard;
  scalar alpha_, beta_;
  std::vector<problem> problems_;
  std::optional<bool> refusal_;
  index_t stride_[3] = {0, 0, 0};
  int area_of_[3];
  area<A> a_;
  area<B> b_;
  area<C> c_;
};

}  // namespace keramos::fuzz
