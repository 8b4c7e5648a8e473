// Products on a host that are not packed: whole problems, blocks of C and parts of k, each by one thread, with the
// compiled kernels of gemm/host. Elements are of the accumulators' type.
#pragma once

#include <algorithm>

#include <keramos/backends/host/team.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/host/kernels.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::host {

/// Of kernel_table: multiply_unpacked or multiply_dots.
template <class T>
using unpacked_function = void(const unpacked_problem<T>&);

template <class Types, class T = typename Types::accumulator>
unpacked_problem<T> unpacked_problem_of(const gemm_problem<Types>& p, T alpha, T beta) {
  return {int(p.m), int(p.n),     int(p.k),       p.a.data,      p.a.stride_mn,  p.a.stride_k,
          p.b.data, p.b.stride_k, p.b.stride_mn,  p.c,           p.c_row_stride, p.c_col_stride,
          alpha,    beta,         p.a.conjugated, p.b.conjugated};
}

/// What a thread keeps of sums that the kernels cannot write to C themselves, and of columns of them on their way to C.
inline constexpr index_t bytes_of_sums = 64 * 1024, bytes_of_columns = 16 * 1024;

/// write_block, for `versions`.
struct block_writer {
  template <class Epilogue, class Types, class T>
  KERAMOS_FORCEINLINE_FUNCTION static void run(const Epilogue& epilogue, const gemm_problem<Types>& p,
                                               const T* sums, index_t stride) {
    write_block(epilogue, p, sums, stride);
  }
};
template <class Epilogue, class Types, class T>
void write_block_widest(const Epilogue& epilogue, const gemm_problem<Types>& p, const T* sums,
                        index_t stride) {
  backend::host::versions<block_writer, const Epilogue&, const gemm_problem<Types>&, const T*, index_t>::run(
      epilogue, p, sums, stride);
}

/// C from the sums `sums[i * stride + j]`. Where C's columns run through memory, some of them at a time are laid out as they
/// lie there.
template <class Epilogue, class Types, class T>
void write_sums(const Epilogue& epilogue, const gemm_problem<Types>& p, const T* sums, index_t stride) {
  if (p.c_row_stride != 1 || p.c_col_stride == 1)
    return write_block_widest<Epilogue, Types, T>(epilogue, p, sums, stride);
  constexpr index_t line = 64 / sizeof(T), most = bytes_of_columns / sizeof(T), most_rows = most / line;
  const backend::host::local_block local(bytes_of_columns);
  T* const columns = reinterpret_cast<T*>(local.data());
  for (index_t i = 0; i < p.m; i += most_rows) {
    const index_t rows = std::min(p.m - i, most_rows), step = ceil_div(rows, line) * line;
    for (index_t j = 0; j < p.n; j += most / step) {
      gemm_problem<Types> block = p.part(i, j, rows, std::min(p.n - j, most / step));
      kernels<Types>().transpose(columns, step, sums + i * stride + j, stride, int(rows), int(block.n));
      block.transpose();
      write_block_widest<Epilogue, Types, T>(epilogue, block, columns, step);
    }
  }
}

/// C = epilogue(A·B), where the kernels' sums go by way of memory of the thread, a block at a time.
template <class Types, class Epilogue, class T = typename Types::accumulator>
[[gnu::noinline]] void multiply_in_blocks(unpacked_function<T>* multiply, const gemm_problem<Types>& p,
                                          const Epilogue& epilogue) {
  constexpr index_t most = bytes_of_sums / sizeof(T), multiple = 64;  // of all tiles' columns
  const backend::host::local_block local(bytes_of_sums);
  T* const sums = reinterpret_cast<T*>(local.data());
  const index_t rows = std::min(p.m, most / std::min(p.n, multiple)),
                cols = std::min(p.n, std::max(most / rows / multiple, index_t(1)) * multiple);
  for (index_t i = 0; i < p.m; i += rows)
    for (index_t j = 0; j < p.n; j += cols) {
      const gemm_problem<Types> block = p.part(i, j, std::min(rows, p.m - i), std::min(cols, p.n - j));
      gemm_problem<Types> plain = block;
      plain.c = sums, plain.c_row_stride = block.n, plain.c_col_stride = 1;
      multiply(unpacked_problem_of(plain, T(1), T(0)));
      write_sums<Epilogue, Types, T>(epilogue, block, sums, block.n);
    }
}

/// Whether kernels may multiply parts of k by alpha: an infinite one would make NaN of sums of both signs.
template <class T>
bool is_finite(T alpha) {
  return alpha - alpha == T(0);
}

/// C = epilogue(A·B), by the calling thread. The kernels do BLAS' update themselves: that of dot products for any C, the other
/// where the rows of C run through memory.
template <class Types, class Epilogue, class T = typename Types::accumulator>
void multiply_unpacked(unpacked_function<T>* multiply, const gemm_problem<Types>& p,
                       const Epilogue& epilogue) {
  if constexpr (is_linear<Epilogue>) {
    if (is_finite(T(epilogue.alpha)) && (p.c_col_stride == 1 || multiply == kernels<Types>().multiply_dots))
      return multiply(unpacked_problem_of(p, T(epilogue.alpha), T(epilogue.beta)));
  }
  multiply_in_blocks(multiply, p, epilogue);
}

/// How a product that is not packed is shared out.
struct block_shares {
  tiling::shape block;  ///< of C, and of k for each part
  int parts;            ///< of k
};

/// A problem in blocks of C and, where these are too few, parts of k, one an index.
template <class Types, class Epilogue>
struct unpacked_blocks {
  using T = typename Types::accumulator;

  gemm_problem<Types> problem;
  Epilogue epilogue;
  unpacked_function<T>* multiply;
  block_shares shares;
  T* sums = nullptr;  ///< (parts, m, n), if there are several

  int blocks_n() const { return int(ceil_div(problem.n, shares.block.n)); }
  int blocks() const { return int(ceil_div(problem.m, shares.block.m)) * blocks_n(); }
  int size() const { return blocks() * shares.parts; }
  void operator()(int at) const {
    const int part = at / blocks(), block = at % blocks();
    const index_t i = index_t(block / blocks_n()) * shares.block.m;
    const index_t j = index_t(block % blocks_n()) * shares.block.n;
    gemm_problem<Types> mine = problem.part(i, j, std::min<index_t>(shares.block.m, problem.m - i),
                                            std::min<index_t>(shares.block.n, problem.n - j));
    if (shares.parts == 1) return multiply_unpacked(multiply, mine, epilogue);
    const index_t k0 = index_t(part) * shares.block.k;
    mine.a.data = mine.a.at(0, k0), mine.b.data = mine.b.at(0, k0);
    mine.k = std::min<index_t>(shares.block.k, problem.k - k0);
    mine.c = sums + (part * problem.m + i) * problem.n + j;
    mine.c_row_stride = problem.n, mine.c_col_stride = 1;
    // The epilogue comes last: an infinite alpha would make NaN of parts of both signs.
    multiply(unpacked_problem_of(mine, T(1), T(0)));
  }

  /// C from the parts' sums, part after part.
  void add_up() const {
    const index_t elements = problem.m * problem.n;
    for (int part = 1; part < shares.parts; ++part)
      for (index_t e = 0; e < elements; ++e) sums[e] += sums[part * elements + e];
    write_sums<Epilogue, Types, T>(epilogue, problem, sums, problem.n);
  }
};

}  // namespace keramos::detail::host
