// Memory that a queue keeps for its kernels, such as packed operands.
#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <keramos/core/upload.hpp>

namespace keramos::detail {

/// Grows to the largest request so far and is used by one kernel after another, in the queue's order.
template <class Exec>
class workspace {
  using memory = Kokkos::View<std::byte*, typename Exec::memory_space>;
  static constexpr std::size_t alignment = 128;

 public:
  /// At least `count` elements of T; what was in it before is gone.
  template <class T>
  T* reserve(const Exec& exec, std::size_t count) {
    const std::size_t bytes = count * sizeof(T) + alignment;
    if (memory_.extent(0) < bytes) {
      exec.fence();  // the kernels that use the old memory
      memory_ = memory();
      memory_ = memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, "keramos::workspace"), bytes);
    }
    const auto start = reinterpret_cast<std::uintptr_t>(memory_.data());
    return reinterpret_cast<T*>((start + alignment - 1) / alignment * alignment);
  }

  /// What kernels read of the host's memory.
  upload_buffer<Exec> uploads;

 private:
  memory memory_;
};

}  // namespace keramos::detail
