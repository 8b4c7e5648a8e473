// What is known of processors beside the instructions that they have.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace keramos::backend::host {

/// Whether bfloat16s are multiplied faster as floats than in pairs by AVX512-BF16: so on Intel's processors. On Emerald
/// Rapids 16 threads reached 816 GFLOP/s with pairs at n = 3000, and of f16, which is widened, 1392. (AMX is faster still.)
inline bool bf16_pairs_are_slow() {
#if defined(__x86_64__)
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

/// Whether there are the tile registers of AMX, with products of bfloat16s and of integers of eight bits, and the system lets
/// this process have them: Linux wants to be asked first, and then gives every thread room for them when it first uses them. It
/// says no if a thread has an alternate signal stack that is too small for them
/// (https://docs.kernel.org/arch/x86/xstate.html).
inline bool has_amx() {
#if defined(__x86_64__) && defined(__linux__)
  static const bool granted = [] {
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    constexpr unsigned bf16 = 1u << 22, tile = 1u << 24, int8 = 1u << 25, all = bf16 | tile | int8;
    constexpr int request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return (d & all) == all && syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  }();
  return granted;
#else
  return false;
#endif
}

/// Whether there is Arm's product of four bytes in one instruction.
inline bool has_dot_product() {
#if defined(__aarch64__) && defined(__linux__)
  return getauxval(AT_HWCAP) & 1ul << 20;  // HWCAP_ASIMDDP
#else
  return false;
#endif
}

/// Bytes of a vector of Arm's SVE on this thread, or 0: Linux may have cut them below what the processor has
/// (https://docs.kernel.org/arch/arm64/sve.html).
inline int sve_bytes() {
#if defined(__aarch64__) && defined(__linux__)
  const int length = prctl(PR_SVE_GET_VL);  // with flags above it, or negative where there is no SVE
  return length < 0 ? 0 : length & PR_SVE_VL_LEN_MASK;
#else
  return 0;
#endif
}

}  // namespace keramos::backend::host
