// Multiply-add loops over registers, compiled once per vector width (CMake says with which flags).
#pragma once

namespace keramos::perf {

struct peak_kernel {
  double (*run)(long rounds);  // the result keeps the work alive
  double operations_per_round;
};

struct peak_kernels {
  peak_kernel f32, f64, i32;
  // Reads `count` doubles from memory aligned for vectors, a multiple of 128; returns their sum.
  double (*read)(const double* data, long count);
};

template <int VectorBytes>
peak_kernels peak_kernels_of();
template <>
peak_kernels peak_kernels_of<16>();
#if defined(__x86_64__)
template <>
peak_kernels peak_kernels_of<32>();
template <>
peak_kernels peak_kernels_of<64>();
#endif

}  // namespace keramos::perf
