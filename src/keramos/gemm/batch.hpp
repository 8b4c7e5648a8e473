// Batches of GEMMs as the kernels see them: something that gives problem b. Ops and layouts are strides by
// now, like in problem.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <keramos/base/macros.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos {

/// Where an operand of problem b is: `stride` elements behind that of problem b - 1; or, where there are `addresses`, at that which
/// is stored `stride` bytes behind that of problem b - 1. (One number for both: kernels and callers' epilogues share what
/// Kokkos passes to a launch as an argument.)
struct batch_place {
  index_t stride = 0;
  const void* addresses = nullptr;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION T* of(T* first, index_t b) const {
    if (!addresses) return first + b * stride;
    return *reinterpret_cast<T* const*>(static_cast<const char*>(addresses) + b * stride);
  }
};

/// `count` problems of one shape and one set of strides.
template <class Types>
struct uniform_batch {
  using types = Types;
  /// Whether problems differ in their extents.
  static constexpr bool mixed = false;

  gemm_problem<Types> shape;  ///< problem 0, but for data where there are addresses
  batch_place a, b, c;
  index_t count;

  KERAMOS_FORCEINLINE_FUNCTION index_t size() const { return count; }
  KERAMOS_FORCEINLINE_FUNCTION gemm_problem<Types> operator[](index_t i) const {
    gemm_problem<Types> p = shape;
    p.a.data = a.of(shape.a.data, i);
    p.b.data = b.of(shape.b.data, i);
    p.c = c.of(shape.c, i);
    p.place.batch = i;
    return p;
  }
  KERAMOS_FORCEINLINE_FUNCTION tiling::operand<typename Types::a> a_of(index_t i) const {
    return {a.of(shape.a.data, i), shape.a.stride_mn, shape.a.stride_k, shape.a};
  }
  KERAMOS_FORCEINLINE_FUNCTION tiling::operand<typename Types::b> b_of(index_t i) const {
    return {b.of(shape.b.data, i), shape.b.stride_mn, shape.b.stride_k, shape.b};
  }
  KERAMOS_FORCEINLINE_FUNCTION index_t m(index_t) const { return shape.m; }
  KERAMOS_FORCEINLINE_FUNCTION index_t n(index_t) const { return shape.n; }
  KERAMOS_FORCEINLINE_FUNCTION index_t k(index_t) const { return shape.k; }

  /// The same products with C transposed.
  void transpose() {
    shape.transpose();
    std::swap(a, b);
  }
};

/// A problem among others of other extents, and its place among all block tiles.
template <class Types>
struct grouped_problem : gemm_problem<Types> {
  int first_tile = 0;
  int tiles_m = 0, tiles_n = 0;
};

/// Problems with extents and strides of their own.
template <class Types>
struct grouped_batch {
  using types = Types;
  static constexpr bool mixed = true;

  const grouped_problem<Types>* problems;  // in memory that the kernel reads
  index_t count;

  KERAMOS_FORCEINLINE_FUNCTION index_t size() const { return count; }
  KERAMOS_FORCEINLINE_FUNCTION const grouped_problem<Types>& operator[](index_t i) const {
    return problems[i];
  }
  KERAMOS_FORCEINLINE_FUNCTION const tiling::operand<typename Types::a>& a_of(index_t i) const {
    return problems[i].a;
  }
  KERAMOS_FORCEINLINE_FUNCTION const tiling::operand<typename Types::b>& b_of(index_t i) const {
    return problems[i].b;
  }
  KERAMOS_FORCEINLINE_FUNCTION index_t m(index_t i) const { return problems[i].m; }
  KERAMOS_FORCEINLINE_FUNCTION index_t n(index_t i) const { return problems[i].n; }
  KERAMOS_FORCEINLINE_FUNCTION index_t k(index_t i) const { return problems[i].k; }
};

/// Bytes that the addresses of a batch are multiples of, where they are not known on the host.
struct batch_alignment {
  std::size_t a = 0, b = 0, c = 0;
};

namespace detail {

/// Numbers that are multiples of 2^i if those of all problems are, in place of addresses and of strides between rows: both
/// joined from those of two problems by "or".
template <class T>
void join(T*& all, T* x) {
  all = reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(all) | reinterpret_cast<std::uintptr_t>(x));
}
template <class T>
void join(tiling::operand<T>& all, const tiling::operand<T>& x) {
  const auto along_k = [](const tiling::operand<T>& o) { return o.stride_k == 1 && o.stride_mn != 1; };
  const auto pitch = [&](const tiling::operand<T>& o) { return along_k(o) ? o.stride_mn : o.stride_k; };
  if (along_k(all) != along_k(x) || (!along_k(x) && x.stride_mn != all.stride_mn) || pitch(all) <= 0 ||
      pitch(x) <= 0) {
    all.stride_mn = all.stride_k = 2;  // no stride in common
    return;
  }
  join(all.data, x.data);
  (along_k(all) ? all.stride_mn : all.stride_k) |= along_k(x) ? x.stride_mn : x.stride_k;
}
template <class Types>
void join(gemm_problem<Types>& all, const gemm_problem<Types>& p) {
  all.m = std::max(all.m, p.m);
  all.n = std::max(all.n, p.n);
  all.k = std::max(all.k, p.k);
  join(all.a, p.a);
  join(all.b, p.b);
  join(all.c, p.c);
  all.c_row_stride |= p.c_row_stride;
}

/// One problem with what all problems of a batch have in common, for the choice of a kernel: the largest extents, and
/// joined addresses and strides. Its data must not be touched.
template <class Types>
gemm_problem<Types> representative_of(const uniform_batch<Types>& batch, const batch_alignment& alignment) {
  gemm_problem<Types> first = batch.shape, second = batch.shape;
  const auto place = []<class T>(T*& x, T*& y, const batch_place& at, std::size_t known) {
    if (at.addresses)
      x = y = reinterpret_cast<T*>(known);
    else
      y = x + at.stride;  // the others are as many strides further
  };
  place(first.a.data, second.a.data, batch.a, alignment.a);
  place(first.b.data, second.b.data, batch.b, alignment.b);
  place(first.c, second.c, batch.c, alignment.c);
  if (batch.count > 1) join(first, second);
  return first;
}
template <class Types>
gemm_problem<Types> representative_of(const std::vector<grouped_problem<Types>>& problems) {
  gemm_problem<Types> all = problems.front();
  for (const gemm_problem<Types>& p : problems) join(all, p);
  return all;
}

}  // namespace detail

}  // namespace keramos
