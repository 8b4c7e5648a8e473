// How sums in the registers of NVIDIA's tensor cores become C, with the instructions of a warp emulated by threads: every
// layout and edge of C, epilogues of the library's and of a caller's. What it cannot show: that a GPU has its sums where
// for_each_sum says, and that a warp meets where it must (emulated instructions meet by themselves).
#include <Kokkos_Core.hpp>

// Compilers of devices would make kernels of what calls the emulator.
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP) && !defined(KOKKOS_ENABLE_SYCL)

#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/gemm/collective/warp_mma_short.hpp>
#include <keramos/gemm/collective/warpgroup_accumulator.hpp>
#include <keramos/keramos.hpp>

#include "support.hpp"

namespace keramos {

namespace test {

struct emulated_gpu {};

/// The threads of a warp, which meet before and behind each exchange.
struct warp {
  std::barrier<> all{32};
  std::array<std::array<unsigned, 4>, 32> words;
  std::array<char*, 32> addresses;
};
thread_local warp* own_warp;
thread_local int own_lane;

/// `own` of each lane as `f` reads them.
template <class F>
void exchange_words(char* address, const unsigned (&own)[4], const F& f) {
  own_warp->addresses[own_lane] = address;
  std::copy(own, own + 4, own_warp->words[own_lane].begin());
  own_warp->all.arrive_and_wait();
  f(*own_warp);
  own_warp->all.arrive_and_wait();
}
inline unsigned word_of_lane(unsigned x, int lane) {
  unsigned got = 0;
  exchange_words(nullptr, {x}, [&](const warp& w) { got = w.words[lane][0]; });
  return got;
}

}  // namespace test

namespace backend {

template <>
struct warpgroups<test::emulated_gpu> {
  template <class T>
  static void settle(T&) {}
  template <class T>
  static T exchange(T x, int mask) {
    return test::word_of_lane(x, test::own_lane ^ mask);
  }
  static void meet_warp() { test::own_warp->all.arrive_and_wait(); }
  // Matrix i has row r where lane 8 i + r says; a lane has columns 2t and 2t + 1 of row g (PTX ISA, "stmatrix", "ldmatrix").
  static void store_matrices(char* local, const unsigned (&words)[4]) {
    test::exchange_words(local, words, [&](const test::warp& w) {
      for (int i = 0; i < 4; ++i) std::memcpy(piece(w, i), &words[i], 4);
    });
  }
  static void load_matrices(char* local, unsigned (&words)[4]) {
    unsigned got[4];
    test::exchange_words(local, {}, [&](const test::warp& w) {
      for (int i = 0; i < 4; ++i) std::memcpy(&got[i], piece(w, i), 4);
    });
    std::copy(got, got + 4, words);
  }
  static void store_16_bytes(char* local, const unsigned (&words)[4]) { std::memcpy(local, words, 16); }
  static void load_16_bytes(const char* local, unsigned (&words)[4]) { std::memcpy(words, local, 16); }
  static void write_16_bytes(void* global, const unsigned (&words)[4]) {
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(global) % 16, 0u);
    std::memcpy(global, words, 16);
  }

 private:
  static char* piece(const test::warp& w, int matrix) {
    char* const row = w.addresses[8 * matrix + test::own_lane / 4];
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(row) % 16, 0u);
    return row + test::own_lane % 4 * 4;
  }
};

template <>
struct mma<test::emulated_gpu> : fma_units {
  static unsigned from_lane(unsigned x, int lane) { return test::word_of_lane(x, lane); }
};

}  // namespace backend

namespace test {
namespace {

/// Runs `f(thread)` in so many threads, whole warps.
template <class F>
void run_threads(int threads, const F& f) {
  std::vector<std::unique_ptr<warp>> warps;
  for (int i = 0; i < threads / 32; ++i) warps.push_back(std::make_unique<warp>());
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      own_warp = warps[t / 32].get(), own_lane = t % 32;
      f(t);
    });
}

index_t sum_at(index_t i, index_t j) { return (i * 7 + j * 3) % 23 - 11; }
struct adds_place {
  bool reads;

  bool reads_c() const { return reads; }
  template <class T>
  T operator()(T acc, T c, index_t i, index_t j, index_t batch) const {
    return (*this)(acc, i, j, batch) + T(2) * c;
  }
  template <class T>
  T operator()(T acc, index_t i, index_t j, index_t) const {
    return acc + T((i * 5 + j) % 13);
  }
};

enum class memory_of_c { aligned_rows, rows, columns, strided };

/// A C of whole numbers between others that stay as they are, and what it becomes.
template <class Types>
struct written {
  using C = typename Types::c;
  using T = typename Types::accumulator;
  using position = tiling::shifted_position;
  static constexpr index_t m = 70, n = 300;

  std::vector<C> storage = std::vector<C>(std::size_t(m + 2) * (n + 16) * 3);
  gemm_problem<Types> p{};
  std::vector<C> expected;

