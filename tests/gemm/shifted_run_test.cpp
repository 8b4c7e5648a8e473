// Operands whose rows begin anywhere, staged as GPUs do it, 16 bytes at a time or in words: thread by thread, on the host. What is
// read lies in memory of its own, so that an address sanitizer sees a step beyond it.
#include <Kokkos_Core.hpp>

// Compilers of devices would make kernels of what this calls.
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP) && !defined(KOKKOS_ENABLE_SYCL)

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/backends/simt/shifted_run.hpp>
#include <keramos/backends/simt/staging.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/keramos.hpp>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KERAMOS_TEST_POISONS
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define KERAMOS_TEST_POISONS
#endif
#ifdef KERAMOS_TEST_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace keramos::test {
namespace {

using tiling::direction;

/// Counts the words that it copies, which must be aligned as they are where they are copied asynchronously.
struct shifting_copier : backend::simt::plain_copier {
  template <class T>
  static constexpr bool shifts = sizeof(T) < 4;
  template <class T>
  using shifted = backend::simt::shifted_run<T>;
  using bounds = backend::simt::row_bounds;
  static constexpr bool copies_words = true;
  static inline int words = 0;

  template <int Count, class T>
  static void copy(T* local, const T* global, int valid) {
    for (const void* const x : {static_cast<const void*>(local), static_cast<const void*>(global)})
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x) % (Count * sizeof(T)), 0u);
    ++words;
    plain_copier::copy<Count>(local, global, valid);
  }
};

/// An operand of `mn` x `k` elements, none of them zero, `gap` unused ones behind each row, which begins `offset` bytes behind a
/// multiple of 16.
template <class T>
struct placed_operand {
  std::vector<T> memory;
  tiling::operand<T> x;

  placed_operand(index_t mn, index_t k, direction along, int offset, int gap) {
    const bool along_k = along == direction::k;
    const index_t rows = along_k ? mn : k, pitch = (along_k ? k : mn) + gap;
    const std::size_t before = std::size_t(offset) / sizeof(T), size = std::size_t(rows * pitch - gap);
    memory.resize(before + size);
    std::vector<unsigned char> bytes(memory.size() * sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = (unsigned char)(1 + i * 7 % 251);
    std::memcpy(memory.data(), bytes.data(), bytes.size());
    x = along_k ? tiling::operand<T>(memory.data() + before, pitch, 1)
                : tiling::operand<T>(memory.data() + before, 1, pitch);
#ifdef KERAMOS_TEST_POISONS  // in eights of bytes
    ASAN_POISON_MEMORY_REGION(memory.data(), std::size_t(offset) / 8 * 8);
#endif
  }
#ifdef KERAMOS_TEST_POISONS
  ~placed_operand() { ASAN_UNPOISON_MEMORY_REGION(memory.data(), memory.size() * sizeof(T)); }
#endif
  placed_operand(const placed_operand&) = delete;
};

/// Stages all k-tiles of all tiles of an operand and compares each panel with it.
template <class T, int MN, int K, direction Along>
void compare_panels(index_t mn, index_t k, int offset, int gap) {
  constexpr int threads = 64;
  using panel = detail::simt::panel<T, MN, K, Along>;
  using stager = detail::simt::operand_stager<panel, T, MN, K, threads, Along, Along, 1, shifting_copier>;
  const placed_operand<T> operand(mn, k, Along, offset, gap);
  alignas(16) static T local[panel::size];
  const index_t pitch = Along == direction::k ? operand.x.stride_mn : operand.x.stride_k;
  const bool all_in_words = (offset | int(pitch * index_t(sizeof(T)))) % 4 == 0;
  for (index_t begin = 0; begin < mn; begin += MN) {
    const index_t mn0 = mn >= MN ? std::min(begin, mn - MN) : begin;  // the last tile begins early
    const int extent = int(std::min<index_t>(MN, mn - mn0));
    std::vector<stager> team;
    for (int t = 0; t < threads; ++t) team.emplace_back(operand.x, mn0, 0, extent, k, mn, k, t);
    for (int tile = 0; tile * K < k; ++tile) {
      std::memset(static_cast<void*>(local), 0x55, sizeof(local));
      shifting_copier::words = 0;
      for (stager& one : team)
        if (extent == MN && (tile + 1) * K <= k)
          one.template stage<true>(local, tile);
        else
          one.template stage<false>(local, tile);
      if (Along == direction::k || mn0 % 4 == 0) {
        ASSERT_EQ(shifting_copier::words > 0, all_in_words) << pitch << ", begins at " << offset;
      }
      for (int i = 0; i < MN; ++i)
        for (int j = 0; j < K; ++j) {
          const index_t at_k = index_t(tile) * K + j;
          T expected{};
          if (i < extent && at_k < k) expected = *operand.x.at(mn0 + i, at_k);
          ASSERT_EQ(std::memcmp(&local[panel::offset(i, j)], &expected, sizeof(T)), 0)
              << sizeof(T) << " bytes, " << mn << 'x' << k
              << (Along == direction::k ? " along k" : " along m") << ", begins at " << offset << ", gap "
              << gap << ": element " << mn0 + i << ", " << at_k;
        }
    }
  }
}

template <class T, int K>
void compare_all() {
  for (int offset = 0; offset < 16; offset += int(sizeof(T)))
    for (const int gap : {0, 2, 3, 4, 5})
      for (const index_t mn : {1, 7, 64, 66, 75, 130, 132})
        for (const index_t k : {1, 15, K, K + 5, 3 * K + 1}) {
          compare_panels<T, 64, K, direction::k>(mn, k, offset, gap);
          compare_panels<T, 64, K, direction::mn>(mn, k, offset, gap);
        }
}

TEST(ShiftedRun, HalvesThatBeginAnywhere) { compare_all<float16, 32>(); }
TEST(ShiftedRun, BytesThatBeginAnywhere) { compare_all<integer8, 64>(); }

}  // namespace
}  // namespace keramos::test

#endif
