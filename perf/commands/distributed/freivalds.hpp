// Freivalds' check over a communicator, by the bounds of core/freivalds.hpp: C x against alpha A (B x) + beta C0 x. Each rank
// multiplies its own elements, and the vectors are added up over the ranks, so that each has all of them.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "matrices.hpp"
#include "measure/core/element_check.hpp"

namespace keramos::perf {

// Sums over all ranks, of as many numbers at once as MPI counts.
template <class R>
void add_up(R* x, std::size_t count, MPI_Comm comm) {
  constexpr std::size_t most = std::size_t(1) << 30;
  for (std::size_t at = 0; at < count; at += most)
    MPI_Allreduce(MPI_IN_PLACE, x + at, int(std::min(most, count - at)),
                  std::is_same_v<R, double> ? MPI_DOUBLE : MPI_LONG_DOUBLE, MPI_SUM, comm);
}
template <class R>
void add_up(std::vector<R>& x, MPI_Comm comm) {
  add_up(x.data(), x.size(), comm);
}
template <class R>
void add_up(std::vector<std::complex<R>>& x, MPI_Comm comm) {
  add_up(reinterpret_cast<R*>(x.data()), 2 * x.size(), comm);
}

template <class Types>  // elements<...>; those of A and B are summed alike
class distributed_check {
  using A = typename Types::a;
  using B = typename Types::b;
  using C = typename Types::c;
  static constexpr bool is_complex = keramos::detail::is_complex<C>;
  using sum = sum_t<A>;  // or a part of one
  using real = wider_t<sum>;
  using number = std::conditional_t<is_complex, std::complex<real>, real>;
  static constexpr bool rounds = !is_complex && !std::is_same_v<sum, C>;  // to C's elements

 public:
  distributed_check(const gemm_case& g, MPI_Comm comm, std::uint64_t seed)
      : g_(g),
        comm_(comm),
        signs_(seed, 0xf4e1),
        width_((g.n + most_blocks - 1) / most_blocks),
        blocks_((g.n + width_ - 1) / width_),
        terms_((is_complex ? 4.0 : 2.0) * double(g.k) + 2) {}

  // A, B and the C that went in; op(A) (op(B) x) is kept for all that are judged.
  void expect(dealt_matrix<A>& a, dealt_matrix<B>& b, dealt_matrix<C>& c) {
    std::vector<number> bx(std::size_t(g_.k * blocks_));
    std::vector<double> norms(bx.size());
    // Elements that are added up to one number are one thread's.
    b.each(rows_of(g_.op_b), [&](std::int64_t i, std::int64_t j, const B& x) {
      if (g_.op_b != transpose::N) std::swap(i, j);
      const auto at = std::size_t(i * blocks_ + j / width_);
      bx[at] += sign(j) * value(x, g_.op_b);
      norms[at] += double(std::norm(value(x, g_.op_b)));
    });
    add_up(bx, comm_), add_up(norms, comm_);
    for (double& x : norms) x = std::sqrt(x);
    expected_.assign(std::size_t(g_.m * blocks_), 0);
    tolerance_.assign(expected_.size(), 0);
    a.each(rows_of(g_.op_a), [&](std::int64_t i, std::int64_t j, const A& x) {
      if (g_.op_a != transpose::N) std::swap(i, j);
      const number v = value(x, g_.op_a);
      const double size = double(std::abs(v));
      const auto row = std::size_t(i * blocks_), of_b = std::size_t(j * blocks_);
      for (std::size_t s = 0; s < std::size_t(blocks_); ++s) {
        expected_[row + s] += v * bx[of_b + s];
        tolerance_[row + s] += size * norms[of_b + s];
      }
    });
    std::vector<number> cx(expected_.size());
    std::vector<double> squares(expected_.size());
    if (g_.beta != 0)
      c.each(whole::rows, [&](std::int64_t i, std::int64_t j, const C&) {
        const number v = value(c.initial(i, j), transpose::N);
        cx[place(i, j)] += sign(j) * v;
        squares[place(i, j)] += double(std::norm(v));
      });
    for (std::size_t at = 0; at < expected_.size(); ++at)
      expected_[at] = real(sum(g_.alpha)) * expected_[at] + real(sum(g_.beta)) * cx[at];
    add_up(expected_, comm_), add_up(tolerance_, comm_), add_up(squares, comm_);
    const double rounding = spread() * std::min(terms_, 9 * std::sqrt(terms_)) * unit_roundoff<sum>;
    const double own = (terms_ + 2 * double(width_)) * unit_roundoff<real> * std::sqrt(double(width_));
    for (std::size_t at = 0; at < expected_.size(); ++at)
      tolerance_[at] = (is_complex ? std::sqrt(2.0) : 1) * (rounding + own) *
                       (std::fabs(g_.alpha) * tolerance_[at] + std::fabs(g_.beta) * std::sqrt(squares[at]));
  }

  verdict operator()(dealt_matrix<C>& c) const {
    std::vector<number> cx(expected_.size());
    std::vector<double> squares(expected_.size());
    c.each(whole::rows, [&](std::int64_t i, std::int64_t j, const C& x) {
      const number v = value(x, transpose::N);
      cx[place(i, j)] += sign(j) * v;
      if constexpr (rounds) squares[place(i, j)] += double(v) * double(v);
    });
    add_up(cx, comm_);
    if (rounds) add_up(squares, comm_);
    worst_element worst;
    for (std::size_t at = 0; at < cx.size(); ++at)
      worst.see(double(std::abs(cx[at] - expected_[at])), tolerance_[at] + rounding_of_c(squares[at]),
                std::int64_t(at) / blocks_, std::int64_t(at) % blocks_ * width_);
    verdict v{worst.ratio <= 1, worst.error, worst.bound, {}};
    if (!v.passed)
      v.where = "row " + std::to_string(worst.row) + ", a column of the " + std::to_string(width_) +
                " from " + std::to_string(worst.col) + " on";
    return v;
  }

 private:
  static constexpr std::int64_t most_blocks = 16;

  template <class T>
  static number value(const T& x, transpose op) {
    if constexpr (is_complex)
      return {real(x.re), real(op == transpose::C ? -x.im : x.im)};
    else
      return real(x);
  }
  static whole rows_of(transpose op) { return op == transpose::N ? whole::rows : whole::columns; }
  double spread() const { return std::min(8.0, std::sqrt(double(width_))); }
  // Of a row's elements in a block, by their sum of squares. Infinities and NaNs have none: their sums are off by no less.
  double rounding_of_c(double squares) const {
    if constexpr (rounds) {
      if (std::isfinite(squares))
        return spread() * (unit_roundoff<C> / (1 - unit_roundoff<C>)*std::sqrt(squares) +
                           smallest_error<C> * std::sqrt(double(width_)));
    }
    return 0;
  }
  real sign(std::int64_t j) const { return signs_.bits(std::uint64_t(j)) >> 63 ? real(1) : real(-1); }
  std::size_t place(std::int64_t i, std::int64_t j) const { return std::size_t(i * blocks_ + j / width_); }

  gemm_case g_;
  MPI_Comm comm_;
  random_stream signs_;
  std::int64_t width_, blocks_;  // columns of a block, and how many there are
  double terms_;  // that an element is added from: its products, and as many partial sums at most
  std::vector<number> expected_;   // [m][blocks]
  std::vector<double> tolerance_;  // [m][blocks]
};

}  // namespace keramos::perf
