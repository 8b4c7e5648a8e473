// What AMD's GPUs are counted in, by teams and by HIP. No Kokkos here: tests of hosts read it.
#pragma once

#include <cstddef>

namespace keramos::backend::hip {

/// What hipDeviceProp_t::multiProcessorCount counts, and a row of the tile table fills: four SIMD units and their local memory.
/// Of CDNA that is a compute unit. Of RDNA it is a work-group processor, which has two: hipcc compiles for that unless it is
/// told -mcumode (LLVM, "User Guide for AMDGPU Backend", cumode), a team runs on all four SIMD units then, and HIP counts
/// work-group processors (https://github.com/ROCm/hip/issues/3767: 48 of an RX 7900 XTX, which has 96 compute units).
struct multiprocessor {
  int lanes;               ///< of a wavefront
  int most_waves;          ///< of a SIMD unit
  std::size_t bytes;       ///< of local memory
  std::size_t team_bytes;  ///< that a team can have of it
  static constexpr int simds = 4;

  /// Wavefronts of a SIMD unit for so many teams, or for those that local memory holds: more would only cost registers.
  /// `bytes_of_team` is what the team asks for; Kokkos keeps a number of each thread, and 256 bytes, besides.
  constexpr int waves(int teams, int team_size, std::size_t bytes_of_team) const {
    const int fit = int(bytes / (bytes_of_team + 256 + 8 * std::size_t(team_size)));
    const int all = (teams < fit ? teams : fit) * ((team_size + lanes - 1) / lanes) / simds;
    return all < 1 ? 1 : all < most_waves ? all : most_waves;
  }
};

// AMD CDNA 2 and CDNA 3 white papers: 64 KB; AMD CDNA 4 white paper: 160 KB. RDNA 3 ISA, "Local Data Share": 128 KB of a work-group
// processor, of which a work-group has up to 64 KB; wavefronts of 32, up to 16 a SIMD unit.
inline constexpr multiprocessor cdna{64, 8, 64 * 1024, 64 * 1024}, cdna4{64, 8, 160 * 1024, 160 * 1024},
    rdna{32, 16, 128 * 1024, 64 * 1024};

}  // namespace keramos::backend::hip
