// Warpgroups of compute capability 9.0: tensor cores that read both operands from shared memory while the threads go on,
// and barriers in shared memory that hand k-tiles from copying to multiplying warps (PTX ISA, "Asynchronous Warpgroup
// Level Matrix Instructions" and "mbarrier").
//
// This is code for one architecture and no later one: a source that launches such kernels is compiled for sm_90a, apart
// from the rest (src/gemm/gemm_warpgroup_type.cpp.in). Elsewhere these functions do nothing.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/backends/cuda/traits.hpp>
#include <keramos/backends/cuda/wgmma.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/memory.hpp>
#include <keramos/base/float16.hpp>
#include <keramos/base/macros.hpp>

namespace keramos::backend {

template <>
struct warpgroups<Kokkos::Cuda> : cuda::wgmma {
  static constexpr int warps = 4;          ///< of a warpgroup
  static constexpr int registers = 65536;  ///< of a multiprocessor
  /// Registers of a thread (ptxas of CUDA 13.0): those that copy do with so many; those that multiply need so many beside
  /// their sums, else ptxas spilled where C of two bytes is written.
  static constexpr int registers_to_copy = 40, registers_beside_sums = 112;
  /// Which elements the units read along m and n too, and of which a thread can load A, and give it to them in registers.
  template <class E>
  static constexpr bool reads_along_mn = std::is_same_v<E, float16> || std::is_same_v<E, bfloat16>;
  template <class E>
  static constexpr bool takes_loaded_a = std::is_same_v<E, float>;
  /// Bytes that columns of such an A begin at multiples of, the sectors of memory: if at others, boxes take longer to copy. An
  /// H100 with n = 4100 (tf32, NN) does 228 TFLOP/s, and 250 with A copied beforehand to run along k.
  static constexpr int loaded_a_pitch = simt::sector_bytes;

  // --- Barriers: a phase ends when as many have arrived as were announced. ---

  using barrier = std::uint64_t;

  KERAMOS_FORCEINLINE_FUNCTION static void start([[maybe_unused]] barrier* b, [[maybe_unused]] int arrivals) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(b)), "r"(arrivals) : "memory");
#endif
  }
  KERAMOS_FORCEINLINE_FUNCTION static void arrive([[maybe_unused]] barrier* b) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(b)) : "memory");
#endif
  }
  /// Waits for the end of a phase of this parity: 0 for the first, 1 for the second, and so on. Of a new barrier the phase
  /// before the first, of parity 1, is over.
  KERAMOS_FORCEINLINE_FUNCTION static void wait([[maybe_unused]] barrier* b, [[maybe_unused]] int parity) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile(
        "{\n.reg .pred over;\nagain_%=:\nmbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
        "@over bra done_%=;\nbra again_%=;\ndone_%=:\n}" ::"r"(shared(b)),
        "r"(parity)
        : "memory");
#endif
  }
  /// Arrives, and makes the phase wait until `bytes` that are copied have come as well.
  KERAMOS_FORCEINLINE_FUNCTION static void expect([[maybe_unused]] barrier* b, [[maybe_unused]] int bytes) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(b)), "r"(bytes)
                 : "memory");
#endif
  }
  /// Begins to copy neighbouring bytes to shared memory, where tensor cores may read them in the phase that waits for them.
  /// One thread does it. Addresses and bytes are multiples of 16 (PTX ISA, "cp.async.bulk").
  KERAMOS_FORCEINLINE_FUNCTION static void copy([[maybe_unused]] void* local,
                                                [[maybe_unused]] const void* global,
                                                [[maybe_unused]] int bytes, [[maybe_unused]] barrier* b) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared(local)),
        "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared(b))
        : "memory");
#endif
  }

  // --- Boxes: parts of a matrix that one thread has copied, swizzled, zeros where the matrix ends. ---

  /// Matrices in global memory, each `bytes` behind the one before: rows begin at multiples of 16 bytes.
  struct matrix {
    const void* data;
    std::uint32_t columns, rows;
    std::uint64_t row_bytes;
    std::uint32_t count = 1;
    std::uint64_t bytes = 16;
  };
  /// What the copying unit knows of matrices and their boxes (PTX ISA, "Tensor-map").
  static constexpr int map_bytes = 128;

  /// Makes a map of elements E in shared memory, where there are zeros. By one thread. A box's row is 128 bytes. Of floats it
  /// copies what they are rounded to, in tf32. With `Several` boxes are of one of several matrices.
  template <class E, bool Several>
  KERAMOS_FORCEINLINE_FUNCTION static void make_map([[maybe_unused]] void* local,
                                                    [[maybe_unused]] const matrix& x,
                                                    [[maybe_unused]] int box_rows) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    const unsigned map = shared(local);
    constexpr bool counts_16_bytes = __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1205;
    const std::uint64_t row_bytes = counts_16_bytes ? x.row_bytes / 16 : x.row_bytes;
    [[maybe_unused]] const std::uint64_t matrix_bytes = counts_16_bytes ? x.bytes / 16 : x.bytes;
#define KERAMOS_SET(Field, Bits, Number, Constraint, Value)                                                  \
  asm volatile("tensormap.replace.tile." Field ".shared::cta.b1024." Bits " [%0], " Number "%1;" ::"r"(map), \
               Constraint(Value)                                                                             \
               : "memory")
    KERAMOS_SET("global_address", "b64", "", "l", __cvta_generic_to_global(x.data));
    KERAMOS_SET("rank", "b32", "", "r", Several ? 2 : 1);  // one less than there are dimensions
    KERAMOS_SET("box_dim", "b32", "0, ", "r", int(128 / sizeof(E)));
    KERAMOS_SET("box_dim", "b32", "1, ", "r", box_rows);
    KERAMOS_SET("global_dim", "b32", "0, ", "r", x.columns);
    KERAMOS_SET("global_dim", "b32", "1, ", "r", x.rows);
    KERAMOS_SET("global_stride", "b64", "0, ", "l", row_bytes);
    KERAMOS_SET("element_stride", "b32", "0, ", "r", 1);
    KERAMOS_SET("element_stride", "b32", "1, ", "r", 1);
    if constexpr (Several) {
      KERAMOS_SET("box_dim", "b32", "2, ", "r", 1);
      KERAMOS_SET("global_dim", "b32", "2, ", "r", x.count);
      KERAMOS_SET("global_stride", "b64", "1, ", "l", matrix_bytes);
      KERAMOS_SET("element_stride", "b32", "2, ", "r", 1);
    }
    constexpr int u8 = 0, u16 = 1, tf32 = 11;
    KERAMOS_SET("elemtype", "b32", "", "n", sizeof(E) == 1 ? u8 : sizeof(E) == 2 ? u16 : tf32);
    KERAMOS_SET("interleave_layout", "b32", "", "n", 0);  // none
    KERAMOS_SET("swizzle_mode", "b32", "", "n", 3);       // of 128 bytes
    KERAMOS_SET("fill_mode", "b32", "", "n", 0);          // zeros outside
#undef KERAMOS_SET
#endif
  }
  /// Copies a map to global memory, from where it can be used. By all lanes of a warp, whose boxes it describes from then on.
  KERAMOS_FORCEINLINE_FUNCTION static void store_map([[maybe_unused]] void* global,
                                                     [[maybe_unused]] const void* local) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    const auto to = __cvta_generic_to_global(global);
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], "
        "128;" ::"l"(to),
        "r"(shared(local))
        : "memory");
#endif
    acquire_map(global);
  }
  /// Before a thread uses a map that others have stored.
  KERAMOS_FORCEINLINE_FUNCTION static void acquire_map([[maybe_unused]] const void* global) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile(
        "fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(__cvta_generic_to_global(global))
        : "memory");
#endif
  }
  /// As copy, but the box of a map that begins at a row and column of the matrix, or before or behind it.
  KERAMOS_FORCEINLINE_FUNCTION static void copy_box([[maybe_unused]] void* local,
                                                    [[maybe_unused]] const void* map,
                                                    [[maybe_unused]] int column, [[maybe_unused]] int row,
                                                    [[maybe_unused]] barrier* b) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared(local)),
        "l"(map), "r"(column), "r"(row), "r"(shared(b))
        : "memory");
