// A product of bytes with an epilogue of a test's own, and what each of its sums is.
#pragma once

#include <cstdint>
#include <random>

#include <keramos/gemm/fused.hpp>

#include "gemm_case.hpp"

namespace keramos::test {

using i8 = std::int8_t;
using u8 = std::uint8_t;
using i32 = std::int32_t;

template <class A, class B, class C>
struct bytes_product {
  static constexpr index_t m = 70, n = 50, k = 64;

  explicit bytes_product(std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    a.fill_all([&] { return random_value<A>(rng); }), b.fill_all([&] { return random_value<B>(rng); });
    a.upload(), b.upload();
  }
  template <class Epilogue>
  void run(const Epilogue& epilogue) {
    queue q;
    gemm(q, a.view, b.view, c.view, epilogue);
    q.wait();
    record_support("epilogue", a.view, b.view, c.view, op::N, op::N);
    c.download();
  }
  i32 sum(index_t i, index_t j) const {
    return i32(reference::product_element(a.applied(), b.applied(), i, j, k).value);
  }

  stored_matrix<A> a{m, k, layout::right, 0, 0};
  stored_matrix<B> b{k, n, layout::right, 0, 0};
  stored_matrix<C> c{m, n, layout::left, 0, 0};
};

}  // namespace keramos::test
