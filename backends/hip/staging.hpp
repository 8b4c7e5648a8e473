// Kokkos::HIP: copies through registers, in which they are held while matrix units work, and copies that pass no registers, for
// wavefronts that take turns.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/backends/hip/units.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/staging.hpp>

namespace keramos::backend {

template <>
struct staging<Kokkos::HIP> : simt::plain_copier {
  /// So many take large tiles of 16-byte copies, or of single elements of four bytes or more.
  static constexpr int most_words_ahead = 8;

  /// k-tiles pass through local memory alone, so it is for that. Kokkos' barrier has a branch, behind which compilers move
  /// products, and waits for all other memory as well; on RDNA it empties a cache too.
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION static void barrier([[maybe_unused]] const Team& team) {
#if defined(__HIP_DEVICE_COMPILE__) && __clang_major__ >= 19  // whose fences can be for local memory alone
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
#else
    team.team_barrier();
#endif
  }

  /// Bytes have loops for four kinds each, and would spill.
  template <class T>
  static constexpr int most_groups_unrolled = sizeof(T) == 1 ? 1 : 2;

  /// Bytes in registers. LLVM 21 keeps copies of other types in scratch memory.
  template <int Bytes>
  using vector = std::conditional_t<
      Bytes == 1, std::uint8_t,
      std::conditional_t<Bytes == 2, std::uint16_t,
                         std::uint32_t __attribute__((ext_vector_type(Bytes < 4 ? 1 : Bytes / 4)))>>;

  template <int Count, class T>
  KERAMOS_FORCEINLINE_FUNCTION static auto load(const T* global) {
    vector<Count* int(sizeof(T))> v;
    __builtin_memcpy(&v, __builtin_assume_aligned(global, sizeof(v)), sizeof(v));
    return v;
  }
  /// No product is moved from behind it to before it, nor loads the other way: LLVM would load as late as it can.
  KERAMOS_FORCEINLINE_FUNCTION static void end_of_loads() {
#if defined(__HIP_DEVICE_COMPILE__)
    __builtin_amdgcn_sched_barrier(0);
#endif
  }
  template <int Count, class T>
  KERAMOS_FORCEINLINE_FUNCTION static void store(T* local, const vector<Count* int(sizeof(T))>& v) {
    __builtin_memcpy(__builtin_assume_aligned(local, sizeof(v)), &v, sizeof(v));
  }

  /// What a lane copies at a time from global to local memory without registers.
  static constexpr int direct_bytes = hip::direct_bytes;

  /// Begins to copy `direct_bytes` for each lane of a wavefront, from `offset` bytes behind `global`, to neighbouring places from
  /// `local` on; `local` and `global` are the same for all lanes. The compiler does not know of it, and so does not wait for it
  /// before each read of local memory.
  KERAMOS_FORCEINLINE_FUNCTION static void copy_direct([[maybe_unused]] char* local,
                                                       [[maybe_unused]] const char* global,
                                                       [[maybe_unused]] std::uint32_t offset) {
#if defined(__HIP_DEVICE_COMPILE__)
    // The low half of a generic address of local memory is that in local memory (LLVM, "User Guide for AMDGPU Backend").
    const int to = __builtin_amdgcn_readfirstlane(int(reinterpret_cast<std::uintptr_t>(local)));
    const auto from = reinterpret_cast<std::uintptr_t>(global);
    const std::uint64_t base = std::uint64_t(std::uint32_t(__builtin_amdgcn_readfirstlane(int(from >> 32))))
                                   << 32 |
                               std::uint32_t(__builtin_amdgcn_readfirstlane(int(from)));
    // Between a write of m0 and its use there is to be one instruction.
    if constexpr (direct_bytes == 16)
      asm volatile("s_nop 0\n\tglobal_load_lds_dwordx4 %1, %2" ::"{m0}"(to), "v"(offset), "s"(base)
                   : "memory");
    else if constexpr (direct_bytes == 4)
      asm volatile("s_nop 0\n\tglobal_load_lds_dword %1, %2" ::"{m0}"(to), "v"(offset), "s"(base) : "memory");
#endif
  }
  /// Until all are there but the `Left` that were begun last.
  template <int Left>
  KERAMOS_FORCEINLINE_FUNCTION static void wait_for_direct_copies() {
#if defined(__HIP_DEVICE_COMPILE__)
    static_assert(Left < 64, "keramos: a wavefront counts so many");
    asm volatile("s_waitcnt vmcnt(%0)" ::"n"(Left) : "memory");
#endif
  }

  using simt::plain_copier::copy;
  /// Of 16 bytes, to which both sides are aligned, all are loaded if one of them is asked for: no page ends in between.
  template <int Count, class T>
  KERAMOS_FORCEINLINE_FUNCTION static void copy(T* local, const T* global, int valid) {
    if constexpr (Count * sizeof(T) == 16) {
      vector<16> v = 0;
      if (valid > 0) v = load<Count>(global);
      KERAMOS_UNROLL
      for (int w = 0; w < 4; ++w) {
        const int bytes = valid * int(sizeof(T)) - 4 * w;
        v[w] &= bytes >= 4 ? 0xffffffffu : bytes > 0 ? (1u << 8 * bytes) - 1 : 0;
      }
      store<Count>(local, v);
    } else {
      simt::plain_copier::copy<Count>(local, global, valid);
    }
  }
};

}  // namespace keramos::backend
