// The register tile of matrix registers (AMX): 32 x 32 sums in four of them, two more for rows of A and two for columns
// of B, so that every load serves two products.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>

#include <keramos/backends/host/amx.hpp>
#include <keramos/backends/host/tiles.hpp>
#include <keramos/gemm/host/kernel_table.hpp>
#include <keramos/gemm/host/pack_numbers.hpp>
#include <keramos/gemm/host/request.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

using namespace backend::host::KERAMOS_HOST_ISA;  // its registers

/// Packed A has the layout of its registers: sixteen numbers of a row side by side, then those of the next row; then the next
/// sixteen numbers along k. Packed B is the usual: the numbers of a row of nr columns, row after row.
template <class Product>
struct matrix_tile {
  using number = typename Product::number;
  using T = number;
  static constexpr int rows_of = matrix::rows;  ///< of a register
  static constexpr backend::host::tile_row tile = backend::host::matrix_tile_row;
  static constexpr int mr = tile.mr, nr = tile.nr();
  static_assert(tile.mc % mr == 0 && tile.nc % nr == 0);
  static_assert(mr == 2 * rows_of && nr == 2 * rows_of && sizeof(T) == 4);
  static constexpr int group = Product::pack::group, step = rows_of, corrections = 0;
  static constexpr int speed = backend::host::matrix_tile_speed * group;
  static constexpr bool keeps_nc = true;

  using scope = matrix::registers;

  static request part_of(const T* panel, int k, int i, int tiles) {
    return request::part_of(panel, std::int64_t(k) * nr * int(sizeof(T)), k / step, i, tiles);
  }

  /// sums (+)= a·b for a micro tile of one or two registers of rows, and as many of columns.
  template <class Multiply, bool TwoRows, bool TwoCols>
  static void multiply_tile(T* sums, const T* a, const T* b, int k, bool first, request next) {
    constexpr std::int64_t b_stride = nr * sizeof(T), a_stride = rows_of * sizeof(T);
    constexpr int a_step = mr * rows_of, b_step = nr * rows_of;  // numbers
    T* const below = sums + rows_of * nr;
    if (first) {
      matrix::clear<0>(), matrix::clear<1>(), matrix::clear<2>(), matrix::clear<3>();
    } else {
      matrix::load<0>(sums, b_stride);
      if constexpr (TwoCols) matrix::load<1>(sums + rows_of, b_stride);
      if constexpr (TwoRows) matrix::load<2>(below, b_stride);
      if constexpr (TwoRows && TwoCols) matrix::load<3>(below + rows_of, b_stride);
    }
    for (; k > 0; k -= step, a += a_step, b += b_step) {
      next.ask();
      matrix::load<6>(b, b_stride);
      matrix::load<4>(a, a_stride);
      Multiply::template multiply<0, 4, 6>();
      if constexpr (TwoCols) {
        matrix::load<7>(b + rows_of, b_stride);
        Multiply::template multiply<1, 4, 7>();
      }
      if constexpr (TwoRows) {
        matrix::load<5>(a + rows_of * rows_of, a_stride);
        Multiply::template multiply<2, 5, 6>();
        if constexpr (TwoCols) Multiply::template multiply<3, 5, 7>();
      }
    }
    matrix::store<0>(sums, b_stride);
    if constexpr (TwoCols) matrix::store<1>(sums + rows_of, b_stride);
    if constexpr (TwoRows) matrix::store<2>(below, b_stride);
    if constexpr (TwoRows && TwoCols) matrix::store<3>(below + rows_of, b_stride);
  }

  using tile_function = void(T* sums, const T* a, const T* b, int k, bool first, request next);

  static tile_function* tile_of(int cols, int rows, bool kind_a, bool kind_b) {
    static constexpr functions of[2][2] = {{functions_of<false, false>, functions_of<false, true>},
                                           {functions_of<true, false>, functions_of<true, true>}};
    return of[kind_a][kind_b].of[rows > rows_of][cols > rows_of];
  }

  template <class From>
  static constexpr auto pack_a = pack_numbers_in_rows<From, T, mr, typename Product::pack>;
  template <class From>
  static constexpr auto pack_b = pack_numbers<From, T, nr, typename Product::pack, step>;

 private:
  struct functions {
    tile_function* of[2][2];
  };
  template <bool SignedA, bool SignedB,
            class Multiply = typename Product::template of_signs<SignedA, SignedB>>
  static constexpr functions functions_of = {
      {{multiply_tile<Multiply, false, false>, multiply_tile<Multiply, false, true>},
       {multiply_tile<Multiply, true, false>, multiply_tile<Multiply, true, true>}}};
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA
