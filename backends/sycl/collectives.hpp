// Collectives on SYCL: lanes exchange through local memory, because the hardware's sub-groups have 8, 16 or 32 lanes as the
// compiler chooses and Keramos' have 32 everywhere. Only kernels that use it get it, and only once: work_group_static
// (sycl_ext_oneapi_work_group_static, DPC++ 2025.0) is one object a kernel, where group_local_memory was one for each call
// that the compiler inlines. Run on a processor (tests/sycl), on no GPU.
#pragma once

#include <cstddef>

#include <sycl/sycl.hpp>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/collectives.hpp>
#include <keramos/backends/simt/words.hpp>
#include <keramos/backends/sycl/traits.hpp>

#if !defined(SYCL_EXT_ONEAPI_WORK_GROUP_STATIC)
#error "keramos: the SYCL backend needs DPC++ 2025.0 or newer, for sycl_ext_oneapi_work_group_static"
#endif

namespace keramos::backend {

namespace sycl_backend {

template <class T>
using local = ::sycl::ext::oneapi::experimental::work_group_static<T>;

/// Of a team of `Team` threads.
template <int Team>
struct lanes {
  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T shuffle(const Member& member, const T& x, int lane) {
    unsigned* const all = exchanged();
    const int rank = int(member.team_rank());
    return simt::by_words(x, [&](unsigned word) {
      all[rank] = word;
      member.team_barrier();
      const unsigned out = all[rank / 32 * 32 + lane];
      member.team_barrier();
      return out;
    });
  }
  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T shuffle_up(const Member& member, const T& x, int by) {
    const int lane = int(member.team_rank()) % 32;
    return shuffle(member, x, lane >= by ? lane - by : lane);
  }
  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T shuffle_down(const Member& member, const T& x, int by) {
    const int lane = int(member.team_rank()) % 32;
    return shuffle(member, x, lane + by < 32 ? lane + by : lane);
  }

  template <std::size_t Bytes>
  KERAMOS_FORCEINLINE_FUNCTION static std::byte* scratch() {
    struct alignas(16) block {
      std::byte bytes[Bytes];
    };
    local<block> memory;
    return (&memory)->bytes;
  }

 private:
  /// A word of each thread: other memory than scratch().
  KERAMOS_FORCEINLINE_FUNCTION static unsigned* exchanged() {
    struct words {
      unsigned of_thread[Team];
    };
    local<words> memory;
    return (&memory)->of_thread;
  }
};

}  // namespace sycl_backend

template <int Size, int Team>
struct collectives<sycl_space, Size, Team> : simt::collectives<sycl_backend::lanes<Team>, Size, Team> {};

}  // namespace keramos::backend
