// keramos::complex<float> and <double>, as kernels compute with them. Callers may keep std::complex and Kokkos::complex, which
// lie in memory alike. No Kokkos here: the kernels that are compiled per instruction set include it.
#pragma once

#include <concepts>
#include <iosfwd>
#include <type_traits>

#include <keramos/base/compiler.hpp>

namespace keramos {

/// A class of complex numbers of float or double: real part, then imaginary part, and nothing else. std::complex and
/// Kokkos::complex are such.
template <class Z>
concept complex_like = requires(const Z& z) {
  typename Z::value_type;
  { z.real() } -> std::convertible_to<typename Z::value_type>;
  { z.imag() } -> std::convertible_to<typename Z::value_type>;
}
&&(std::same_as<typename Z::value_type, float> || std::same_as<typename Z::value_type, double>)&&  //
    sizeof(Z) == 2 * sizeof(typename Z::value_type);

/// What sums and epilogues of complex products compute in. Its arithmetic is the plain formulas', as that of BLAS: where
/// a part is infinite or NaN the result may be NaN.
///
/// It may alias the caller's own class, and is aligned like Kokkos::complex.
template <class R>
struct alignas(2 * sizeof(R)) [[gnu::may_alias]] complex {
  using value_type = R;

  R re, im;

  complex() = default;
  template <class S>
  requires std::convertible_to<S, R> KERAMOS_ANYWHERE constexpr complex(S real) : re(R(real)), im(0) {}
  KERAMOS_ANYWHERE constexpr complex(R real, R imag) : re(real), im(imag) {}
  /// By address, since devices cannot call the functions of std::complex.
  template <complex_like Z>
  requires(!std::same_as<Z, complex>) KERAMOS_ANYWHERE complex(const Z& z)
      : re(R(reinterpret_cast<const typename Z::value_type*>(&z)[0])),
        im(R(reinterpret_cast<const typename Z::value_type*>(&z)[1])) {}

  KERAMOS_ANYWHERE constexpr R real() const { return re; }
  KERAMOS_ANYWHERE constexpr R imag() const { return im; }

  KERAMOS_ANYWHERE constexpr complex& operator+=(const complex& z) { return *this = *this + z; }
  KERAMOS_ANYWHERE constexpr complex& operator*=(const complex& z) { return *this = *this * z; }
  KERAMOS_ANYWHERE friend constexpr complex operator+(const complex& x, const complex& y) {
    return {x.re + y.re, x.im + y.im};
  }
  KERAMOS_ANYWHERE friend constexpr complex operator-(const complex& x, const complex& y) {
    return {x.re - y.re, x.im - y.im};
  }
  KERAMOS_ANYWHERE friend constexpr complex operator-(const complex& z) { return {-z.re, -z.im}; }
  KERAMOS_ANYWHERE friend constexpr complex operator*(const complex& x, const complex& y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
  }
  KERAMOS_ANYWHERE friend constexpr bool operator==(const complex& x, const complex& y) {
    return x.re == y.re && x.im == y.im;
  }
  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& to,
                                                      const complex& z) {
    return to << '(' << z.re << ',' << z.im << ')';
  }
};

namespace detail {

template <class T>
inline constexpr bool is_complex = false;
template <class R>
inline constexpr bool is_complex<complex<R>> = true;

/// The type of a number's parts.
template <class T>
struct part_of : std::type_identity<T> {};
template <class R>
struct part_of<complex<R>> : std::type_identity<R> {};

/// As what elements of type X are multiplied where sums are of type T: real ones as parts of T.
template <class X, class T>
using factor_of = std::conditional_t<is_complex<X>, T, typename part_of<T>::type>;

/// sum += a·b, in as many FMAs as there are products. `a` may be real where b is complex.
template <class A, class T>
KERAMOS_ANYWHERE void add_product(T& sum, const A& a, const T& b) {
  if constexpr (is_complex<T> && !is_complex<A>) {
    sum.re += a * b.re;
    sum.im += a * b.im;
  } else if constexpr (is_complex<T>) {
    sum.re += a.re * b.re;
    sum.im += a.re * b.im;
    sum.re -= a.im * b.im;
    sum.im += a.im * b.re;
  } else {
    sum += a * b;
  }
}

/// conj(x) if `conjugate`, else x, as real numbers always are.
template <class T>
KERAMOS_ANYWHERE T conjugate_if([[maybe_unused]] bool conjugate, const T& x) {
  if constexpr (is_complex<T>)
    return {x.re, conjugate ? -x.im : x.im};
  else
    return x;
}

}  // namespace detail

}  // namespace keramos
