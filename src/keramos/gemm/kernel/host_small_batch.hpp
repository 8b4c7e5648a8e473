// Batches on a host: small problems one a thread at a time, through the kernels that multiply in place.
#pragma once

#include <type_traits>

#include <keramos/backends/host/team.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/epilogue.hpp>
#include <keramos/gemm/kernel/host/kernels.hpp>

namespace keramos::detail::host {

template <class T>
unpacked_problem<T> unpacked_problem_of(const gemm_problem<T>& p, const linear_epilogue<T>& epilogue) {
  return {int(p.m),       int(p.n),       int(p.k),       p.a.data,      p.a.stride_mn,
          p.a.stride_k,   p.b.data,       p.b.stride_k,   p.b.stride_mn, p.c,
          p.c_row_stride, p.c_col_stride, epilogue.alpha, epilogue.beta};
}

/// Whether there are up to `most` products m·n·k.
template <class T>
bool volume_within(const gemm_problem<T>& p, index_t most) {
  // In this order nothing overflows.
  return p.m <= most && p.n <= most && p.k <= most && p.m * p.n <= most && p.m * p.n * p.k <= most;
}

/// Elements of C that a thread keeps on its stack where the rows of C do not run through memory.
inline constexpr index_t most_scattered = 4096;

template <class T, class Batch>
struct small_batch_kernel {
  void (*multiply)(const unpacked_problem<T>&);
  Batch batch;
  linear_epilogue<T> epilogue;

  void operator()(index_t b) const {
    const gemm_problem<T> p = batch[b];
    p.c_col_stride == 1 ? multiply(unpacked_problem_of(p, epilogue)) : scatter(p);
  }

 private:
  void scatter(const gemm_problem<T>& p) const {
    T rows[most_scattered];
    gemm_problem<T> plain = p;
    plain.c = rows, plain.c_row_stride = p.n, plain.c_col_stride = 1;
    multiply(unpacked_problem_of(plain, {epilogue.alpha, T(0)}));
    for (index_t i = 0; i < p.m; ++i)
      for (index_t j = 0; j < p.n; ++j) {
        T& c = p.c[i * p.c_row_stride + j * p.c_col_stride];
        c = epilogue.reads_c() ? rows[i * p.n + j] + epilogue.beta * c : rows[i * p.n + j];
      }
  }
};

/// All problems of a batch, which are small.
template <class Exec, class T, class Batch>
void run_small_batch(const Exec& exec, const Batch& batch, const linear_epilogue<T>& epilogue) {
  using schedule =
      std::conditional_t<Batch::mixed, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::Schedule<Kokkos::Static>>;
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>, schedule>;
  backend::host::for_each_index<policy>(
      "keramos::gemm_batched", exec, batch.size(),
      small_batch_kernel<T, Batch>{kernels<T>().multiply_unpacked, batch, epilogue});
}

}  // namespace keramos::detail::host
