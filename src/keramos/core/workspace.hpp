// Memory that a queue keeps for its kernels, such as packed operands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <keramos/core/instance.hpp>
#include <keramos/core/upload.hpp>

namespace keramos::detail {

/// Grows to the largest request so far and is used by one kernel after another, in the queue's order. Once it
/// is large enough nothing is allocated and nothing waits, so that a stream capture may use it then.
template <class Exec>
class workspace {
  using memory_space = typename Exec::memory_space;
  template <class T>
  using memory = Kokkos::View<T*, memory_space>;
  static constexpr std::size_t alignment = 128;

 public:
  /// At least `count` elements of T; what was in it before is gone.
  template <class T>
  T* reserve(const Exec& exec, std::size_t count) {
    const std::size_t bytes = count * sizeof(T) + alignment;
    if (bytes_.extent(0) < bytes) {
      const std::size_t size = retire(exec, bytes_, old_bytes_, bytes);
      bytes_ = memory<std::byte>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "keramos::workspace"), size);
    }
    const auto start = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return reinterpret_cast<T*>((start + alignment - 1) / alignment * alignment);
  }

  /// At least `count` counters, all zero: kernels leave them as they found them.
  int* counters(const Exec& exec, std::size_t count) {
    if (counters_.extent(0) < count) {
      const std::size_t size = retire(exec, counters_, old_counters_, count);
      counters_ = memory<int>("keramos::counters", size);
    }
    return counters_.data();
  }

  /// What kernels read of the host's memory.
  upload_buffer<Exec> uploads;

 private:
  /// Gives up `now` and says how large its successor shall be. On a device it is kept, for kernels under way
  /// and captured graphs; growing at least twofold, all that is kept is no larger than what is in use.
  template <class T>
  static std::size_t retire(const Exec& exec, memory<T>& now, std::vector<memory<T>>& old, std::size_t size) {
    if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory_space>::accessible) {
      fence(exec);  // the kernels that use it
      now = memory<T>();
      return size;
    } else {
      if (now.extent(0) > 0) old.push_back(now);
      return std::max(size, 2 * now.extent(0));
    }
  }

  memory<std::byte> bytes_;
  memory<int> counters_;
  std::vector<memory<std::byte>> old_bytes_;
  std::vector<memory<int>> old_counters_;
};

}  // namespace keramos::detail
