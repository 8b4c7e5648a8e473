// The host's micro-kernel and packing, written once over GCC/Clang vector extensions; their width and
// number of registers follow the compiler's flags. Structure: Goto & van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication" (2008); Van Zee & van de Geijn, "BLIS" (2015).
//
// Compiled several times with different flags (kernels.cpp): everything is in a namespace named after the
// instruction set, and nothing of the standard library is instantiated.
#pragma once

#include <cstdint>

#include <keramos/backends/host/products.hpp>
#include <keramos/backends/host/tiles.hpp>
#include <keramos/backends/host/vector.hpp>
#include <keramos/gemm/kernel/host/dot_kernel.hpp>
#include <keramos/gemm/kernel/host/kernel_table.hpp>
#include <keramos/gemm/kernel/host/pack.hpp>
#include <keramos/gemm/kernel/host/unpacked_kernel.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

using namespace backend::host::KERAMOS_HOST_ISA;  // its vectors

/// `Product` is the multiply atom.
template <class T, class Product = multiply_add<T>>
struct micro_kernel {
  static constexpr backend::host::tile_row tile =
      backend::host::tile_for(vector_bytes, vector_registers, sizeof(T));
  using vector = typename simd<T>::vector;
  static constexpr int lanes = simd<T>::lanes;
  static constexpr int vectors = tile.nr_vectors;
  static constexpr int mr = tile.mr;
  static constexpr int nr = vectors * lanes;

  static vector load(const T* p) { return *reinterpret_cast<const vector*>(p); }
  static void store(T* p, vector v) { *reinterpret_cast<vector*>(p) = v; }

  /// Steps of k between requests, and of those that are unrolled: with few registers g++ would move sums about.
  static constexpr int chunk = 8, unrolled = vector_registers >= 32 ? 2 : 1;

  /// What a tile asks the second-level cache for: so many lines with every chunk.
  struct request {
    const char* from;
    int lines;
  };

  /// The part of B's next panel that tile `i` of `tiles` asks for: all tiles together ask for the whole.
  static request part_of(const T* panel, int k, int i, int tiles) {
    const int lines_of_panel = k * nr * int(sizeof(T)) / 64, chunks = (k + chunk - 1) / chunk;
    const int lines = (lines_of_panel + tiles * chunks - 1) / (tiles * chunks);
    const std::int64_t from = std::int64_t(i) * chunks * lines;
    return {reinterpret_cast<const char*>(panel) + from * 64, from < lines_of_panel ? lines : 0};
  }

