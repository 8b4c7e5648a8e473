// What is known of processors beside the instructions that they have.
#pragma once

namespace keramos::backend::host {

/// Whether bfloat16s are multiplied faster as floats than in pairs by AVX512-BF16: so on Intel's processors. On Emerald
/// Rapids 16 threads reach 816 GFLOP/s with pairs at n = 3000, and of f16, which is widened, 1392
/// (perf/baselines/emerald-rapids-16-threads-halves.json).
inline bool bf16_pairs_are_slow() {
#if defined(__x86_64__)
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

}  // namespace keramos::backend::host
