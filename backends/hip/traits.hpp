// Kokkos::HIP. Wavefronts are 64 on CDNA; on RDNA a team of that size is two of 32, which is correct too.
#pragma once

#include <cstddef>
#include <cstdint>

#include <keramos/backends/hip/units.hpp>
#include <keramos/backends/simt/traits.hpp>

namespace keramos::backend {

template <>
struct traits<Kokkos::HIP> : simt::traits<Kokkos::HIP, 64> {
  static constexpr const char* name = "hip";

  /// hipLaunchKernel refuses more.
  static constexpr std::int64_t most_threads = (std::int64_t(1) << 32) - 1;

  static constexpr bool several_dies = hip::units == hip::matrix_units::cdna3;

  /// The compiler takes it for wavefronts a SIMD unit.
  static constexpr int teams_per_unit(int wanted, int team_size, std::size_t bytes) {
    return hip::unit.waves(wanted, team_size, bytes);
  }

  /// Bytes are taken apart in registers, of which there are too few for three teams: on gfx942 up to 85 were spilled.
  template <class T>
  static constexpr int vector_teams_per_unit = sizeof(T) == 1 ? 2 : 3;

  // LLVM's barrier does not wait until the stores of the wavefronts that meet there are done, and a fence behind it
  // waits for those of its own only: so in gfx90a's code of LLVM 21, and so, of other architectures,
  // https://github.com/llvm/llvm-project/pull/161638.
  static constexpr bool fence_covers_team = false;
};

}  // namespace keramos::backend