  explicit written(memory_of_c layout) {
    for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = C(T(index_t(i % 7) - 3));
    const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
    C* const aligned = storage.data() + (32 - address % 32) % 32 / sizeof(C);
    p.m = m, p.n = n, p.k = 1;
    const bool columns = layout == memory_of_c::columns;
    p.c = layout == memory_of_c::aligned_rows ? aligned : aligned + 3;
    p.c_row_stride = columns ? 1 : layout == memory_of_c::aligned_rows ? n + 4 : 2 * n + 3;
    p.c_col_stride = columns ? m + 1 : layout == memory_of_c::strided ? 2 : 1;
    expected = storage;
  }

  /// All elements of C in a tile, without its first `skip` rows and columns.
  template <class Accumulator, class Epilogue, class... More>
  void check(const position& at, int threads, const Epilogue& epilogue, const More&... more) {
    const detail::simt::tile_window there(p, at);
    const C* const first = storage.data();
    for (index_t i = at.m0 + there.row0; i < at.m0 + there.row1; ++i)
      for (index_t j = at.n0 + there.col0; j < at.n0 + there.col1; ++j) {
        C& c = expected[std::size_t(p.c + i * p.c_row_stride + j * p.c_col_stride - first)];
        detail::write_element(epilogue, p.place, T(sum_at(i, j)), c, i, j);
      }
    run_threads(threads, [&](int thread) {
      Accumulator sums(thread);
      sums.for_each_sum([&](int row, int col, T& sum) { sum = T(sum_at(at.m0 + row, at.n0 + col)); });
      sums.write(p, at, epilogue, more...);
    });
    for (std::size_t i = 0; i < storage.size(); ++i)
      ASSERT_EQ(std::memcmp(&storage[i], &expected[i], sizeof(C)), 0) << "element " << i << " of memory";
  }
};

// Whole tiles, the last rows and columns, and tiles whose first ones are a neighbour's.
template <class Types, int Rows, int Cols, class Accumulator, class... More>
void write_everywhere(int threads, const More&... more) {
  using position = typename written<Types>::position;
  using T = typename Types::accumulator;
  const position places[] = {{{0, 0, 0, 1, Rows, Cols}, 0, 0},
                             {{64, 200, 0, 1, Rows, Cols}, 0, 0},
                             {{6, 300 - Cols, 0, 1, Rows, Cols}, 58, 17},
                             {{6, 296 - Cols, 0, 1, Rows, Cols}, 1, Cols - 8}};
  for (const memory_of_c layout :
       {memory_of_c::aligned_rows, memory_of_c::rows, memory_of_c::columns, memory_of_c::strided})
    for (const position& at : places)
      for (const bool reads : {false, true}) {
        SCOPED_TRACE(std::string(Types::name) + ", layout " + std::to_string(int(layout)) + ", at " +
                     std::to_string(at.m0) + ", " + std::to_string(at.n0) + (reads ? ", C is read" : ""));
        detail::library_epilogue<Types> update{};
        if constexpr (Types::quantizes) update.is_signed = true;
        detail::linear_part(update).alpha = 2, detail::linear_part(update).beta = reads ? 3 : 0;
        written<Types>(layout).template check<Accumulator>(at, threads, update, more...);
        if constexpr (Types::quantizes)
          written<Types>(layout).template check<Accumulator>(
              at, threads, detail::quantized_epilogue<adds_place>{{reads}, true}, more...);
        else if constexpr (std::is_same_v<T, float>)
          written<Types>(layout).template check<Accumulator>(at, threads, adds_place{reads}, more...);
      }
}

template <class Types>
class CWriting : public testing::Test {};
using all_types = testing::Types<types::bf16, types::f16_f32, types::f8_bf16, types::i8, types::i8_i32>;
TYPED_TEST_SUITE(CWriting, all_types);

TYPED_TEST(CWriting, OfWarpgroups) {
  constexpr int cols = 128;
  using accumulator = detail::simt::warpgroup_accumulator<TypeParam, cols, emulated_gpu, false>;
  alignas(16) static char local[64 * 64];
  write_everywhere<TypeParam, 64, cols, accumulator>(128, &local[0]);
}

TYPED_TEST(CWriting, OfWarps) {
  constexpr int bytes = sizeof(typename TypeParam::a);
  constexpr tiling::config config{{64, 64, 64 / bytes},      {32, 32}, {16, 8, 32 / bytes}, 4, 4,
                                  tiling::math_unit::matrix, true};
  using accumulator = detail::simt::warp_mma_short_accumulator<TypeParam, config, emulated_gpu>;
  write_everywhere<TypeParam, 64, 64, accumulator>(128);
}

// Where threads load A themselves, each has two neighbouring rows.
TEST(CWritingOfFloats, OfWarpgroupsThatLoadA) {
  using accumulator = detail::simt::warpgroup_accumulator<types::tf32, 128, emulated_gpu, true>;
  char* const none = nullptr;
  write_everywhere<types::tf32, 64, 128, accumulator>(128, none);
}

}  // namespace
}  // namespace test
}  // namespace keramos

#endif
