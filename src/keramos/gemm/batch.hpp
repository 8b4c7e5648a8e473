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

/// Where an operand of problem b lies: `stride` elements behind that of problem b - 1, or at the address
/// that lies `step` bytes behind that of problem b - 1 in `addresses`.
struct batch_place {
  index_t stride = 0;
  const void* addresses = nullptr;
  index_t step = 0;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION T* of(T* first, index_t b) const {
    if (!addresses) return first + b * stride;
    return *reinterpret_cast<T* const*>(static_cast<const char*>(addresses) + b * step);
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

/// One problem with what all problems of a batch have in common, for the choice of a kernel: the largest
/// extents, the strides, and in place of addresses and of strides between rows numbers that are multiples of
/// 2^i if those of all problems are. Its data must not be touched.
template <class Types>
class representative_problem {
 public:
  representative_problem(const uniform_batch<Types>& batch, const batch_alignment& alignment) {
    problem_ = batch.shape;
    const auto join = []<class T>(tiling::operand<T>& x, const batch_place& place, std::size_t alignment) {
      if (place.addresses)
        x.data = reinterpret_cast<const T*>(alignment);
      else
        across(x) |= place.stride;
    };
    join(problem_.a, batch.a, alignment.a);
    join(problem_.b, batch.b, alignment.b);
    if (batch.c.addresses)
      problem_.c = reinterpret_cast<typename Types::c*>(alignment.c);
    else
      problem_.c_row_stride |= batch.c.stride;
  }
  explicit representative_problem(const std::vector<grouped_problem<Types>>& problems) {
    problem_ = problems.front();
    for (const gemm_problem<Types>& p : problems) {
      problem_.m = std::max(problem_.m, p.m);
      problem_.n = std::max(problem_.n, p.n);
      problem_.k = std::max(problem_.k, p.k);
      join(problem_.a, p.a);
      join(problem_.b, p.b);
    }
  }

  const gemm_problem<Types>& get() const { return problem_; }

 private:
  template <class T>
  static bool along_k(const tiling::operand<T>& x) {
    return x.stride_k == 1 && x.stride_mn != 1;
  }
  template <class T>
  static index_t& across(tiling::operand<T>& x) {
    return along_k(x) ? x.stride_mn : x.stride_k;
  }

  template <class T>
  static void join(tiling::operand<T>& all, tiling::operand<T> x) {
    if (along_k(all) != along_k(x) || (!along_k(x) && x.stride_mn != all.stride_mn)) {
      all.stride_mn = all.stride_k = 2;  // no stride in common
      return;
    }
    const auto bits = [](const T* p) { return reinterpret_cast<std::uintptr_t>(p); };
    all.data = reinterpret_cast<const T*>(bits(all.data) | bits(x.data));
    across(all) |= across(x);
  }

  gemm_problem<Types> problem_;
};

}  // namespace keramos
