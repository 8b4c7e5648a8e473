// Tiles of the CUDA backend.
#pragma once

#include <algorithm>

#include <keramos/backends/cuda/traits.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/tiles.hpp>

namespace keramos::backend {

namespace cuda {

// `arch` is the lowest compute capability (times 10) that a row serves, of warpgroups the only one. Types for which all devices
// that the library is compiled for have matrix units have no rows for FMA units, which would never be chosen. How many teams of
// a row a multiprocessor of the device at hand holds follows from its scratch. Measured on sm_90 only; compiled for sm_75 to
// sm_120.
//
// H200, CUDA 13.0, Kokkos 4.6.99; registers and spills by -Xptxas -v; SASS of one k-tile in the main loop:
//   f32 128x128x16  121-128 registers, no spills; 1024 FFMA, 64 LDS.128, 4 LDGSTS.128 (TN) to 16 LDGSTS.32 (NT),
//                   45 to 65 others. Issue slots 87 % busy: FMAs share them with all else. What is behind the main loop can
//                   make ptxas give the operands of many FMAs one register bank (10 % slower). After each change of what
//                   writes C (collective/sum_block.hpp) or adds up parts of k (kernel/split_k.hpp) tests/objects/banks.py
//                   tells; the main loop should not become longer, and have as many operands marked .reuse (905 to 950).
//                   Tiles that divide k have a row of their own, the table's last (128 registers, no spills): if all products
//                   used it, those with a small k would take up to 8 % longer.
//   f32 others      87-121 registers, no spills
//   f64 128x64x8    243-255 registers, 38,400 bytes of scratch, so that 48 KB are enough; at n = 4096 0.91 to 1.01
//                   of cuBLAS, which takes 72 KB
//   f64 128x64x16   255 registers, up to 24 bytes of spills, 73,728 to 76,800 bytes of scratch,
//                   which Kokkos gives since 5.2; measured with a Kokkos 4.6.99 whose limit was lifted likewise,
//                   NN: n = 1024 45.4 us (cuBLAS 50.8), 2048 291 (285), 4096 2285 (2269), 8192 17866 (17264)
//   f64 128x128x16  255 registers, up to 8 bytes of spills, 98,304 to 101,376 bytes of scratch, as above; for operands that
//                   are many times as large as the cache. H100, A along m, B along n, medians of calls with an
//                   epilogue that does nothing: n = 32768 40.3 TFLOP/s with 128x64x16, whose teams read 4.8 TB from
//                   memory (ncu, dram__bytes_read.sum), 55.0 with this (1.4 TB), cublasGemmEx 58.6; 16384 53.7,
//                   59.3, 62.1; 4096 59.4, 58.0, 60.2
//   f64 64x64x16    164-188 registers, no spills, 65,536 bytes of scratch and more, which Kokkos gives since 5.2. Of n = 1000 and
//                   1024 0.93 to 0.97 of cublasDgemm on an H200, with 128x64x16 0.87 to 0.93; 1536 0.93 to 1.00 with the tiles of the
//                   last wave divided along k, 0.96 to 1.02 with 128x64x16 for whole waves (docs/performance.md)
//   f64 64x64x8     with 48 KB. 128 registers, up to 40 bytes of spills; 8 DMMA.16x8x8, 16 LDS.64, 4 LDGSTS.128, 57 others.
//                   Batches, whose tiles have few k-tiles, run 4 % faster with 168 registers, no spills and five
//                   stages; single products with a divided k 7 to 9 % slower.
//   f64 64x32x16    126-128 registers, no spills
//   f16 128x128x32  242-255 registers, no spills; 32,768 bytes of scratch, or with four stages 65,536, which Kokkos gives
//                   since 5.2: measured with a Kokkos 4.6.99 whose limit was lifted likewise (bf16, NN: 4096 in
//                   321 us, before that 488 with two stages)
//   f16 64x64x32    110-128 registers, no spills
//   i8  128x128x64  220-254 registers, no spills (lists of products up to 184 bytes); scratch as for f16
//   i8  64x64x64    up to 128 registers, up to 52 bytes of spills (lists of products 116)
//   Efficiencies of f16 and i8 are their rates at n = 2048 and 4096; bf16 has those of f16. Four stages of i8 are faster
//   (13), but then the choice would take them at n = 1024 too, where 64x64x64 is.
//   Tiles of warpgroups, 64 rows for each of those that multiply: 168 registers with 128 rows; with 64 rows up to 232 for one
//   team, 128 for two, 64 for four (of 64 columns). The copying threads give up some registers, but for
//   one team of 64 rows, and 128x64 of all but f8 (collective/warpgroup.hpp). No spills, but of tf32 and tf32x3 up to 16 bytes, once
//   a tile, by the thread that has lines copied. 54,784 to 206,336 bytes of scratch, which Kokkos
//   gives since 5.2: measured as above. They do not divide k at n = 1024: sums cost more than they save there.
//   128x128 is nearly as fast as 128x256 where the GPU does not throttle: bf16, 512 x 4096 x 11008 (NT, a line of
//   perf/data/shapes/deep_learning.csv for keramos-perf gemm --shapes) takes 58 us on an H200.
//   Eight stages of 64x128 for one team, where a product has few tiles: n = 1024 of bf16 takes 9.2 us on an H100, and 10.9
//   with four stages for two teams. Batches keep two teams, of which one writes while the other multiplies.
//   C passes through local memory (c_block.hpp), but where BLAS' update writes C of two or four bytes and rows take vectors:
//   there lanes exchange them. By way of local memory bf16 took 0.7 % longer with n = 4096 and 8192, batches of
//   n = 512 to 2048 3 to 6 % (commands: docs/performance.md; old and new in turns). Of callers' epilogues, whose code is a loop,
//   lanes that exchange are slower (bf16 with bias and GELU, n = 1024, a loop of calls: 11.7 us instead of 10.8).
//   The first tile of a kernel takes twice as long to write, since its code is not in the cache. So there is little code: when
//   that for C whose rows begin anywhere shrank to a tenth, bf16 of 4191 x 2981 x 462 took 41 us on an H200 instead of 62, and
//   with a C of f32 58 instead of 90.
//   C stored in boxes by the unit that copies operands is no faster (batches of n = 64 to 256, on an H200).
//   128x64 is for a narrow C, where a tile reads one operand and little else. Rows of a box behind the operand's end are fetched
//   from the cache, too: 128x128 fetched twice what there was (8 x 16 x 28672 x 4096 of bf16, at 2.7 TB/s of 4.2).
//   192 columns fill multiprocessors better where 256 leave the last wave nearly empty: on an H100 tf32 with n = 3000 does 296
//   TFLOP/s instead of 260. Their efficiencies are estimates.
//   Of f8 each k-tile is summed apart, at most 128 columns at a time. Efficiencies are rates at n = 4096.
//   f8  128x128x64  236-255 registers, no spills (batches up to 24 bytes). Hopper's mma.sync has no floats of eight bits: they
//                   become float16s on their way to it, once for each fragment. (ptxas does it for each instruction: kernels
//                   were three times as long, and up to a fifth slower at n = 4096.)
//   f8  64x64x64    up to 128 registers, up to 60 bytes of spills (batches 96)
//   tf32x3          124 and 113 TFLOP/s of f32 at n = 4096 on an H100, 64x128x32 86 on an H200 (before lines), copies
//                   of operands included. By count, at the units' full rate, 128 columns take 136 bytes of shared memory a
//                   clock, of 128 that there are, and 256 columns 110.
//   tf32 128x128x16 255 registers, up to 8 bytes of spills; 40,960 bytes of scratch
//   c32 64x32x16    114-127 registers, no spills. Operands along k are copied first: on an H200 0.94 to 0.99 of cublasCgemm with
//                   n = 2048 and 4096 (docs/performance.md). 128x64x8 was at 0.87 to 0.92, least where A and B both ran along m
//                   and n: ptxas then gave one of five FMAs operands of one register bank
//   c64 64x32x16    255 registers, up to 36 bytes of spills; 73,728 bytes of scratch and more, as above. n = 1024 and 4096 on an
//                   H100 0.96 to 1.06 of cublasZgemm (docs/performance.md); with 64x32x8 (230 to 236 registers, no spills,
//                   for 48 KB) 0.91 to 1.00
//   Efficiencies of c32 and c64 are their rates at n = 2048, of loops of keramos::gemm and cublasCgemm, cublasZgemm, which
//   keramos-perf gemm --provider keramos,cublas --type c32,c64 --op NN,NT,TN,TT --size 2048,4096 repeats. A product of
//   complex numbers is four FMAs.
//
// Each row is minutes of compiling. Rows that never fit have no kernels: where Kokkos gives 48 KB of scratch, those that want
// more. GPUs of data centers have room for the larger of two similar rows, so the smaller one is left out for them.
#if defined(KERAMOS_CUDA_WIDE_SCRATCH) && \
    (defined(KOKKOS_ARCH_AMPERE80) || defined(KOKKOS_ARCH_HOPPER90) || defined(KOKKOS_ARCH_BLACKWELL100))
#define KERAMOS_CUDA_ONLY_WIDE_ROWS
inline constexpr simt::serves of_four_stages = simt::serves::all;
#else
inline constexpr simt::serves of_four_stages = simt::serves::single;
#endif
// clang-format off
inline constexpr simt::tile_row tile_table[] = {
    // arch  types        block           warp        fragment    stages teams math             split    efficiency  serves  start
    {    80, simt::tf32, {{128, 128, 16}, { 64,  64}, {16,  8,  8},   2,    2, tiling::math_unit::matrix,  false},  2.50},
    {    80, simt::tf32, {{ 64,  64, 16}, { 32,  32}, {16,  8,  8},   4,    4, tiling::math_unit::matrix,  true},   1.50},
    {    80, simt::tf32, {{ 64,  16, 32}, { 16,  16}, {16,  8,  8},   4,    4, tiling::math_unit::matrix,  true},   0.60},
    {    50, simt::f32,  {{128, 128, 16}, { 64,  32}, { 8,  8,  1},   2,    2, tiling::math_unit::fma,     false},  0.75, simt::serves::all, 600},
#if defined(KERAMOS_CUDA_BEFORE_AMPERE)  // two teams with 16 columns of k want 64 KB of a multiprocessor
    {    50, simt::f32,  {{128, 128,  8}, { 64,  32}, { 8,  8,  1},   2,    2, tiling::math_unit::fma,     false},  0.65, simt::serves::all, 600},
#endif
    {    50, simt::f32,  {{ 64,  64, 16}, { 32,  32}, { 8,  4,  1},   2,    4, tiling::math_unit::fma,     true},   0.66, simt::serves::all, 500},
    {    50, simt::f32,  {{ 64,  32, 32}, { 32,  16}, { 4,  4,  1},   3,    4, tiling::math_unit::fma,     true},   0.55, simt::serves::all, 800},
    {    50, simt::f32,  {{ 32,  32, 32}, { 32,  16}, { 4,  4,  1},   3,    6, tiling::math_unit::fma,     true},   0.55, simt::serves::all, 2400},
    {    50, simt::f32,  {{ 64,  16, 32}, { 32,  16}, { 4,  4,  1},   4,    4, tiling::math_unit::fma,     true},   0.50, simt::serves::all, 2400},
    {    50, simt::f32,  {{ 64,   8, 32}, { 64,   8}, { 4,  4,  1},   4,    5, tiling::math_unit::fma,     true},   0.30, simt::serves::all, 2800},
    {    90, simt::f64,  {{128, 128, 16}, { 64,  32}, {16,  8,  8},   3,    1, tiling::math_unit::matrix,  false},  0.915, simt::serves::single, 4900},
    {    90, simt::f64,  {{128,  64, 16}, { 64,  32}, {16,  8,  8},   3,    2, tiling::math_unit::matrix,  false},  0.93, simt::serves::all, 4600},
#if defined(KERAMOS_CUDA_ONLY_WIDE_ROWS)
    {    80, simt::f64,  {{ 64,  64, 16}, { 32,  32}, {16,  8,  8},   4,    2, tiling::math_unit::matrix,  true},   0.88, simt::serves::all, 3800},
#else
    {    80, simt::f64,  {{ 64,  64,  8}, { 32,  32}, {16,  8,  8},   3,    4, tiling::math_unit::matrix,  true},   0.73, simt::serves::single, 2600},
    {    80, simt::f64,  {{ 64,  64,  8}, { 32,  32}, {16,  8,  8},   5,    3, tiling::math_unit::matrix,  true},   0.80, simt::serves::batches},
#endif
    {    80, simt::f64,  {{ 64,  32, 16}, { 32,  16}, {16,  8,  8},   3,    4, tiling::math_unit::matrix,  true},   0.75, simt::serves::all, 2600},
    {    80, simt::f64,  {{ 32,  32, 16}, { 16,  16}, {16,  8,  8},   4,    4, tiling::math_unit::matrix,  true},   0.59, simt::serves::all, 2200},
    {    80, simt::f64,  {{ 64,  16, 16}, { 16,  16}, {16,  8,  8},   3,    4, tiling::math_unit::matrix,  true},   0.63, simt::serves::all, 2300},
    {    80, simt::f64,  {{ 64,   8, 16}, { 16,   8}, {16,  8,  8},   4,    5, tiling::math_unit::matrix,  true},   0.25, simt::serves::all, 2600},
    {    50, simt::i32,  {{128, 128, 16}, { 64,  32}, { 8,  8,  1},   2,    2, tiling::math_unit::fma,     false},  0.47},
    {    50, simt::i32,  {{ 64,  64, 16}, { 32,  32}, { 8,  4,  1},   2,    4, tiling::math_unit::fma,     true},   0.40},
    {    50, simt::i32,  {{ 64,  16, 32}, { 32,  16}, { 4,  4,  1},   4,    4, tiling::math_unit::fma,     true},   0.35},
    {    50, simt::c32,  {{ 64,  32, 16}, { 32,  16}, { 4,  4,  1},   3,    4, tiling::math_unit::fma,     true},   0.186},
    {    50, simt::c32,  {{ 64,  16, 16}, { 32,  16}, { 4,  4,  1},   3,    5, tiling::math_unit::fma,     true},   0.15},
#if defined(KERAMOS_CUDA_ONLY_WIDE_ROWS)
    {    80, simt::c64,  {{ 64,  32, 16}, { 32,  16}, {16,  8,  8},   3,    2, tiling::math_unit::matrix,  false},  0.225},
    {    80, simt::c64,  {{ 32,  32, 16}, { 16,  16}, {16,  8,  8},   3,    3, tiling::math_unit::matrix,  true},   0.198},
#else
    {    80, simt::c64,  {{ 64,  32,  8}, { 32,  16}, {16,  8,  8},   3,    2, tiling::math_unit::matrix,  false},  0.21},
    {    80, simt::c64,  {{ 32,  32,  8}, { 16,  16}, {16,  8,  8},   3,    4, tiling::math_unit::matrix,  true},   0.20},
#endif
    {    80, simt::c64,  {{ 32,  16,  8}, { 16,   8}, {16,  8,  8},   4,    5, tiling::math_unit::matrix,  true},   0.185},
#if defined(KOKKOS_ARCH_HOPPER90)
    {    90, simt::tf32, {{128, 256, 32}, { 16, 256}, {64, 256,  8},  4,    1, tiling::math_unit::warpgroup, false}, 6.50, simt::serves::single},
    {    90, simt::tf32, {{128, 192, 32}, { 16, 192}, {64, 192,  8},  4,    1, tiling::math_unit::warpgroup, false}, 6.00, simt::serves::single},
    {    90, simt::tf32, {{ 64, 128, 32}, { 16, 128}, {64, 128,  8},  8,    1, tiling::math_unit::warpgroup, true},  4.45, simt::serves::single},
    {    90, simt::tf32x3,{{128, 256, 32},{ 16, 256}, {64, 128,  8},  4,    1, tiling::math_unit::warpgroup, false}, 2.20, simt::serves::single},
    {    90, simt::tf32x3,{{128, 128, 32},{ 16, 128}, {64, 128,  8},  6,    1, tiling::math_unit::warpgroup, false}, 2.00, simt::serves::single},
    {    90, simt::tf32x3,{{ 64, 128, 32},{ 16, 128}, {64, 128,  8},  4,    2, tiling::math_unit::warpgroup, false}, 1.55, simt::serves::single},
    {    90, simt::f16,  {{128, 256, 64}, { 16, 256}, {64, 256, 16},  4,    1, tiling::math_unit::warpgroup, false}, 13.0},
    {    90, simt::f16,  {{128, 192, 64}, { 16, 192}, {64, 192, 16},  4,    1, tiling::math_unit::warpgroup, true}, 12.0},
    {    90, simt::f16,  {{128, 128, 64}, { 16, 128}, {64, 128, 16},  6,    1, tiling::math_unit::warpgroup, true}, 12.0},
    {    90, simt::f16,  {{ 64, 128, 64}, { 16, 128}, {64, 128, 16},  8,    1, tiling::math_unit::warpgroup, true},  8.90, simt::serves::single},
    {    90, simt::f16,  {{ 64, 128, 64}, { 16, 128}, {64, 128, 16},  4,    2, tiling::math_unit::warpgroup, true},  8.00, simt::serves::batches},
    {    90, simt::f16,  {{128,  64, 64}, { 16,  64}, {64,  64, 16},  8,    1, tiling::math_unit::warpgroup, true},  8.00},
    {    90, simt::f16,  {{ 64,  64, 64}, { 16,  64}, {64,  64, 16},  3,    4, tiling::math_unit::warpgroup, false}, 5.00, simt::serves::batches},
    {    90, simt::bf16, {{128, 256, 64}, { 16, 256}, {64, 256, 16},  4,    1, tiling::math_unit::warpgroup, false}, 13.0},
    {    90, simt::bf16, {{128, 192, 64}, { 16, 192}, {64, 192, 16},  4,    1, tiling::math_unit::warpgroup, true}, 12.0},
    {    90, simt::bf16, {{128, 128, 64}, { 16, 128}, {64, 128, 16},  6,    1, tiling::math_unit::warpgroup, true}, 12.0},
    {    90, simt::bf16, {{ 64, 128, 64}, { 16, 128}, {64, 128, 16},  8,    1, tiling::math_unit::warpgroup, true},  8.90, simt::serves::single},
    {    90, simt::bf16, {{ 64, 128, 64}, { 16, 128}, {64, 128, 16},  4,    2, tiling::math_unit::warpgroup, true},  8.00, simt::serves::batches},
    {    90, simt::bf16, {{128,  64, 64}, { 16,  64}, {64,  64, 16},  8,    1, tiling::math_unit::warpgroup, true},  8.00},
    {    90, simt::bf16, {{ 64,  64, 64}, { 16,  64}, {64,  64, 16},  3,    4, tiling::math_unit::warpgroup, false}, 5.00, simt::serves::batches},
    {    90, simt::i8,   {{128, 256,128}, { 16, 256}, {64, 256, 32},  4,    1, tiling::math_unit::warpgroup, false}, 24.0},
    {    90, simt::i8,   {{128, 192,128}, { 16, 192}, {64, 192, 32},  4,    1, tiling::math_unit::warpgroup, true}, 22.0, simt::serves::single},
    {    90, simt::i8,   {{128, 128,128}, { 16, 128}, {64, 128, 32},  6,    1, tiling::math_unit::warpgroup, true},  18.5, simt::serves::single},
    {    90, simt::i8,   {{ 64, 128,128}, { 16, 128}, {64, 128, 32},  8,    1, tiling::math_unit::warpgroup, true},  18.9, simt::serves::single},
    {    90, simt::i8,   {{ 64, 128,128}, { 16, 128}, {64, 128, 32},  4,    2, tiling::math_unit::warpgroup, true},  17.0, simt::serves::batches},
    {    90, simt::i8,   {{128,  64,128}, { 16,  64}, {64,  64, 32},  8,    1, tiling::math_unit::warpgroup, true},  13.0},
    {    90, simt::f8,   {{128, 256,128}, { 16, 256}, {64, 128, 32},  4,    1, tiling::math_unit::warpgroup, false}, 17.0},
    {    90, simt::f8,   {{128, 128,128}, { 16, 128}, {64, 128, 32},  6,    1, tiling::math_unit::warpgroup, false}, 15.0, simt::serves::single},
    {    90, simt::f8,   {{ 64, 128,128}, { 16, 128}, {64, 128, 32},  8,    1, tiling::math_unit::warpgroup, true},  13.3, simt::serves::single},
    {    90, simt::f8,   {{ 64, 128,128}, { 16, 128}, {64, 128, 32},  4,    2, tiling::math_unit::warpgroup, true},  12.0, simt::serves::batches},
    {    90, simt::f8,   {{128,  64,128}, { 16,  64}, {64,  64, 32},  8,    1, tiling::math_unit::warpgroup, true},  12.0},
#endif
    {    80, simt::f16,  {{128, 128, 32}, { 64,  64}, {16,  8, 16},   4,    2, tiling::math_unit::matrix,  false},  8.00, of_four_stages},
    {    80, simt::f16,  {{ 64,  64, 32}, { 32,  32}, {16,  8, 16},   4,    4, tiling::math_unit::matrix,  true},   4.00},
    {    80, simt::f16,  {{ 64,  16, 32}, { 16,  16}, {16,  8, 16},   4,    4, tiling::math_unit::matrix,  true},   2.00},
    {    80, simt::bf16, {{128, 128, 32}, { 64,  64}, {16,  8, 16},   4,    2, tiling::math_unit::matrix,  false},  8.00, of_four_stages},
    {    80, simt::bf16, {{ 64,  64, 32}, { 32,  32}, {16,  8, 16},   4,    4, tiling::math_unit::matrix,  true},   4.00},
    {    80, simt::bf16, {{ 64,  16, 32}, { 16,  16}, {16,  8, 16},   4,    4, tiling::math_unit::matrix,  true},   2.00},
    {    80, simt::i8,   {{128, 128, 64}, { 64,  64}, {16,  8, 32},   4,    2, tiling::math_unit::matrix,  false},  11.4, of_four_stages},
    {    80, simt::i8,   {{ 64,  64, 64}, { 32,  32}, {16,  8, 32},   4,    4, tiling::math_unit::matrix,  true},   7.50},
    {    80, simt::i8,   {{ 64,  16, 64}, { 16,  16}, {16,  8, 32},   4,    4, tiling::math_unit::matrix,  true},   2.00},
#if !defined(KERAMOS_CUDA_ONLY_WIDE_ROWS)
    {    90, simt::f64,  {{128,  64,  8}, { 64,  32}, {16,  8,  8},   3,    2, tiling::math_unit::matrix,  false},  0.86, simt::serves::all, 4600},
    {    80, simt::f16,  {{128, 128, 32}, { 64,  64}, {16,  8, 16},   2,    2, tiling::math_unit::matrix,  false},  6.00},
    {    80, simt::bf16, {{128, 128, 32}, { 64,  64}, {16,  8, 16},   2,    2, tiling::math_unit::matrix,  false},  6.00},
    {    80, simt::i8,   {{128, 128, 64}, { 64,  64}, {16,  8, 32},   2,    2, tiling::math_unit::matrix,  false},  10.0},
#endif
#if defined(KOKKOS_ARCH_ADA89) || defined(KOKKOS_ARCH_HOPPER90) || defined(KOKKOS_ARCH_BLACKWELL)
    {    89, simt::f8,   {{128, 128, 64}, { 64,  64}, {16,  8, 32},   2,    2, tiling::math_unit::matrix,  false},  6.00},
    {    89, simt::f8,   {{ 64,  64, 64}, { 32,  32}, {16,  8, 32},   4,    4, tiling::math_unit::matrix,  true},   4.60},
    {    89, simt::f8,   {{ 64,  16, 64}, { 16,  16}, {16,  8, 32},   4,    4, tiling::math_unit::matrix,  true},   1.10},
#else
    {    50, simt::f8,   {{ 64,  64, 16}, { 32,  32}, { 8,  4,  1},   2,    4, tiling::math_unit::fma,     true},   0.40},
#endif
#if defined(KERAMOS_CUDA_BEFORE_AMPERE)
    {    50, simt::f64,  {{ 64,  64,  8}, { 32,  32}, { 8,  4,  1},   3,    2, tiling::math_unit::fma,     true},   0.35},
    {    50, simt::f64,  {{ 64,  16, 16}, { 32,  16}, { 4,  4,  1},   3,    4, tiling::math_unit::fma,     true},   0.25},
    {    50, simt::c64,  {{ 64,  32,  8}, { 32,  16}, { 4,  4,  1},   3,    3, tiling::math_unit::fma,     true},   0.10},
    {    50, simt::c64,  {{ 64,  16,  8}, { 32,  16}, { 4,  4,  1},   3,    4, tiling::math_unit::fma,     true},   0.08},
    {    50, simt::f16,  {{ 64,  64, 16}, { 32,  32}, { 8,  4,  1},   2,    4, tiling::math_unit::fma,     true},   0.63},
    {    50, simt::bf16, {{ 64,  64, 16}, { 32,  32}, { 8,  4,  1},   2,    4, tiling::math_unit::fma,     true},   0.63},
    {    50, simt::i8,   {{ 64,  64, 16}, { 32,  32}, { 8,  4,  1},   2,    4, tiling::math_unit::fma,     true},   0.45},
#endif
    {    50, simt::f16xf32, {{64,64, 16}, { 32,  32}, { 8,  4,  1},   2,    4, tiling::math_unit::fma,     true},   0.60},
    {    50, simt::bf16xf32,{{64,64, 16}, { 32,  32}, { 8,  4,  1},   2,    4, tiling::math_unit::fma,     true},   0.60},
    {    50, simt::f32xc32, {{64,64,  8}, { 32,  32}, { 8,  4,  1},   3,    3, tiling::math_unit::fma,     true},   0.30},
    {    50, simt::f64xc64, {{64,32,  8}, { 32,  16}, { 4,  4,  1},   3,    3, tiling::math_unit::fma,     true},   0.18},
    {    50, simt::f32,  {{128, 128, 16}, { 64,  32}, { 8,  8,  1},   2,    2, tiling::math_unit::fma,     true},   0.75, simt::serves::single, 600},
};
// clang-format on

}  // namespace cuda

template <>
struct tiles<Kokkos::Cuda> {
  static constexpr const auto& table = cuda::tile_table;
  static int arch(const Kokkos::Cuda& exec) {
    const int arch = exec.cuda_device_prop().major * 10 + exec.cuda_device_prop().minor;
    return std::min(arch, traits<Kokkos::Cuda>::most_arch);
  }
  static simt::device_model model(const Kokkos::Cuda& exec) {
    const cudaDeviceProp& device = exec.cuda_device_prop();
    simt::device_model model{device.multiProcessorCount, device.sharedMemPerMultiprocessor};
    model.cache_size = double(device.l2CacheSize);
    model.most_emulation_bytes = device.totalGlobalMem / 16;
    return model;
  }
};

}  // namespace keramos::backend
