// Asynchronous copies from global to shared memory, which need no registers and finish while earlier k-tiles
// are worked on (PTX ISA, "Data Movement and Conversion Instructions: cp.async").
#pragma once

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/shifted_run.hpp>
#include <keramos/backends/simt/staging.hpp>

namespace keramos::backend {

namespace cuda {

struct async_copier {
  /// Whether single elements go through registers: they are too short to be copied asynchronously.
  template <class T>
  static constexpr bool by_registers = sizeof(T) < 4;
  /// Whether rows of such elements that begin anywhere are copied 16 bytes at a time, as `shifted` runs; and whether those that
  /// begin at multiples of 4 or 8 bytes are copied asynchronously, in such words.
  template <class T>
  static constexpr bool shifts = sizeof(T) < 4;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  static constexpr bool copies_words = true;
#else
  static constexpr bool copies_words = false;
#endif
  template <class T>
  using shifted = simt::shifted_run<T>;
  using bounds = simt::row_bounds;
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
  /// Begins to bring the line of global memory that holds an element to the cache that all teams share.
  KERAMOS_FORCEINLINE_FUNCTION static void prefetch([[maybe_unused]] const void* global) {
#if defined(__CUDA_ARCH__)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(global));
#endif
  }
  /// x, from which the compiler must compute afresh what it would otherwise keep in registers.
  KERAMOS_FORCEINLINE_FUNCTION static int recompute(int x) {
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+r"(x));
#endif
    return x;
  }
  /// A thread's number in its team, which the compiler does not know, but that it is not negative: so quotients take one
  /// instruction. Teams are a loop to it, through which it would keep in registers all that follows from the number.
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION static int thread_of(const Team& team) {
    const int thread = recompute(int(team.team_rank()));
    if (thread < 0) __builtin_unreachable();
    return thread;
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
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION static void barrier(const Team& team) {
    team.team_barrier();
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
