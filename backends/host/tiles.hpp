// Tiles of the host kernels, one row per instruction set and element size.
#pragma once

namespace keramos::backend::host {

struct tile_row {
  int vector_bytes;   ///< width of the vectors
  int registers;      ///< vector registers of the instruction set
  int element_bytes;  ///< of the numbers in the vectors: which types they are does not matter
  int mr;             ///< rows of the register tile
  int nr_vectors;     ///< its columns, in vectors
  int mc, nc, kc;     ///< rows and columns of a block tile, multiples of mr and nr, and columns of a k-tile;
                      ///< nc holds where B is packed tile by tile
  int whole_k;        ///< k up to this is one k-tile, of fewer rows: its sums need no memory. At least kc

  constexpr int nr() const { return nr_vectors * vector_bytes / element_bytes; }
};

// mr x nr_vectors accumulators, one row of B and one broadcast of A have to fit in the registers. mc x kc of A fit in
// half of a second-level cache of 1 MiB; where the machine reports a smaller one, mc shrinks. AVX-512's kc x nr of B,
// 72 KiB, come from there too: a broadcast for three products instead of two, and fewer passes over the sums, gain
// more. AVX2's whole_k has a panel of B that fills a first-level cache of 32 KiB (Zen 3: n = 350 to 512 gain 2 to 4 %).
// The others were found on Emerald Rapids, against 14 x 2 with kc = 256, most of all where 16 threads share cores with neighbours.
//
// What g++ 12 makes of a step of k, instructions in all and FMAs: AVX-512 39 and 24, AVX2 24 and 12, SSE2 47
// with 12 products and 12 sums; no vector goes to the stack. Only i32 on SSE2 spills, 8 of 121: it has no
// product of 32 bits.
// clang-format off
inline constexpr tile_row tile_table[] = {
    // vector  registers  element   mr  nr    mc   nc   kc  whole_k
    {      64,        32,       4,   8,  3,  336, 432, 384, 384},  // AVX-512
    {      64,        32,       8,   8,  3,  168, 216, 384, 384},
    {      32,        16,       4,   6,  2,  240, 480, 320, 512},  // AVX2
    {      32,        16,       8,   6,  2,  240, 240, 256, 512},
    {      16,        16,       4,   6,  2,  240, 480, 320, 320},  // SSE2
    {      16,        16,       8,   6,  2,  240, 240, 256, 256},
    {      32,        32,       4,   8,  3,  240, 480, 320, 320},  // SVE of 256 bits; of 512 it has AVX-512's rows
    {      32,        32,       8,   8,  3,  240, 240, 256, 256},
    {      16,        32,       4,   8,  3,  240, 480, 320, 320},  // NEON
    {      16,        32,       8,   8,  3,  240, 240, 256, 256},
};
// clang-format on

/// That of matrix registers: 16 x 16 sums of four bytes each, two by two. kc counts packed numbers: panels of A and of B, 16 KiB
/// each, fit in the first-level cache, and mc x kc of A with mc x nc sums in the second-level one, whose bandwidth the
/// products need: nc holds always. Found on an Intel processor of family 6, model 167, one thread, f32 = bf16 · bf16.
inline constexpr tile_row matrix_tile_row = {64, 8, 4, 32, 2, 256, 512, 128, 128};
/// How many times as fast as vectors it multiplies, for each number that is packed in four bytes: as measured there. Counted by
/// instructions it would be eight times.
inline constexpr int matrix_tile_speed = 3;

/// The row for these vectors; the narrowest serves what is not listed.
constexpr tile_row tile_for(int vector_bytes, int registers, int element_bytes) {
  for (const tile_row& row : tile_table)
    if (row.vector_bytes == vector_bytes && row.registers == registers && row.element_bytes == element_bytes)
      return row;
  return {vector_bytes, registers, element_bytes, 4, 1, 128, 128, 256, 256};
}

consteval bool tile_table_is_sound() {
  for (const tile_row& r : tile_table) {
    if (r.mr * r.nr_vectors + r.nr_vectors + 1 > r.registers) return false;
    if (r.mc % r.mr != 0 || r.nc % r.nr() != 0 || r.whole_k < r.kc) return false;
  }
  return true;
}
static_assert(tile_table_is_sound(), "keramos: a host tile spills or is no multiple of its register tile");

}  // namespace keramos::backend::host
