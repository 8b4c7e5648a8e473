// The register tile of vectors: sums stay in registers over all of k, a row of B is loaded and numbers of A are broadcast.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>

#include <keramos/backends/host/products.hpp>
#include <keramos/backends/host/tiles.hpp>
#include <keramos/backends/host/vector.hpp>
#include <keramos/gemm/host/kernel_table.hpp>
#include <keramos/gemm/host/pack.hpp>
#include <keramos/gemm/host/request.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

using namespace backend::host::KERAMOS_HOST_ISA;  // its vectors

/// `Product` is the multiply atom.
template <class T, class Product = multiply_add<T>>
struct vector_tile {
  using number = T;  ///< of packed operands, and of sums
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

  static request part_of(const T* panel, int k, int i, int tiles) {
    return request::part_of(panel, std::int64_t(k) * nr * int(sizeof(T)), (k + chunk - 1) / chunk, i, tiles);
  }

  /// sums (+)= a·b for the first Vectors vectors of a micro tile: its accumulators stay in registers over all of k.
  template <int Vectors>
  static void multiply_tile(T* sums, const T* a, const T* b, int k, bool first, request next) {
    vector c[mr][Vectors];
#pragma GCC unroll 32
    for (int i = 0; i < mr; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) c[i][v] = vector{};
    const auto add_products = [&](int q) __attribute__((always_inline)) {
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
      next.ask();
#pragma GCC unroll 1
      for (int p = 0; p < chunk; p += unrolled, a += unrolled * mr, b += unrolled * nr)
#pragma GCC unroll 2
        for (int q = 0; q < unrolled; ++q) add_products(q);
    }
    for (; k > 0; --k, a += mr, b += nr) add_products(0);
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

  /// The function for a tile of `cols` columns, and of any rows and kinds of elements.
  template <int Vectors = vectors>
  static tile_function* tile_of(int cols, int /*rows*/ = mr, bool /*kind_a*/ = true, bool /*kind_b*/ = true) {
    if constexpr (Vectors > 1)
      if (cols <= (Vectors - 1) * lanes) return tile_of<Vectors - 1>(cols);
    return multiply_tile<Vectors>;
  }

  /// What holds while tiles are multiplied.
  struct scope {};

  static constexpr int group = Product::group, step = 1, corrections = Product::corrections;
  static constexpr int speed = group;
  static constexpr bool keeps_nc = false;
  template <class From>
  static constexpr auto pack_a = pack<From, T, mr, typename Product::pack_a, corrections>;
  template <class From>
  static constexpr auto pack_b = pack<From, T, nr, typename Product::pack_b, corrections>;
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA
