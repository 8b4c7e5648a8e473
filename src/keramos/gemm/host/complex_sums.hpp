// How complex numbers come out of real products: a vector of B's numbers, whose parts are neighbours, was multiplied by real
// parts of A, and by imaginary parts. Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <keramos/backends/host/vector.hpp>
#include <keramos/base/complex.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

using namespace backend::host::KERAMOS_HOST_ISA;  // its vectors

/// For one problem: which operands are conjugated, alpha and beta.
template <class R>
class complex_sums {
  using Z = complex<R>;
  using v = simd<R>;
  using vector = typename v::vector;
  static constexpr int lanes = v::lanes;

 public:
  template <class Problem>
  explicit complex_sums(const Problem& s)
      : of_real_(v::by_turns(1, s.conjugate_b ? -1 : 1)),
        of_imag_(v::by_turns(s.conjugate_a != s.conjugate_b ? 1 : -1, s.conjugate_a ? -1 : 1)),
        alpha_re_(v::by_turns(s.alpha.re, s.alpha.re)),
        alpha_im_(v::by_turns(-s.alpha.im, s.alpha.im)),
        beta_re_(v::by_turns(s.beta.re, s.beta.re)),
        beta_im_(v::by_turns(-s.beta.im, s.beta.im)),
        reads_c_(!(s.beta == Z(0))) {}

  /// Complex sums from those of products by A's real and imaginary parts.
  vector join(vector by_real, vector by_imag) const {
    return of_real_ * by_real + of_imag_ * v::swap_pairs(by_imag);
  }

  /// The same of those of products by a real A.
  vector of_real(vector sum) const { return of_real_ * sum; }

  /// c = alpha·sum + beta·c for the first `count` numbers, or all of a vector.
  void write(Z* c, std::int64_t stride, int count, vector sum) const {
    vector out = product(alpha_re_, alpha_im_, sum);
    R* const to = reinterpret_cast<R*>(c);
    if (stride == 1 && count >= lanes / 2) {
      if (reads_c_) out += product(beta_re_, beta_im_, v::load(to));
      v::store(to, out);
    } else if (stride == 1) {
      const typename v::first left(2 * count);
      if (reads_c_) out += product(beta_re_, beta_im_, left.load(to));
      left.store(to, out);
    } else {
      const Z beta(beta_re_[0], beta_im_[1]);
      for (int j = 0; j < lanes / 2 && j < count; ++j) {
        Z& element = c[j * stride];
        const Z z(out[2 * j], out[2 * j + 1]);
        element = reads_c_ ? z + beta * element : z;
      }
    }
  }

 private:
  static vector product(vector re, vector im, vector x) { return re * x + im * v::swap_pairs(x); }

  vector of_real_, of_imag_, alpha_re_, alpha_im_, beta_re_, beta_im_;
  bool reads_c_;
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA
