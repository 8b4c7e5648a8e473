// Execution space instances, and what they may reach. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <keramos/core/error.hpp>
#include <keramos/core/memory_kind.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos::detail {

/// An instance that nobody else uses. Before Kokkos 4, which can make one, the default instance.
template <class Exec>
Exec own_instance() {
#if KOKKOS_VERSION >= 40000
  return Kokkos::Experimental::partition_space(Exec(), std::vector<int>{1}).front();
#else
  return Exec();
#endif
}

/// Throws if kernels of `Exec` cannot reach `data`.
template <class Exec, class T>
void check_reachable(const char* function, const T* data, std::size_t count) {
  if (count == 0) return;
  if (!data)
    throw invalid_argument(std::string(function) + ": the pointer is null but " + std::to_string(count) +
                           " elements are to be written; allocate it or pass a count of 0");
  if constexpr (!backend::traits<Exec>::is_host) {
    if (backend::stream<Exec>::kind_of(data) == memory_kind::unknown)
      throw memory_error(std::string(function) + ": the pointer leads to host memory that kernels on " +
                         backend::traits<Exec>::name +
                         " cannot reach; allocate it with malloc_device or malloc_shared");
  }
}

}  // namespace keramos::detail