  /// sums (+)= a·b for the first Vectors vectors of a micro tile: its accumulators stay in registers over all of k.
  template <int Vectors>
  static void multiply_tile(T* sums, const T* a, const T* b, int k, bool first, request next) {
    vector c[mr][Vectors];
#pragma GCC unroll 32
    for (int i = 0; i < mr; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) c[i][v] = vector{};
    const auto step = [&](int q) __attribute__((always_inline)) {
      vector row[Vectors];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) row[v] = load(b + q * nr + v * lanes);
#pragma GCC unroll 32
      for (int i = 0; i < mr; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) c[i][v] = Product::add(c[i][v], a[q * mr + i], row[v]);
    };
    k -= Product::corrections;
    for (; k >= chunk; k -= chunk) {
      for (int line = 0; line < next.lines; ++line, next.from += 64) __builtin_prefetch(next.from, 0, 2);
#pragma GCC unroll 1
      for (int p = 0; p < chunk; p += unrolled, a += unrolled * mr, b += unrolled * nr)
#pragma GCC unroll 2
        for (int q = 0; q < unrolled; ++q) step(q);
    }
    for (; k > 0; --k, a += mr, b += nr) step(0);
    for (int q = 0; q < Product::corrections; ++q, a += mr, b += nr)
#pragma GCC unroll 32
      for (int i = 0; i < mr; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) c[i][v] += a[i] * load(b + v * lanes);
#pragma GCC unroll 32
    for (int i = 0; i < mr; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        T* const sum = sums + i * nr + v * lanes;
        store(sum, first ? c[i][v] : load(sum) + c[i][v]);
      }
  }

  using tile_function = void(T* sums, const T* a, const T* b, int k, bool first, request next);

  /// The function for a tile of so many columns.
  template <int Vectors = vectors>
  static tile_function* tile_of(int cols) {
    if constexpr (Vectors > 1)
      if (cols <= (Vectors - 1) * lanes) return tile_of<Vectors - 1>(cols);
    return multiply_tile<Vectors>;
  }

  /// A's panels stream by from the second-level cache, once for each panel of B. B's next one is on its way there
  /// meanwhile: unasked for, it costs 5 (f32) to 12 % (f64) of the speed on Zen 5.
  static void multiply(const block_product<T>& s) {
    const int panels_m = (s.rows + mr - 1) / mr, panels_n = (s.cols + nr - 1) / nr;
    alignas(64) T only[mr * nr];  // sums that nothing follows and nothing went before
    for (int j = 0; j < panels_n; ++j) {
      const int cols = s.cols - j * nr < nr ? s.cols - j * nr : nr;
      tile_function* const multiply_tile = tile_of(cols);
      for (int i = 0; i < panels_m; ++i) {
        const bool alone = s.first && s.last;
        T* sums = alone ? only : s.sums + (std::int64_t(j) * panels_m + i) * mr * nr;
        const int rows = s.rows - i * mr < mr ? s.rows - i * mr : mr;
        T* const c = s.c ? s.c + std::int64_t(i) * mr * s.c_row_stride + std::int64_t(j) * nr * s.c_col_stride
                         : nullptr;
        if (s.last && c) {  // C and the sums so far arrive while the products are formed
          for (int r = 0; r < rows; ++r)
            for (int v = 0; v < vectors; ++v) __builtin_prefetch(c + r * s.c_row_stride + v * lanes, 1);
        }
        if (!s.first) {
          for (int v = 0; v < mr * nr; v += 64 / int(sizeof(T))) __builtin_prefetch(sums + v, 1);
        }
        const T* const b = s.b + std::int64_t(j) * s.k * nr;
        const request next =
            j + 1 < panels_n ? part_of(b + std::int64_t(s.k) * nr, s.k, i, panels_m) : request{nullptr, 0};
        multiply_tile(sums, s.a + std::int64_t(i) * s.k * mr, b, s.k, s.first, next);
        if (!s.last) continue;
        if (s.write)
          s.write(s.writer, sums, i * mr, j * nr, rows, cols);
        else
          write_tile(c, s, sums, rows, cols);
      }
    }
  }

  static void write_tile(T* c, const block_product<T>& s, const T* sums, int rows, int cols) {
    using v = simd<T>;
    for (int i = 0; i < rows; ++i, c += s.c_row_stride, sums += nr) {
      if (s.c_col_stride == 1) {
#pragma GCC unroll 4
        for (int j = 0; j < nr; j += lanes) {
          if (j >= cols) break;
          vector out = s.alpha * load(sums + j);
          if (cols - j >= lanes) {
            if (s.beta != T(0)) out += s.beta * v::load(c + j);
            v::store(c + j, out);
          } else {
            const typename v::first left(cols - j);
            if (s.beta != T(0)) out += s.beta * left.load(c + j);
            left.store(c + j, out);
          }
        }
      } else {
        for (int j = 0; j < cols; ++j) {
          T& to = c[j * s.c_col_stride];
          to = s.beta == T(0) ? s.alpha * sums[j] : s.alpha * sums[j] + s.beta * to;
        }
      }
    }
  }

  template <class Types>
  static constexpr kernel_table<Types> table(const char* isa) {
    kernel_table<Types> kernels{
        isa,
        mr,
        nr,
        tile.mc,
        tile.nc,
        tile.kc * Product::group,
        Product::group,
        Product::corrections,
        pack<typename Types::a, T, mr, typename Product::pack_a, Product::corrections>,
        pack<typename Types::b, T, nr, typename Product::pack_b, Product::corrections>,
        multiply,
        nullptr,
        nullptr,
        0};
    if constexpr (Types::uniform) {
      kernels.multiply_unpacked = unpacked_kernel<T>::multiply;
      kernels.multiply_dots = dot_kernel<T>::multiply;
      kernels.dots = dot_kernel<T>::pays_up_to;
    }
    return kernels;
  }
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA
