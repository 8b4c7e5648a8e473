// Bytes that one call of each step moves, counted by the hardware, and what its kernels need: keramos-perf runs itself once more for that,
// on NVIDIA GPUs under Nsight Compute's ncu, with --count-once (count_once.cpp).
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "measure/core/problem.hpp"
#include "measure/device/counters.hpp"

namespace keramos::perf {

// A kernel that a call launched, as ncu tells; `none` where it does not.
struct counted_launch {
  double teams, threads;  // threads: of a team
  double registers;       // of a thread
  double scratch_bytes;   // of a team, Kokkos' own share included
};

struct byte_counts {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();  // not counted
  double dram_read = none;               // from device memory; hosts: cache misses x 64
  double dram_write = none;              // to it
  double l2 = none;                      // between the multiprocessors and the L2 cache
  std::vector<counted_launch> launches;  // NVIDIA GPUs
};

struct counted_bytes {
  std::string by;                         // what was counted, in the counters' own names
  std::string problem;                    // why nothing is counted, if so
  std::map<std::string, byte_counts> of;  // the calls, under counted_call's names
};

// Runs `arguments`, the words of this program's command, once more and collects what is counted.
counted_bytes count_bytes(byte_counting who, const std::vector<std::string>& arguments);

// The run that is counted prints a line after each call.
std::string counted_call(const std::string& provider, const gemm_case& g);
std::string counted_line(const std::string& call, double dram_read);

// All that it and ncu have printed. ncu's rows (--csv --page raw) are kernels in the order of their launch; a call's
// are those from its mark to the next.
counted_bytes counted_bytes_from(const std::string& output, byte_counting who);

}  // namespace keramos::perf
