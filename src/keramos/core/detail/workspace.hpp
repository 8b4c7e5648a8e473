// Memory that a queue keeps for its kernels, such as packed operands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <keramos/core/detail/upload.hpp>

namespace keramos::detail {

/// `count` elements of a host's memory that nothing has written. Not a View: Kokkos fences all of its spaces before it
/// frees one, which CUDA allows no host task to do.
template <class T>
class host_memory {
 public:
  host_memory() = default;
  explicit host_memory(std::size_t count)
      : data_(std::make_unique_for_overwrite<T[]>(count)), count_(count) {}

  std::size_t size() const { return count_; }
  T* data() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t count_ = 0;
};

/// Grows to the largest request so far and is used by one kernel after another, in the queue's order. Once it
/// is large enough nothing is allocated and nothing waits, so that a stream capture may use it then.
template <class Exec>
class workspace {
  static constexpr bool is_host = backend::traits<Exec>::is_host;
  template <class T>
  using memory = std::conditional_t<is_host, host_memory<T>, Kokkos::View<T*, typename Exec::memory_space>>;
  static constexpr std::size_t alignment = 128;

 public:
  /// At least `count` elements of T; what was in it before is gone. With `in_use` they lie behind so many bytes that keep what
  /// is in them: these were reserved with room for both.
  template <class T>
  T* reserve([[maybe_unused]] const Exec& exec, std::size_t count, std::size_t in_use = 0) {
    const std::size_t bytes = in_use + count * sizeof(T) + alignment;
    if (bytes_.size() < bytes) {
      const std::size_t size = retire(bytes_, old_bytes_, bytes);
      if constexpr (is_host)
        bytes_ = host_memory<std::byte>(size);
      else
        bytes_ =
            memory<std::byte>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "keramos::workspace"), size);
    }
    return reinterpret_cast<T*>(aligned(bytes_.data()) + in_use);
  }

  /// At least `count` counters, all zero: kernels leave them as they found them. On devices.
  int* counters(const Exec& exec, std::size_t count) { return reserve_counters(exec, 1 + count) + 1; }
  /// One more, likewise.
  int* counter(const Exec& exec) { return reserve_counters(exec, 1); }

  /// At least so many bytes besides, in which kernels keep what they need while they run. On devices. They are zeros at first,
  /// since debuggers of memory do not see all that kernels write.
  char* of_kernels(const Exec&, std::size_t bytes) {
    if (of_kernels_.size() < bytes + alignment) {
      const std::size_t size = retire(of_kernels_, old_bytes_, bytes + alignment);
      of_kernels_ = memory<std::byte>("keramos::workspace", size);
    }
    return aligned(of_kernels_.data());
  }

  /// What kernels read of the host's memory.
  upload_buffer<Exec> uploads;

 private:
  int* reserve_counters(const Exec&, std::size_t count) {
    if (counters_.size() < count) {
      const std::size_t size = retire(counters_, old_counters_, count);
      counters_ = memory<int>("keramos::counters", size);
    }
    return counters_.data();
  }

  /// Gives up `now` and says how large its successor shall be. On a device it is kept, for kernels under way
  /// and captured graphs; growing at least twofold, all that is kept is no larger than what is in use. On a host
  /// no kernel is under way.
  template <class Memory>
  static std::size_t retire(Memory& now, std::vector<Memory>& old, std::size_t size) {
    if constexpr (is_host) {
      now = {};
      return size;
    } else {
      if (now.size() > 0) old.push_back(now);
      return std::max(size, 2 * now.size());
    }
  }

  static char* aligned(std::byte* x) {
    return reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(x) + alignment - 1) / alignment *
                                   alignment);
  }

  memory<std::byte> bytes_;
  memory<int> counters_;
  std::vector<memory<std::byte>> old_bytes_;
  std::vector<memory<int>> old_counters_;
  memory<std::byte> of_kernels_;
};

}  // namespace keramos::detail
