// Collectives on SYCL: lanes exchange through local memory that only kernels which use it get, because the
// hardware's sub-groups have 8, 16 or 32 lanes as the compiler chooses and Keramos' have 32 everywhere
// (extension sycl_ext_oneapi_local_memory). Not yet run: no SYCL compiler was at hand.
#pragma once

#include <cstddef>

#include <sycl/sycl.hpp>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/collectives.hpp>
#include <keramos/backends/sycl/traits.hpp>

namespace keramos::backend {

namespace sycl_backend {

struct lanes {
  template <class Member, class T>
  KERAMOS_FORCEINLINE_FUNCTION static T shuffle(const Member& member, const T& x, int lane) {
    static_assert(alignof(T) <= 16, "keramos: group algorithms take types aligned to 16 bytes at most");
    T* all = reinterpret_cast<T*>(scratch<1024 * sizeof(T)>());
    const int rank = int(member.team_rank());
    all[rank] = x;
    member.team_barrier();
    const T out = all[rank / 32 * 32 + lane];
    member.team_barrier();
    return out;
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
    const auto group = ::sycl::ext::oneapi::this_work_item::get_work_group<2>();
    auto memory = ::sycl::ext::oneapi::group_local_memory_for_overwrite<block>(group);
    return memory->bytes;
  }
};

}  // namespace sycl_backend

template <int Size, int Team>
struct collectives<sycl_space, Size, Team> : simt::collectives<sycl_backend::lanes, Size, Team> {};

}  // namespace keramos::backend
