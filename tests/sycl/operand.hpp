// What the kernels make of the host's arguments. For the device.
#pragma once

#include <type_traits>

#include <keramos/gemm/epilogue/linear.hpp>
#include <keramos/gemm/kernel/split_k.hpp>
#include <keramos/gemm/problem.hpp>

#include "arguments.hpp"

namespace keramos::test::device {

template <class T>
KERAMOS_INLINE_FUNCTION tiling::operand<T> operand_of(const void* data, index_t stride_mn, index_t stride_k,
                                                      bool other) {
  tiling::reading<T> how;
  if constexpr (keramos::detail::is_complex<T>)
    how.conjugated = other;
  else if constexpr (std::is_same_v<T, integer8>)
    how.is_signed = !other;
  else if constexpr (std::is_same_v<T, float8>)
    how.is_e5m2 = other;
  return {static_cast<const T*>(data), stride_mn, stride_k, how};
}

template <class Types>
KERAMOS_INLINE_FUNCTION gemm_problem<Types> problem_of(const product& p) {
  return {operand_of<typename Types::a>(p.a, p.a_stride_mn, p.a_stride_k, p.a_other != 0),
          operand_of<typename Types::b>(p.b, p.b_stride_mn, p.b_stride_k, p.b_other != 0),
          static_cast<typename Types::c*>(p.c),
          p.c_row_stride,
          p.c_col_stride,
          p.m,
          p.n,
          p.k};
}

template <class Types>
using update = epilogue::linear_block<typename Types::number>;
template <class Types>
KERAMOS_INLINE_FUNCTION update<Types> update_of(const product& p) {
  using number = typename Types::number;
  return {number(p.alpha), number(p.beta)};
}

template <class Types>
KERAMOS_INLINE_FUNCTION keramos::detail::split_k<typename Types::accumulator> split_of(const product& p,
                                                                                       int fan_in,
                                                                                       int tiles) {
  return {{p.parts, fan_in, p.k_per_part},
          p.k,
          tiles,
          static_cast<typename Types::accumulator*>(p.sums),
          p.arrivals};
}

}  // namespace keramos::test::device
