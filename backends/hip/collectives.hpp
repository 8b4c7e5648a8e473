// Collectives on HIP: shuffles over 32 lanes, which wavefronts of 64 and of 32 have alike, and static
// shared memory, which only kernels that use it get. Not yet run: no HIP device was at hand.
#pragma once

#include <cstddef>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/collectives.hpp>
#include <keramos/backends/simt/words.hpp>

namespace keramos::backend {

namespace hip {

struct lanes {
  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T shuffle(const Member&, const T& x, [[maybe_unused]] int lane) {
    return simt::by_words(x, [&](unsigned word) {
#if defined(__HIP_DEVICE_COMPILE__)
      return static_cast<unsigned>(__shfl(static_cast<int>(word), lane, 32));
#else
      return word;
#endif
    });
  }
  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T shuffle_up(const Member&, const T& x, [[maybe_unused]] int by) {
    return simt::by_words(x, [&](unsigned word) {
#if defined(__HIP_DEVICE_COMPILE__)
      return static_cast<unsigned>(__shfl_up(static_cast<int>(word), static_cast<unsigned>(by), 32));
#else
      return word;
#endif
    });
  }
  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T shuffle_down(const Member&, const T& x, [[maybe_unused]] int by) {
    return simt::by_words(x, [&](unsigned word) {
#if defined(__HIP_DEVICE_COMPILE__)
      return static_cast<unsigned>(__shfl_down(static_cast<int>(word), static_cast<unsigned>(by), 32));
#else
      return word;
#endif
    });
  }

  template <std::size_t Bytes>
  KERAMOS_FORCEINLINE_FUNCTION static std::byte* scratch() {
#if defined(__HIP_DEVICE_COMPILE__)
    alignas(16) __shared__ std::byte memory[Bytes];
    return memory;
#else
    return nullptr;
#endif
  }
};

}  // namespace hip

template <int Size, int Team>
struct collectives<Kokkos::HIP, Size, Team> : simt::collectives<hip::lanes, Size, Team> {};

}  // namespace keramos::backend
