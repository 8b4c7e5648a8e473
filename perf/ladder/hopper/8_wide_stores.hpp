// Hopper, step 8: C is written 16 bytes at a time. Of a row's eight columns four lanes have two each, 4 bytes, so that a
// store of a warp wrote 16 bytes of each of eight rows: half of each 32-byte sector. Here the four lanes exchange what they have
// of four times eight columns, and each gets all eight of one: a store writes 64 bytes of each row, whole sectors where rows
// begin at sectors, and there are a quarter as many stores.
#pragma once

#include "7_persistent.hpp"

namespace keramos::perf::ladder::hopper {

struct wide_store {
  struct alignas(16) run {
    unsigned pairs[4];
  };

  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void write(const operands<element>& x, index_t m0, index_t n0,
                                                 int thread, const float (&sums)[Count]) {
    const int lane = thread % warp;
    const index_t col = n0 + lane % 4 * 8;
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) {
      const index_t row = m0 + thread / warp * 16 + lane / 4 + half * 8;
      element* const c = x.c.data() + row * x.n + col;
      KERAMOS_UNROLL
      for (int j = 0; j < Count / 4; j += 4) {
        run eight{};
        KERAMOS_UNROLL
        for (int f = 0; f < 4; ++f) {
          const float* const two = sums + 4 * (j + f) + 2 * half;
          eight.pairs[f] = unsigned(element(two[0]).bits) | unsigned(element(two[1]).bits) << 16;
        }
        exchange(eight, lane);
        if (row < x.m && col + 8 * j < x.n)
          *reinterpret_cast<run*>(c + 8 * j) = eight;  // n is a multiple of 8
      }
    }
  }

 private:
  // Pairs are a matrix of four lanes and four runs; this is its transpose, a bit of both numbers at a time.
  KERAMOS_FORCEINLINE_FUNCTION static void exchange(run& x, int lane) {
    KERAMOS_UNROLL
    for (int bit = 1; bit < 4; bit *= 2) {
      const bool upper = (lane & bit) != 0;
      KERAMOS_UNROLL
      for (int f = 0; f < 4; ++f) {
        if ((f & bit) != 0) continue;
        unsigned &low = x.pairs[f], &high = x.pairs[f + bit];
        const unsigned got = backend::mma<space>::shuffle_xor(upper ? low : high, bit);
        low = upper ? got : low;
        high = upper ? high : got;
      }
    }
  }
};

struct wide_stores : persistent {
  static constexpr const char* name = "wide_stores";
  static constexpr const char* why =
      "lanes exchange their sums so that each writes 16 bytes: whole sectors, and a quarter of the stores";

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    run_with<wide_store>("ladder::wide_stores", q, x);
  }
};

}  // namespace keramos::perf::ladder::hopper