#endif
  }
  /// The same of a matrix of several, as its map says.
  KERAMOS_FORCEINLINE_FUNCTION static void copy_box([[maybe_unused]] void* local,
                                                    [[maybe_unused]] const void* map,
                                                    [[maybe_unused]] int column, [[maybe_unused]] int row,
                                                    [[maybe_unused]] int number,
                                                    [[maybe_unused]] barrier* b) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared(local)),
        "l"(map), "r"(column), "r"(row), "r"(number), "r"(shared(b))
        : "memory");
#endif
  }
  KERAMOS_FORCEINLINE_FUNCTION static void meet_warp() {
#if defined(KERAMOS_HAS_WARPGROUPS)
    __syncwarp();
#endif
  }
  /// Makes what this thread has stored in shared memory visible to tensor cores.
  KERAMOS_FORCEINLINE_FUNCTION static void show_to_matrix_units() {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  }
  /// All threads of a warpgroup have `Count` registers from here on: more, which another warpgroup gives, or fewer.
  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void take_registers() {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
#endif
  }
  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void give_registers() {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
#endif
  }
  /// Ends the thread, which the compiler must see to count on the registers that it has.
  KERAMOS_FORCEINLINE_FUNCTION static void exit() {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("exit;");
#endif
  }
  /// Barriers of a part of a team, `threads` in all, whole warps: numbers from 1 on, for 0 is the team's.
  KERAMOS_FORCEINLINE_FUNCTION static void meet([[maybe_unused]] int number, [[maybe_unused]] int threads) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
#endif
  }
  /// The same without waiting for the others.
  KERAMOS_FORCEINLINE_FUNCTION static void arrive_at([[maybe_unused]] int number,
                                                     [[maybe_unused]] int threads) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
#endif
  }
  /// An address in shared memory, which stays in a register: else the compiler computes it again before each k-tile.
  KERAMOS_FORCEINLINE_FUNCTION static char* kept(char* local) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    unsigned address = shared(local);
    asm volatile("" : "+r"(address));
    return static_cast<char*>(__cvta_shared_to_generic(address));
#else
    return local;
#endif
  }

  // --- Products: those of wgmma.hpp, in groups ---

  /// Where a panel begins, as the units want to be told: its lines of 128 bytes are swizzled (collective/warpgroup.hpp), so
  /// that all repeats after 1,024 bytes; along m or n a panel is columns of lines, `column_bytes` each.
  KERAMOS_FORCEINLINE_FUNCTION static std::uint64_t describe([[maybe_unused]] const void* panel,
                                                             [[maybe_unused]] int column_bytes) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    constexpr std::uint64_t swizzle_of_128_bytes = std::uint64_t(1) << 62, repeat = std::uint64_t(1024 / 16)
                                                                                    << 32;
    return swizzle_of_128_bytes | repeat | std::uint64_t(column_bytes / 16) << 16 | shared(panel) / 16;
#else
    return 0;
#endif
  }
  /// The same, `bytes` on.
  KERAMOS_FORCEINLINE_FUNCTION static std::uint64_t advance(std::uint64_t description, int bytes) {
    return description + std::uint64_t(bytes / 16);
  }

  /// Before the first product of a group.
  KERAMOS_FORCEINLINE_FUNCTION static void begin() {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
  }
  /// Closes a group of products.
  KERAMOS_FORCEINLINE_FUNCTION static void commit() {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
  }
  /// Waits until at most `Pending` groups are under way.
  template <int Pending>
  KERAMOS_FORCEINLINE_FUNCTION static void finish() {
#if defined(KERAMOS_HAS_WARPGROUPS)
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
#endif
  }
  /// What the units have written: nothing that reads it may be moved before this.
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION static void settle([[maybe_unused]] T& x) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    if constexpr (std::is_same_v<T, float>)
      asm volatile("" : "+f"(x)::"memory");
    else
      asm volatile("" : "+r"(x)::"memory");
#endif
  }
  /// x, which is the same in all lanes, in a register of the warp.
  KERAMOS_FORCEINLINE_FUNCTION static int same_in_warp(int x) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    return __shfl_sync(~0u, x, 0);
#else
    return x;
#endif
  }

 private:
#if defined(KERAMOS_HAS_WARPGROUPS)
  KERAMOS_FORCEINLINE_FUNCTION static unsigned shared(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
  }
#endif
};

}  // namespace keramos::backend
