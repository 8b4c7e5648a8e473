// Collectives on CUDA: warp shuffles (CUDA C++ Programming Guide, "Warp Shuffle Functions") and static
// shared memory, which only kernels that use it get. All threads of a team take part.
#pragma once

#include <cstddef>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/collectives.hpp>
#include <keramos/backends/simt/words.hpp>

namespace keramos::backend {

namespace cuda {

struct lanes {
  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T shuffle(const Member&, const T& x, [[maybe_unused]] int lane) {
    return simt::by_words(x, [&](unsigned word) {
#if defined(__CUDA_ARCH__)
      return __shfl_sync(0xffffffffu, word, lane);
#else
      return word;
#endif
    });
  }
  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T shuffle_up(const Member&, const T& x, [[maybe_unused]] int by) {
    return simt::by_words(x, [&](unsigned word) {
#if defined(__CUDA_ARCH__)
      return __shfl_up_sync(0xffffffffu, word, by);
#else
      return word;
#endif
    });
  }
  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T shuffle_down(const Member&, const T& x, [[maybe_unused]] int by) {
    return simt::by_words(x, [&](unsigned word) {
#if defined(__CUDA_ARCH__)
      return __shfl_down_sync(0xffffffffu, word, by);
#else
      return word;
#endif
    });
  }

  template <std::size_t Bytes>
  KERAMOS_FORCEINLINE_FUNCTION static std::byte* scratch() {
#if defined(__CUDA_ARCH__)
    __shared__ alignas(16) std::byte memory[Bytes];
    return memory;
#else
    return nullptr;
#endif
  }
};

}  // namespace cuda

template <int Size, int Team>
struct collectives<Kokkos::Cuda, Size, Team> : simt::collectives<cuda::lanes, Size, Team> {};

}  // namespace keramos::backend
