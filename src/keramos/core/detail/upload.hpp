// Host data for the kernels of a queue, such as lists of matrices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <keramos/base/error.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos::detail {

/// Brings host data to the device in the queue's order, without making the host wait: through pinned memory,
/// which is used again once the copy from it is done. On host backends kernels read the data where it is.
template <class Exec>
class upload_buffer {
 public:
  /// `from` where kernels that are launched next on `exec` can read it; valid until the next upload.
  /// @throws invalid_argument where a graph is captured, whose runs would read what later calls upload. `what` names the call.
  template <class T>
  const T* upload(const Exec& exec, const std::vector<T>& from, const char* what) {
    static_assert(std::is_trivially_copyable_v<T>);
    if constexpr (backend::traits<Exec>::is_host) {
      return from.data();
    } else {
      if constexpr (requires { stream::is_captured(exec); })
        if (stream::is_captured(exec))
          throw invalid_argument(
              std::string(what) +
              ": a list is copied to the device by the call itself, which cannot be captured "
              "in a graph; give matrix_arrays, whose addresses the device reads");
      const std::size_t bytes = from.size() * sizeof(T);
      if (on_device_.extent(0) < bytes) {
        // Kernels under way may read the old memory: it is kept. As it doubles, all that is kept is no larger
        // than what is in use.
        const std::size_t size = std::max(bytes, 2 * on_device_.extent(0));
        if (on_device_.extent(0) > 0) old_.push_back(on_device_);
        on_device_ = device_memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, "keramos::upload"), size);
      }
      staged& stage = free_stage(bytes);
      std::memcpy(stage.memory.data(), from.data(), bytes);
      const auto all = std::make_pair(std::size_t(0), bytes);
      Kokkos::deep_copy(exec, Kokkos::subview(on_device_, all), Kokkos::subview(stage.memory, all));
      stage.copied = backend::native_event<Exec>::record(exec);
      return reinterpret_cast<const T*>(on_device_.data());
    }
  }

 private:
  using stream = backend::stream<Exec>;
  using device_memory = Kokkos::View<std::byte*, typename Exec::memory_space>;
  using staging_space = typename stream::host_space;
  using staging_memory = Kokkos::View<std::byte*, staging_space>;

  struct staged {
    staging_memory memory;
    std::optional<backend::native_event<Exec>> copied;
  };

  /// One that nothing is copied from any more.
  staged& free_stage(std::size_t bytes) {
    for (staged& s : stages_)
      if (s.memory.extent(0) >= bytes && (!s.copied || s.copied->is_complete())) return s;
    stages_.push_back(
        {staging_memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, "keramos::upload"), bytes), {}});
    return stages_.back();
  }

  device_memory on_device_;
  std::vector<device_memory> old_;
  std::vector<staged> stages_;
};

}  // namespace keramos::detail
