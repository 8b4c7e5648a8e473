// AMD's matrix units on hosts: their instructions, as their documents describe them, thread by thread. Not for compilers of
// devices, which would make kernels of what calls the emulator.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/backends/hip/fragments.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/staging.hpp>
#include <keramos/keramos.hpp>

namespace keramos {

namespace test {

using backend::hip::matrix_units;
/// `DirectBytes`: what a lane copies at once to local memory without registers.
template <matrix_units Units, int DirectBytes = 0>
struct amd_gpu {};

/// The products of a team, thread by thread: at first what each multiplies is noted, then all is known and multiplied.
class emulator {
 public:
  void begin(int thread) { thread_ = thread, next_ = 0; }
  void multiply_from_now_on() { multiplies_ = true; }

  template <matrix_units Units, class E, class T, int Vectors, int Vector, int Run, class... Kinds>
  void multiply(T (&sums)[Vectors][Vector], const E (&x)[Run], const E (&y)[Run], Kinds...) {
    if (!multiplies_) {
      std::vector<double> elements;
      const bool kinds[] = {Kinds::value..., true, true};
      for (int e = 0; e < Run; ++e) elements.push_back(number<Units>(x[e], kinds[0]));
      for (int e = 0; e < Run; ++e) elements.push_back(number<Units>(y[e], kinds[1]));
      if (int(noted_.size()) <= thread_) noted_.resize(thread_ + 1);
      noted_[thread_].push_back(elements);
      return;
    }
    constexpr int lanes = Units == matrix_units::rdna3 ? 32 : 64;
    const int wave = thread_ / lanes * lanes, lane = thread_ % lanes, j = lane % 16;
    for (int v = 0; v < 256 / lanes; ++v) {
      // Rows of D by the documents: of V_MFMA_F64_16X16X4F64, of other V_MFMA_*_16X16X*, of V_WMMA_*_16X16X16.
      const int i = lanes == 32                 ? 2 * v + lane / 16
                    : std::is_same_v<T, double> ? 4 * v + lane / 16
                                                : 4 * (lane / 16) + v;
      double sum = 0;
      // Lanes i + 16 q of X and j + 16 q of Y have the same k; of WMMA they are copies.
      for (int q = 0; q < (lanes == 32 ? 1 : 4); ++q)
        for (int e = 0; e < Run; ++e) sum += noted(wave + i + 16 * q)[e] * noted(wave + j + 16 * q)[Run + e];
      sums[v / Vector][v % Vector] += T(std::is_integral_v<T> ? T(std::int64_t(sum)) : T(sum));
    }
    if (lanes == 32) {
      EXPECT_EQ(noted(wave + j), noted(wave + j + 16)) << "of lanes " << j << " and " << j + 16;
    }
    ++next_;
  }

 private:
  const std::vector<double>& noted(int thread) const { return noted_[thread][next_]; }
  /// MFMA knows signed bytes alone.
  template <matrix_units Units, class E>
  static double number(const E& x, bool kind) {
    if constexpr (std::is_same_v<E, float8>)
      return kind ? double(float(float8_e5m2::from_bits(x.bits)))
                  : double(float(float8_e4m3::from_bits(x.bits)));
    else if constexpr (std::is_same_v<E, integer8>)
      return kind                           ? std::int8_t(x.bits)
             : Units == matrix_units::rdna3 ? x.bits
                                            : std::int8_t(backend::hip::as_signed<false>(x.bits));
    else if constexpr (std::is_same_v<E, backend::simt::tf32_number>)
      return double(x.value);
    else
      return double(float(x));
  }

  int thread_ = 0, next_ = 0;
  bool multiplies_ = false;
  std::vector<std::vector<std::vector<double>>> noted_;  // (thread, product, elements of X and of Y)
};
inline emulator* emulated = nullptr;

}  // namespace test

namespace backend {

template <hip::matrix_units Units, int DirectBytes>
struct traits<test::amd_gpu<Units, DirectBytes>> {
  static constexpr int warp_size = 64;
};
template <hip::matrix_units Units, int DirectBytes>
struct mma<test::amd_gpu<Units, DirectBytes>> : fma_units {
  template <class E>
  static constexpr simt::wave_fragment fragment = hip::fragment_of<E>(Units);
  template <class T, int Vectors, int Vector, class E, int Run, class... Kinds>
  static void multiply_16x16(T (&sums)[Vectors][Vector], const E (&x)[Run], const E (&y)[Run],
                             Kinds... kinds) {
    test::emulated->multiply<Units>(sums, x, y, kinds...);
  }
  static constexpr bool multiplies_signed = Units != hip::matrix_units::rdna3;
  static float rounded(float x) {
    return std::bit_cast<float>(hip::rounded_to_tf32(std::bit_cast<unsigned>(x)));
  }
  static int of_wave(int x) { return x; }
  static int opaque(int x) { return x; }
  static void end_of_products() {}
};

}  // namespace backend

}  // namespace keramos
