// `multiply` on a host: the compiled micro-kernels over packed panels. Sums that more slabs follow are
// kept in the team's scratch; they are read and written once a slab, that is once in 2·kc operations an
// element. The last slab writes C.
#pragma once

#include <type_traits>

#include <keramos/backends/host/copy.hpp>
#include <keramos/backends/host/kernel_table.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/core/macros.hpp>
#include <keramos/gemm/epilogue.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::backend::host {

template <class T, class Epilogue>
class accumulator {
  /// The micro-kernel applies BLAS' update itself; other epilogues read the sums.
  static constexpr bool fused = std::is_same_v<Epilogue, linear_epilogue<T>>;

 public:
  KERAMOS_FORCEINLINE_FUNCTION accumulator(const kernel_table<T>& kernels, const gemm_problem<T>& p,
                                           const tiling::position& at, const Epilogue& epilogue, T* sums)
      : kernels_(kernels), k_left_(at.k1 - at.k0) {
    block_ = {sums,
              nullptr,
              nullptr,
              at.rows,
              at.cols,
              0,
              true,
              false,
              p.c + at.m0 * p.c_row_stride + at.n0 * p.c_col_stride,
              p.c_row_stride,
              p.c_col_stride,
              T(1),
              T(0)};
    if constexpr (fused) block_.alpha = epilogue.alpha, block_.beta = epilogue.beta;
  }

  KERAMOS_FORCEINLINE_FUNCTION void start(const typename stager<T>::packed_slab&) {}
  template <class Next>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const typename stager<T>::packed_slab& staged,
                                             const Next& next) {
    block_.a = staged.a, block_.b = staged.b, block_.k = staged.k;
    k_left_ -= staged.k;
    block_.last = fused && k_left_ == 0;
    kernels_.multiply(block_);
    block_.first = false;
    next();
  }

  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<T>&, const tiling::position& at,
                                          const Epilogue& epilogue) const {
    if constexpr (!fused) {
      const int mr = kernels_.mr, nr = kernels_.nr, panels_m = (at.rows + mr - 1) / mr;
      for (int i = 0; i < at.rows; ++i)
        for (int j = 0; j < at.cols; ++j) {
          const T sum = block_.sums[((index_t(j / nr) * panels_m + i / mr) * mr + i % mr) * nr + j % nr];
          T& c = block_.c[i * block_.c_row_stride + j * block_.c_col_stride];
          c = epilogue.reads_c() ? epilogue(sum, c, at.m0 + i, at.n0 + j)
                                 : epilogue(sum, at.m0 + i, at.n0 + j);
        }
    }
  }

 private:
  const kernel_table<T>& kernels_;
  index_t k_left_;
  block_product<T> block_;
};

template <class Exec>
struct mma {
  template <class T>
  static constexpr bool has_matrix_unit = false;
  static bool matrix_unit_works(const Exec&) { return false; }

  template <class T, class Epilogue>
  using accumulator = host::accumulator<T, Epilogue>;
};

}  // namespace keramos::backend::host
