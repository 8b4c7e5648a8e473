// Elements, matrices and what products of them must give. Elements are small integers, so that every sum is exact in every type.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/base/scalar_type.hpp>

#include "arguments.hpp"
#include "program.hpp"

namespace keramos::test::device {
/// A product's types: of elements in memory, and of sums here.
template <class A, class B, class C, class Sum>
struct types_named {
  using a = A;
  using b = B;
  using c = C;
  using sum = Sum;
};
using complex64 = std::complex<float>;
using complex128 = std::complex<double>;
#define KERAMOS_TYPES_OF(name_, ...)            \
  struct name_ : types_named<__VA_ARGS__> {     \
    static constexpr const char* name = #name_; \
  };
namespace of {
KERAMOS_TYPES_OF(f32, float, float, float, double)
KERAMOS_TYPES_OF(f64, double, double, double, double)
KERAMOS_TYPES_OF(i32, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t)
KERAMOS_TYPES_OF(i8_i32, std::int8_t, std::int8_t, std::uint32_t, std::uint32_t)
KERAMOS_TYPES_OF(c32, complex64, complex64, complex64, complex128)
KERAMOS_TYPES_OF(c64, complex128, complex128, complex128, complex128)
KERAMOS_TYPES_OF(tf32, float, float, float, double)
KERAMOS_TYPES_OF(f16, float16, float16, float16, double)
KERAMOS_TYPES_OF(bf16_f32, bfloat16, bfloat16, float, double)
KERAMOS_TYPES_OF(f8_f32, float8_e4m3, float8_e4m3, float, double)
KERAMOS_TYPES_OF(f16xf32, float16, float, float, double)
KERAMOS_TYPES_OF(f32xc32, float, complex64, complex64, complex128)
}  // namespace of
/// For GoogleTest: each suite is named after its types.
struct names_of_types {
  template <class Types>
  static std::string GetName(int) {
    return Types::name;
  }
};

template <class T>
inline constexpr bool is_complex_number = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;

template <class T>
T number(std::mt19937& random) {
  const auto draw = [&] { return int(random() % 5) - 2; };
  if constexpr (is_complex_number<T>)
    return {typename T::value_type(draw()), typename T::value_type(draw())};
  else if constexpr (std::is_integral_v<T>)
    return T(draw());
  else
    return T(float(draw()));
}
/// What must not be read.
template <class T>
T poison() {
  if constexpr (is_complex_number<T>)
    return {NAN, NAN};
  else if constexpr (std::is_integral_v<T>)
    return T(0x55555555u);
  else
    return T(NAN);
}
/// `other` as operands say it: a conjugate, or a byte without a sign.
template <class Sum, class T>
Sum value_of(const T& x, bool other = false) {
  if constexpr (is_complex_number<T>)
    return other ? std::conj(Sum(x)) : Sum(x);
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return other ? Sum(std::uint8_t(x)) : Sum(x);
  else if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>)
    return Sum(x);
  else
    return Sum(float(x));
}
/// A sum as an element of C.
template <class C, class Sum>
C rounded(const Sum& x) {
  if constexpr (std::is_same_v<C, float16>)
    return C(float(x));
  else
    return C(x);
}
/// rows x cols elements; their memory runs along the rows or the columns, from a multiple of 16 bytes on with rows of whole
/// sixteens, or from none.
template <class T>
struct matrix {
  shared<T> memory;
  std::int64_t row_stride, col_stride;
  std::size_t offset;

  matrix(::sycl::queue& q, std::int64_t rows, std::int64_t cols, bool along_rows, bool in_vectors)
      : memory(q, size(rows, cols, along_rows, in_vectors), poison<T>()),
        row_stride(along_rows ? pitch(cols, in_vectors) : 1),
        col_stride(along_rows ? 1 : pitch(rows, in_vectors)),
        offset(in_vectors ? 0 : 1) {}
  matrix(::sycl::queue& q, std::int64_t rows, std::int64_t cols, bool along_rows, bool in_vectors,
         std::mt19937& random)
      : matrix(q, rows, cols, along_rows, in_vectors) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j) data()[i * row_stride + j * col_stride] = number<T>(random);
  }
  T* data() const { return memory.data() + offset; }

 private:
  static constexpr std::int64_t vector = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  static std::int64_t pitch(std::int64_t extent, bool in_vectors) {
    const std::int64_t whole = (extent + vector - 1) / vector * vector;
    return in_vectors ? whole : whole + 1;
  }
  static std::size_t size(std::int64_t rows, std::int64_t cols, bool along_rows, bool in_vectors) {
    return std::size_t((along_rows ? rows * pitch(cols, in_vectors) : cols * pitch(rows, in_vectors)) + 1);
  }
};

