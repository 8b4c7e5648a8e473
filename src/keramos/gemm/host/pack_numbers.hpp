// Packing elements of one or two bytes, 16 x 16 packed numbers at a time (backends/host/number_block.hpp).
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>

#include <keramos/backends/host/number_block.hpp>
#include <keramos/backends/host/vector.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

using namespace backend::host::KERAMOS_HOST_ISA;  // its vectors

/// Calls `block(i, p)` for all blocks of Rows rows and 16 numbers along k, in the order in which the elements lie in memory.
template <int Rows, class Block>
inline void for_each_number_block(std::int64_t stride_k, int mn, int numbers, const Block& block) {
  constexpr int side = 16;
  if (stride_k == 1) {
    for (int i = 0; i < mn; i += Rows)
      for (int p = 0; p < numbers; p += side) block(i, p);
  } else {
    for (int p = 0; p < numbers; p += side)
      for (int i = 0; i < mn; i += Rows) block(i, p);
  }
}

/// Panels of Width rows, number (i, p) at `p * Width + i`; as many numbers as hold k elements, up to a multiple of Step.
template <class From, class T, int Width, class Code, int Step = 1, int Corrections = 0>
inline void pack_numbers(T* panels, const From* from, std::int64_t stride_mn, std::int64_t stride_k, int mn,
                         int k, bool kind) {
  using v = simd<std::uint32_t>;
  constexpr int group = Code::group, side = v::lanes, most = Width < side ? Width : side;
  static_assert(Width % most == 0);
  std::uint32_t* const to = reinterpret_cast<std::uint32_t*>(panels);
  const int numbers = (k + group * Step - 1) / (group * Step) * Step;
  const std::int64_t panel = std::int64_t(Width) * (numbers + Corrections);
  const int whole = (mn + Width - 1) / Width * Width;
  for_each_number_block<most>(stride_k, whole, numbers, [&](int i, int p) {
    const number_block<From, Code> block(from + i * stride_mn + std::int64_t(p) * group * stride_k, stride_mn,
                                         stride_k, mn - i < most ? mn - i : most, k - p * group, kind);
    v::vector lines[side];
    block.template read<false>(lines);
    std::uint32_t* const first = to + i / Width * panel + std::int64_t(p) * Width + i % Width;
    const int here = numbers - p < side ? numbers - p : side;
#pragma GCC unroll 16
    for (int l = 0; l < side; ++l)
      if (l < here) v::template store_first<most>(first + l * Width, lines[l]);
  });
  if constexpr (Corrections > 0)
    for (int i = 0; i < whole; i += Width)
      Code::template add_corrections<Width>(to + i / Width * panel, numbers, k, kind);
}

/// Panels of Width rows, in each sixteen numbers along k of one row, then of the next; then the next sixteen.
template <class From, class T, int Width, class Code>
inline void pack_numbers_in_rows(T* panels, const From* from, std::int64_t stride_mn, std::int64_t stride_k,
                                 int mn, int k, bool kind) {
  using v = simd<std::uint32_t>;
  constexpr int group = Code::group, side = v::lanes;
  static_assert(Width % side == 0);
  std::uint32_t* const to = reinterpret_cast<std::uint32_t*>(panels);
  const int numbers = (k + group * side - 1) / (group * side) * side;
  const int whole = (mn + Width - 1) / Width * Width;
  for_each_number_block<side>(stride_k, whole, numbers, [&](int i, int p) {
    const number_block<From, Code> block(from + i * stride_mn + std::int64_t(p) * group * stride_k, stride_mn,
                                         stride_k, mn - i, k - p * group, kind);
    v::vector rows[side];
    block.template read<true>(rows);
    std::uint32_t* const first =
        to + std::int64_t(i / Width) * Width * numbers + std::int64_t(p) * Width + i % Width * side;
#pragma GCC unroll 16
    for (int r = 0; r < side; ++r) v::store(first + r * side, rows[r]);
  });
}

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA
