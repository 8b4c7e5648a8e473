// How sums in the registers of NVIDIA's GPUs become C, with the instructions of a warp emulated by lanes that take turns: every
// layout and edge of C, epilogues of the library's and of a caller's. What it cannot show: that a GPU has its sums where
// for_each_sum says, and that an exchange's lanes meet (emulated ones do by themselves, if each meets as often).
#include <Kokkos_Core.hpp>

// Compilers of devices would make kernels of what calls the emulator.
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP) && !defined(KOKKOS_ENABLE_SYCL)

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/gemm/collective/fma.hpp>
#include <keramos/gemm/collective/warp_mma.hpp>
#include <keramos/gemm/collective/warp_mma_short.hpp>
#include <keramos/gemm/collective/warpgroup_accumulator.hpp>
#include <keramos/keramos.hpp>

#include "support.hpp"

namespace keramos {

namespace test {

struct emulated_gpu {};

/// The lanes of a warp, which take turns: each runs until they meet.
struct warp {
  static constexpr int lanes = 32;
  static constexpr std::size_t stack_bytes = 256 << 10;

  std::array<std::uint64_t, lanes> words;
  std::vector<char> stacks;
  std::array<ucontext_t, lanes> contexts;
  ucontext_t home;
  std::function<void(int lane)> work;
  int lane;  ///< whose turn it is
  int ended;

  /// Runs `f(lane)` in all lanes.
  void run(const std::function<void(int)>& f);
  void meet() { swapcontext(&contexts[lane], &home); }
};
inline warp the_warp;

inline void warp::run(const std::function<void(int)>& f) {
  work = f, ended = 0, stacks.resize(lanes * stack_bytes);
  const auto begin = +[] {
    the_warp.work(the_warp.lane);
    ++the_warp.ended;
  };
  for (int i = 0; i < lanes; ++i) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = &stacks[i * stack_bytes], contexts[i].uc_stack.ss_size = stack_bytes;
    contexts[i].uc_link = &home;
    makecontext(&contexts[i], begin, 0);
  }
  while (ended == 0)
    for (lane = 0; lane < lanes; ++lane) swapcontext(&home, &contexts[lane]);
  ASSERT_EQ(ended, lanes) << "not all lanes meet as often";
}

/// What `f(words)` makes of the words of all lanes.
template <class F>
auto of_all_lanes(std::uint64_t word, const F& f) {
  the_warp.words[the_warp.lane] = word;
  the_warp.meet();
  const auto result = f(the_warp.words);
  the_warp.meet();
  return result;
}
inline unsigned word_of_lane(unsigned x, int lane) {
  return of_all_lanes(x, [&](const auto& words) { return unsigned(words[lane]); });
}

}  // namespace test

namespace backend {

template <>
struct traits<test::emulated_gpu> {
  static constexpr int warp_size = 32;
};

template <>
struct warpgroups<test::emulated_gpu> {
  template <class T>
  static void settle(T&) {}
  static void meet_warp() { test::the_warp.meet(); }
};

template <>
struct mma<test::emulated_gpu> : fma_units {
  static unsigned from_lane(unsigned x, int lane) { return test::word_of_lane(x, lane); }
  static void meet_warp() { test::the_warp.meet(); }
  static bool any_in_warp(bool x) {
    return test::of_all_lanes(
        x, [](const auto& words) { return std::any_of(words.begin(), words.end(), std::identity()); });
  }
  template <class T>
  static T shuffle_xor(T x, int bits) {
    std::uint64_t word = 0;
    std::memcpy(&word, &x, sizeof(x));
    word = test::of_all_lanes(word, [&](const auto& words) { return words[test::the_warp.lane ^ bits]; });
    std::memcpy(&x, &word, sizeof(x));
    return x;
  }
  template <class T>
  static T opaque(T x) {
    return x;
  }
  static void load_16_bytes(const char* local, unsigned (&words)[4]) { copy_16_bytes(words, local, local); }
  static void store_16_bytes(char* local, const unsigned (&words)[4]) { copy_16_bytes(local, words, local); }
  static void read_16_bytes(const void* global, unsigned (&words)[4], bool there) {
    std::memset(words, 0, 16);
    if (there) copy_16_bytes(words, global, global);
  }
  static void write_16_bytes(void* global, const unsigned (&words)[4], bool there) {
    if (there) copy_16_bytes(global, words, global);
  }

 private:
  static void copy_16_bytes(void* to, const void* from, const void* memory) {
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 16, 0u);
    std::memcpy(to, from, 16);
  }
};

}  // namespace backend

namespace test {
namespace {

/// Runs `f(thread)` for so many threads, warp by warp.
template <class F>
void run_threads(int threads, const F& f) {
  for (int first = 0; first < threads; first += warp::lanes) the_warp.run([&](int lane) { f(first + lane); });
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

enum class memory_of_c { aligned_rows, rows, aligned_columns, columns, strided, upside_down };

/// A C of whole numbers between others that stay as they are, and what it becomes.
template <class Types>
struct written {
  using C = typename Types::c;
  using T = typename Types::accumulator;
  using position = tiling::shifted_position;
  static constexpr index_t m = 134, n = 300;

  std::vector<C> storage = std::vector<C>(std::size_t(m + 2) * (n + 16) * 3);
  gemm_problem<Types> p{};
  std::vector<C> expected;

  explicit written(memory_of_c layout) {
    for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = C(T(index_t(i % 7) - 3));
    const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
    C* const aligned = storage.data() + (32 - address % 32) % 32 / sizeof(C);
    p.m = m, p.n = n, p.k = 1;
    const bool is_aligned = layout == memory_of_c::aligned_rows || layout == memory_of_c::aligned_columns ||
                            layout == memory_of_c::upside_down;
    const bool columns = layout == memory_of_c::columns || layout == memory_of_c::aligned_columns;
    p.c = is_aligned ? aligned : aligned + 3;
    p.c_row_stride = columns ? 1 : is_aligned ? n + 4 : 2 * n + 3;
    p.c_col_stride = columns ? m + (is_aligned ? 2 : 1) : layout == memory_of_c::strided ? 2 : 1;
    if (layout == memory_of_c::upside_down) {
      p.c += (m - 1) * p.c_row_stride;
      p.c_row_stride = -p.c_row_stride;
    }
    expected = storage;
  }

  /// check() of a tile that begins where it is told, as batches have them. Those who can read the first of C early do.
  template <class Accumulator, class Epilogue>
  void check_unshifted(const position& at, int threads, const Epilogue& epilogue) {
    tiling::position inside = at;
    inside.rows = int(std::min<index_t>(at.rows, m - at.m0)),
    inside.cols = int(std::min<index_t>(at.cols, n - at.n0));
    check<Accumulator>(inside, threads, epilogue, true);
  }
  /// All elements of C in a tile, without its first `skip` rows and columns.
  template <class Accumulator, class Position, class Epilogue>
  void check(const Position& at, int threads, const Epilogue& epilogue, bool early = false) {
    alignas(16) static char local[64 << 10];
    if constexpr (requires { Accumulator::writing_bytes; })
      static_assert(Accumulator::writing_bytes <= sizeof(local));
    std::memset(local, 0xff, sizeof(local));  // NaN
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
      if constexpr (requires { requires Accumulator::template reads_early<Epilogue>; })
        if (early) sums.read_c(p, at, local);
      if constexpr (detail::is_linear<Epilogue> && requires { sums.writes_vectors(p, at, epilogue); })
        if (sums.writes_vectors(p, at, epilogue)) return sums.write_vectors(p, at, epilogue);
      if constexpr (requires { sums.write_through(local, p, at, epilogue); })
        sums.write_through(local, p, at, epilogue);
      else if constexpr (requires { sums.write(p, at, epilogue, local); })
        sums.write(p, at, epilogue, local);
      else
        sums.write(p, at, epilogue);
    });
    for (std::size_t i = 0; i < storage.size(); ++i)
      ASSERT_EQ(std::memcmp(&storage[i], &expected[i], sizeof(C)), 0) << "element " << i << " of memory";
  }
};

// Whole tiles, the last rows and columns, and tiles whose first ones are a neighbour's.
template <class Types, int Rows, int Cols, class Accumulator>
void write_everywhere(int threads) {
  using position = typename written<Types>::position;
  using T = typename Types::accumulator;
  const position places[] = {{{0, 0, 0, 1, Rows, Cols}, 0, 0},
                             {{128, 200, 0, 1, Rows, Cols}, 0, 0},
                             {{128, 260, 0, 1, Rows, Cols}, 0, 0},
                             {{70, 202, 0, 1, Rows, Cols}, 0, 0},
                             {{134 - Rows, 300 - Cols, 0, 1, Rows, Cols}, Rows - 6, 17 % Cols},
                             {{134 - Rows, 296 - Cols, 0, 1, Rows, Cols}, 1, Cols - 8},
                             {{3, 201, 0, 1, Rows, Cols}, 2, 1}};
  for (const memory_of_c layout : {memory_of_c::aligned_rows, memory_of_c::rows, memory_of_c::aligned_columns,
                                   memory_of_c::columns, memory_of_c::strided, memory_of_c::upside_down})
    for (const position& at : places)
      for (const bool reads : {false, true}) {
        SCOPED_TRACE(std::string(Types::name) + ", layout " + std::to_string(int(layout)) + ", at " +
                     std::to_string(at.m0) + ", " + std::to_string(at.n0) + (reads ? ", C is read" : ""));
        detail::library_epilogue<Types> update{};
        if constexpr (Types::quantizes) update.is_signed = true;
        detail::linear_part(update).alpha = 2, detail::linear_part(update).beta = reads ? 3 : 0;
        written<Types>(layout).template check<Accumulator>(at, threads, update);
        if (reads && at.skip_m == 0 && at.skip_n == 0)
          written<Types>(layout).template check_unshifted<Accumulator>(at, threads, update);
        else if (reads)
          written<Types>(layout).template check<Accumulator>(at, threads, update, true);
        if constexpr (Types::quantizes)
          written<Types>(layout).template check<Accumulator>(
              at, threads, detail::quantized_epilogue<adds_place>{{reads}, true});
        else if constexpr (std::is_floating_point_v<T>)
          written<Types>(layout).template check<Accumulator>(at, threads, adds_place{reads});
      }
}

template <class Types>
class CWriting : public testing::Test {};
using all_types =
    testing::Types<types::bf16, types::f16_f32, types::f8_bf16, types::f8_f32, types::i8, types::i8_i32>;
TYPED_TEST_SUITE(CWriting, all_types);

template <class Types, int Cols>
void write_by_warpgroups() {
  using accumulator = detail::simt::warpgroup_accumulator<Types, Cols, emulated_gpu, false>;
  write_everywhere<Types, 64, Cols, accumulator>(128);
}
TYPED_TEST(CWriting, OfWarpgroups) { write_by_warpgroups<TypeParam, 128>(); }
// More columns of C than are read at once, and few.
TEST(CWritingOfHalves, OfWideAndNarrowWarpgroups) {
  write_by_warpgroups<types::bf16, 256>();
  write_by_warpgroups<types::bf16, 64>();
  write_by_warpgroups<types::f16_f32, 256>();
}

// Warps of one block of 32 columns in a row, of two, and of one of 16.
template <class Types, tiling::shape Block, tiling::shape Warp>
void write_by_warps() {
  constexpr int bytes = sizeof(typename Types::a);
  constexpr tiling::config config{{Block.m, Block.n, 64 / bytes}, Warp, {16, 8, 32 / bytes}, 4, 4,
                                  tiling::math_unit::matrix,      true};
  using accumulator = detail::simt::warp_mma_short_accumulator<Types, config, emulated_gpu>;
  write_everywhere<Types, Block.m, Block.n, accumulator>(config.warps() * 32);
}
TYPED_TEST(CWriting, OfWarps) { write_by_warps<TypeParam, tiling::shape{64, 64}, tiling::shape{32, 32}>(); }
TYPED_TEST(CWriting, OfWideWarps) {
  write_by_warps<TypeParam, tiling::shape{64, 128}, tiling::shape{64, 64}>();
}
TYPED_TEST(CWriting, OfNarrowWarps) {
  write_by_warps<TypeParam, tiling::shape{64, 16}, tiling::shape{16, 16}>();
}

// Small halves are written so (small_halves.hpp): rows that begin at any element, and end at any.
TEST(CWritingInWords, OfAWarp) {
  for (const int shift : {0, 1})
    for (const int columns : {16, 15, 9, 1}) {
      std::vector<std::uint16_t> storage(18 * 40, 7), expected = storage;
      const int pitch = 33;
      for (int i = 0; i < 16; ++i)
        for (int j = 0; j < columns; ++j)
          if (i != 11) expected[shift + i * pitch + j] = std::uint16_t(100 * i + j);
      run_threads(32, [&](int lane) {
        const int row = lane / 4;
        std::uint16_t* const rows[] = {&storage[shift + row * pitch], &storage[shift + (row + 8) * pitch]};
        const bool there[] = {true, row + 8 != 11};
        detail::simt::write_in_words<backend::mma<emulated_gpu>, 2>(
            rows, there, lane, columns, [&](int half, int fragment, int v) {
              return std::uint16_t(100 * (row + 8 * half) + fragment * 8 + lane % 4 * 2 + v);
            });
      });
      ASSERT_EQ(storage, expected) << "from element " << shift << ", " << columns << " columns";
    }
}

/// Numbers of four and of eight bytes on matrix units, whose sums can be gone through by pairs alone.
template <class Types, tiling::config Config>
struct in_warps : detail::simt::warp_mma_accumulator<Types, Config, emulated_gpu> {
  int thread;

  explicit in_warps(int t) : detail::simt::warp_mma_accumulator<Types, Config, emulated_gpu>(t), thread(t) {}
  template <class F>
  void for_each_sum(const F& f) {
    constexpr int columns = Config.warp.n / 8, across = Config.block.n / Config.warp.n;
    const int row = thread / 32 / across * Config.warp.m + thread % 32 / 4;
    const int col = thread / 32 % across * Config.warp.n + thread % 4 * 2;
    this->for_each_vector([&](int number, auto& two) {
      const int fragment = number / 2;
      for (int v = 0; v < 2; ++v)
        f(row + fragment / columns * 16 + number % 2 * 8, col + fragment % columns * 8 + v, two[v]);
    });
  }
};
template <class Types, tiling::shape Block, tiling::shape Warp>
void write_by_matrix_units() {
  constexpr tiling::config config{Block, Warp, {16, 8, 8}, 4, 4, tiling::math_unit::matrix, true};
  write_everywhere<Types, Block.m, Block.n, in_warps<Types, config>>(config.warps() * 32);
}
TEST(CWritingOfFloats, OfWarps) {
  write_by_matrix_units<types::tf32, tiling::shape{64, 64, 16}, tiling::shape{32, 32}>();
}
// Rows of 32, 16 and 8 columns; all of a warp's tile at once, and in parts where stages have no room.
TEST(CWritingOfDoubles, OfWarps) {
  write_by_matrix_units<types::f64, tiling::shape{128, 64, 8}, tiling::shape{64, 32}>();
  write_by_matrix_units<types::f64, tiling::shape{128, 64, 16}, tiling::shape{64, 32}>();
  write_by_matrix_units<types::f64, tiling::shape{64, 32, 16}, tiling::shape{32, 16}>();
  write_by_matrix_units<types::f64, tiling::shape{32, 32, 16}, tiling::shape{16, 16}>();
  write_by_matrix_units<types::f64, tiling::shape{64, 8, 16}, tiling::shape{16, 8}>();
}

/// The same on FMA units, by runs of 16 bytes or by single sums, as tiles that divide k have them.
template <class Types, tiling::config Config>
struct on_fma_units : detail::simt::fma_accumulator<Types, Config, emulated_gpu, false> {
  int thread;

  explicit on_fma_units(int t)
      : detail::simt::fma_accumulator<Types, Config, emulated_gpu, false>(t), thread(t) {}
  template <class F>
  void for_each_sum(const F& f) {
    constexpr int run = 16 / int(sizeof(typename Types::accumulator));
    constexpr int lanes_m = Config.warp.m / Config.fragment.m, lanes_n = Config.warp.n / Config.fragment.n,
                  across = Config.block.n / Config.warp.n;
    const int warp = thread / 32, lane = thread % 32, quad = lane / 4;
    const int row = warp / across * Config.warp.m + (quad / (lanes_n / 2) * 2 + lane / 2 % 2) * run;
    const int col = warp % across * Config.warp.n + (quad % (lanes_n / 2) * 2 + lane % 2) * run;
    this->for_each_vector([&](int number, auto& sums) {
      constexpr int length = int(std::extent_v<std::remove_reference_t<decltype(sums)>>);
      for (int v = 0; v < length; ++v) {
        const int i = (number * length + v) / Config.fragment.n,
                  j = (number * length + v) % Config.fragment.n;
        f(row + i / run * lanes_m * run + i % run, col + j / run * lanes_n * run + j % run, sums[v]);
      }
    });
  }
};
template <class Types, tiling::shape Block, tiling::shape Warp, tiling::shape Fragment, bool SplitsK = true>
void write_by_fma_units() {
  constexpr tiling::config config{Block, Warp, Fragment, 2, 2, tiling::math_unit::fma, SplitsK};
  write_everywhere<Types, Block.m, Block.n, on_fma_units<Types, config>>(config.warps() * 32);
}
TEST(CWritingOfFloats, OfFmaUnits) {
  using tiling::shape;
  write_by_fma_units<types::f32, shape{64, 64, 16}, shape{64, 32}, shape{8, 8, 1}>();
  write_by_fma_units<types::f32, shape{64, 16, 32}, shape{32, 16}, shape{4, 4, 1}>();
  write_by_fma_units<types::f32, shape{64, 8, 32}, shape{64, 8}, shape{4, 4, 1}>();
  write_by_fma_units<types::f16, shape{64, 64, 16}, shape{32, 32}, shape{8, 4, 1}>();
}
// Large tiles store sums one by one, a part of their rows at a time.
TEST(CWritingOfFloats, OfFmaUnitsInLargeTiles) {
  using tiling::shape;
  write_by_fma_units<types::f32, shape{128, 128, 16}, shape{64, 32}, shape{8, 8, 1}, true>();
  write_by_fma_units<types::f32, shape{128, 128, 16}, shape{64, 32}, shape{8, 8, 1}, false>();
}
TEST(CWritingOfIntegers, OfFmaUnits) {
  write_by_fma_units<types::i32, tiling::shape{64, 64, 16}, tiling::shape{32, 32}, tiling::shape{8, 4, 1}>();
}
TEST(CWritingOfDoubles, OfFmaUnits) {
  write_by_fma_units<types::f64, tiling::shape{64, 64, 8}, tiling::shape{32, 32}, tiling::shape{8, 4, 1}>();
}
TEST(CWritingOfComplexNumbers, OfFmaUnits) {
  write_by_fma_units<types::c32, tiling::shape{64, 32, 16}, tiling::shape{32, 16}, tiling::shape{4, 4, 1}>();
}

// Where threads load A themselves, each has two neighbouring rows.
TEST(CWritingOfFloats, OfWarpgroupsThatLoadA) {
  using accumulator = detail::simt::warpgroup_accumulator<types::tf32, 128, emulated_gpu, true>;
  write_everywhere<types::tf32, 64, 128, accumulator>(128);
}

}  // namespace
}  // namespace test
}  // namespace keramos

#endif
