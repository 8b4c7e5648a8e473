// Asynchronous copies from global to shared memory, which need no registers and finish while earlier k-tiles
// are worked on (PTX ISA, "Data Movement and Conversion Instructions: cp.async").
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/staging.hpp>

namespace keramos::backend {

namespace cuda {

/// What of a matrix may be read around the elements of a tile's row.
struct row_bounds {
  index_t length;  ///< elements of the row that are to be read, from the tile's first column on
  bool begins;     ///< whether the row begins at the tile's first column
  index_t stride;  ///< from element to element of a row
  /// Where all of the matrix lies, if its rows follow each other without gaps; else nothing is there.
  std::uintptr_t begin = ~std::uintptr_t(0), end = 0;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION void rows_follow(const T* first, const T* last) {
    begin = reinterpret_cast<std::uintptr_t>(first), end = reinterpret_cast<std::uintptr_t>(last);
  }
};

/// 16 bytes of short elements that begin anywhere in global memory, on their way to local memory. They lie in two runs of 16
/// bytes that can be loaded, whose words are shifted. Where elements of the matrix do not fill such a run, they are loaded one by
/// one.
template <class T>
class shifted_run {
  static constexpr int size = int(sizeof(T)), count = 16 / size;
  using bits = std::conditional_t<size == 1, std::uint8_t, std::uint16_t>;
  static_assert(sizeof(T) == sizeof(bits));
  struct alignas(16) run {
    unsigned word[4];
  };

  run low_{}, high_{};
  int shift_ = 0, there_ = 0;  // bytes

 public:
  /// Begins to load elements of a row from `column` of the tile on, of which the first is at `global`.
  KERAMOS_FORCEINLINE_FUNCTION void load(const T* global, index_t column, const row_bounds& bounds) {
    const auto address = reinterpret_cast<std::uintptr_t>(global);
    const int shift = int(address % 16);
    const std::uintptr_t low = address - shift;
    const index_t left = (bounds.length - column) * size;  // bytes, from global on
    there_ = left < 16 ? int(left) : 16;
    const bool two = shift + there_ > 16;
    const bool begins_inside = shift == 0 || !bounds.begins || column > 0 || low >= bounds.begin;
    const bool ends_inside = left + shift >= (two ? 32 : 16) || low + (two ? 32 : 16) <= bounds.end;
    if (begins_inside && ends_inside && bounds.stride == 1) {
      const auto* runs = reinterpret_cast<const run*>(low);
      shift_ = shift;
      low_ = runs[0];
      if (two) high_ = runs[1];
    } else {
      bits element[count];
      KERAMOS_UNROLL
      for (int i = 0; i < count; ++i)
        element[i] = i * size < there_ ? *reinterpret_cast<const bits*>(global + i * bounds.stride) : bits(0);
      KERAMOS_UNROLL
      for (int i = 0; i < count; ++i) low_.word[i * size / 4] |= unsigned(element[i]) << i * size % 4 * 8;
    }
  }
  /// Stores them, and zeros for what is not there.
  KERAMOS_FORCEINLINE_FUNCTION void store(T* local) const {
    const unsigned word[8] = {low_.word[0],  low_.word[1],  low_.word[2],  low_.word[3],
                              high_.word[0], high_.word[1], high_.word[2], high_.word[3]};
    unsigned by_two[6], by_one[5];
    KERAMOS_UNROLL
    for (int i = 0; i < 6; ++i) by_two[i] = (shift_ & 8) != 0 ? word[i + 2] : word[i];
    KERAMOS_UNROLL
    for (int i = 0; i < 5; ++i) by_one[i] = (shift_ & 4) != 0 ? by_two[i + 1] : by_two[i];
    run shifted;
    KERAMOS_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int bytes = there_ - 4 * i;
      const unsigned mask = bytes >= 4 ? ~0u : bytes > 0 ? (1u << 8 * bytes) - 1 : 0;
      shifted.word[i] = words_from(by_one[i], by_one[i + 1], shift_ % 4 * 8) & mask;
    }
    *reinterpret_cast<run*>(local) = shifted;
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static unsigned words_from(unsigned low, unsigned high, int bits) {
#if defined(__CUDA_ARCH__)
    return __funnelshift_r(low, high, bits);
#else
    return unsigned((std::uint64_t(high) << 32 | low) >> bits);
#endif
  }
};

struct async_copier {
  /// Whether single elements go through registers: they are too short to be copied asynchronously.
  template <class T>
  static constexpr bool by_registers = sizeof(T) < 4;
  /// Whether rows of such elements that begin anywhere are copied 16 bytes at a time, as `shifted` runs.
  template <class T>
  static constexpr bool shifts = sizeof(T) < 4;
  template <class T>
  using shifted = shifted_run<T>;
  using bounds = row_bounds;
  static constexpr int most_words_ahead = 0;  // asynchronous copies need none
  template <class T>
  static constexpr int most_groups_unrolled = simt::plain_copier::most_groups_unrolled<T>;

  template <int Count, class T>
  KERAMOS_FORCEINLINE_FUNCTION static void copy(T* local, const T* global) {
    copy<Count>(local, global, Count);  // a constant source size costs nothing
  }
  /// Copies `valid` of `Count` elements and fills the rest with zeros.
  template <int Count, class T>
  KERAMOS_FORCEINLINE_FUNCTION static void copy([[maybe_unused]] T* local, [[maybe_unused]] const T* global,
                                                [[maybe_unused]] int valid) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    constexpr int bytes = Count * int(sizeof(T));
    static_assert(bytes <= 4 || bytes == 8 || bytes == 16, "keramos: cp.async moves 4, 8 or 16 bytes");
    [[maybe_unused]] const auto to = static_cast<unsigned>(__cvta_generic_to_shared(local));
    [[maybe_unused]] const int from = valid * int(sizeof(T));
    if constexpr (bytes < 4)
      simt::plain_copier::copy<Count>(local, global, valid);
    else if constexpr (bytes == 16)  // past the first-level cache, which knows only whole lines for these
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(from));
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(bytes),
                   "r"(from));
#else
    simt::plain_copier::copy<Count>(local, global, valid);
#endif
  }
  /// x, from which the compiler must compute afresh what it would otherwise keep in registers.
  KERAMOS_FORCEINLINE_FUNCTION static int recompute(int x) {
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+r"(x));
#endif
    return x;
  }
  /// p + bytes as one addition. Left to itself the compiler turns a walk over rows into multiples of the
  /// stride and computes them again for every k-tile; each instruction there takes an issue slot from an FMA.
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION static const T* advance(const T* p, index_t bytes) {
#if defined(__CUDA_ARCH__)
    asm volatile("add.s64 %0, %0, %1;" : "+l"(p) : "l"(bytes));
    return p;
#else
    return simt::plain_copier::advance(p, bytes);
#endif
  }
  /// Closes a group of copies.
  KERAMOS_FORCEINLINE_FUNCTION static void commit() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
  }
  /// Waits until at most `Pending` groups of this thread are under way.
  template <int Pending>
  KERAMOS_FORCEINLINE_FUNCTION static void wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending));
#endif
  }
};

}  // namespace cuda

template <>
struct staging<Kokkos::Cuda> : cuda::async_copier {};

}  // namespace keramos::backend
