// `multiply` on a host: the compiled micro-kernels over packed panels. Sums of more than one slab are
// kept in the team's scratch, in the order of the micro tiles; they are read once a slab, that is once
// in 2·kc operations an element.
#pragma once

#include <keramos/backends/host/copy.hpp>
#include <keramos/backends/host/kernel_table.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/gemm/epilogue.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::backend::host {

template <class T>
class accumulator {
 public:
  accumulator(const kernel_table<T>& kernels, T* acc) : kernels_(kernels), acc_(acc) {}

  void multiply(const panel<T>& a, const panel<T>& b) {
    kernels_.multiply(acc_, a.data, b.data, a.count, b.count, a.k, first_);
    first_ = false;
  }

  void write(const gemm_problem<T>& p, const tile::position& at, const linear_epilogue<T>& epilogue) const {
    kernels_.write(p.c + at.m0 * p.c_row_stride + at.n0 * p.c_col_stride, p.c_row_stride, p.c_col_stride,
                   acc_, at.rows, at.cols, epilogue.alpha, epilogue.beta);
  }

  /// Any other epilogue, element by element.
  template <class Epilogue>
  void write(const gemm_problem<T>& p, const tile::position& at, const Epilogue& epilogue) const {
    const int mr = kernels_.mr, nr = kernels_.nr, panels_n = (at.cols + nr - 1) / nr;
    for (int i = 0; i < at.rows; ++i)
      for (int j = 0; j < at.cols; ++j) {
        const T acc = acc_[((index_t(i / mr) * panels_n + j / nr) * mr + i % mr) * nr + j % nr];
        T& c = p.c[(at.m0 + i) * p.c_row_stride + (at.n0 + j) * p.c_col_stride];
        c = epilogue.reads_c() ? epilogue(acc, c, at.m0 + i, at.n0 + j) : epilogue(acc, at.m0 + i, at.n0 + j);
      }
  }

 private:
  const kernel_table<T>& kernels_;
  T* acc_;  // local, (micro tiles, mr, nr)
  bool first_ = true;
};

template <class Exec>
struct mma {
  template <class T>
  using accumulator = host::accumulator<T>;
};

}  // namespace keramos::backend::host
