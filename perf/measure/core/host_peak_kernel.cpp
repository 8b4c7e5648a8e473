#include "host_peak_kernel.hpp"

namespace keramos::perf {
namespace {

// Enough independent sums to hide the latency of two units (2 x 4 cycles for floats on recent
// cores), few enough to stay in 16 registers beside the factors.
constexpr int chains = 12;

template <class T>
double multiply_add(long rounds) {
  typedef T vector [[gnu::vector_size(KERAMOS_PEAK_VECTOR_BYTES)]];
  // Through volatile, so that the compiler cannot know that nothing changes.
  volatile T one = 1, zero = 0;
  const vector factor = T(one) + vector{}, addend = T(zero) + vector{};
  vector sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = addend + T(i);
  for (long r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) sums[i] = sums[i] * factor + addend;
  }
  for (int i = 1; i < chains; ++i) sums[0] += sums[i];
  return double(sums[0][0]);
}

template <class T>
constexpr peak_kernel kernel_of() {
  constexpr int lanes = KERAMOS_PEAK_VECTOR_BYTES / sizeof(T);
  return {multiply_add<T>, 2.0 * chains * lanes};
}

double read(const double* data, long count) {
  typedef double vector [[gnu::vector_size(KERAMOS_PEAK_VECTOR_BYTES), gnu::may_alias]];
  constexpr int lanes = KERAMOS_PEAK_VECTOR_BYTES / sizeof(double), streams = 8;
  vector sums[streams] = {};
  for (long i = 0; i < count; i += streams * lanes) {
#pragma GCC unroll 8
    for (int s = 0; s < streams; ++s) sums[s] += *reinterpret_cast<const vector*>(data + i + s * lanes);
  }
  for (int s = 1; s < streams; ++s) sums[0] += sums[s];
  return sums[0][0];
}

}  // namespace

template <>
peak_kernels peak_kernels_of<KERAMOS_PEAK_VECTOR_BYTES>() {
  return {kernel_of<float>(), kernel_of<double>(), kernel_of<int>(), read};
}

}  // namespace keramos::perf