/// C ← 2·A·B - C of m x n x k.
template <class A, class B, class C>
product product_of(const matrix<A>& a, const matrix<B>& b, const matrix<C>& c, std::int64_t m, std::int64_t n,
                   std::int64_t k) {
  product p{a.data(),
            b.data(),
            c.data(),
            a.row_stride,
            a.col_stride,
            b.col_stride,
            b.row_stride,
            c.row_stride,
            c.col_stride,
            m,
            n,
            k};
  p.alpha = 2, p.beta = -1, p.k_per_part = k;
  return p;
}
/// Memory in which parts of k meet.
struct meeting {
  const shared<complex128> sums;
  const shared<int> arrivals;

  /// Of `tiles` tiles of at most so many elements, k in parts of k_per_part, or not if that is 0.
  meeting(::sycl::queue& q, product& p, std::int64_t tiles, std::int64_t elements, std::int64_t k_per_part)
      : sums(q, std::size_t(tiles * elements * parts_of(p, k_per_part)), complex128(NAN, NAN)),
        arrivals(q, std::size_t(tiles * parts_of(p, k_per_part)), 0) {
    p.parts = parts_of(p, k_per_part);
    if (p.parts > 1) p.k_per_part = k_per_part;
    p.sums = sums.data(), p.arrivals = arrivals.data();
  }
  /// All have gone.
  void check() const {
    for (std::size_t i = 0; i < arrivals.size(); ++i) ASSERT_EQ(arrivals[i], 0);
  }

 private:
  static int parts_of(const product& p, std::int64_t k_per_part) {
    return k_per_part > 0 ? int((p.k + k_per_part - 1) / k_per_part) : 1;
  }
};

/// What lies around C and in it, and what must lie there after `p`, of which a and b are the operands.
template <class Types>
class expectation {
  using C = typename Types::c;
  using sum = typename Types::sum;

 public:
  explicit expectation(const matrix<C>& c)
      : c_(c), elements_(c.memory.data(), c.memory.data() + c.memory.size()) {}

  /// C ← alpha·A·B + beta·C, of a problem of a batch whose first elements lie so many behind those of the first.
  void multiply(const product& p, std::int64_t a_at = 0, std::int64_t b_at = 0, std::int64_t c_at = 0) {
    using A = typename Types::a;
    const auto* a = static_cast<const A*>(p.a) + a_at;
    const auto* b = static_cast<const typename Types::b*>(p.b) + b_at;
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        sum s{};
        for (std::int64_t l = 0; l < p.k; ++l)
          s += value_of<sum>(a[i * p.a_stride_mn + l * p.a_stride_k], p.a_other != 0) *
               value_of<sum>(b[j * p.b_stride_mn + l * p.b_stride_k], p.b_other != 0);
        s = sum(int(p.alpha)) * s;
        C& at = elements_[c_.offset + std::size_t(c_at + i * p.c_row_stride + j * p.c_col_stride)];
        if (p.beta != 0) s += sum(int(p.beta)) * value_of<sum>(at);
        at = rounded<C>(s);
      }
  }
  /// That is there, and what lies between rows is as it was: no bit differs.
  void check() const {
    int wrong = 0;
    for (std::size_t i = 0; i < elements_.size(); ++i)
      if (std::memcmp(&elements_[i], c_.memory.data() + i, sizeof(C)) != 0 && ++wrong <= 3)
        ADD_FAILURE() << "element " << i << " of the memory of C";
    EXPECT_EQ(wrong, 0);
  }

 private:
  const matrix<C>& c_;
  std::vector<C> elements_;
};

}  // namespace keramos::test::device
