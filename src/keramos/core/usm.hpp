// Unified shared memory (SYCL 2020, section 4.8): pointers that kernels may use, and owners of them.
//
//   double* x = keramos::malloc_device<double>(n, q);    // malloc_host and malloc_shared likewise
//   keramos::free(x, q);
//   keramos::device_array<double> y(n, q);               // frees by itself; kernels capture y.data()
//
// Memory is Kokkos', so that Kokkos Tools sees it; it is free'd here only, and not with the vendor's function.
// On host backends all three kinds are plain host memory.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include <keramos/base/error.hpp>
#include <keramos/base/memory_kind.hpp>
#include <keramos/core/queue.hpp>

namespace keramos {

namespace detail {

template <class Exec, memory_kind Kind>
struct space_of;
template <class Exec>
struct space_of<Exec, memory_kind::device> {
  using type = typename backend::stream<Exec>::device_space;
};
template <class Exec>
struct space_of<Exec, memory_kind::host> {
  using type = typename backend::stream<Exec>::host_space;
};
template <class Exec>
struct space_of<Exec, memory_kind::shared> {
  using type = typename backend::stream<Exec>::shared_space;
};

template <class Space, class T>
T* allocate(const char* function, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "keramos: device memory holds trivial types; nothing constructs or destroys them");
  if (count == 0) return nullptr;
  const auto refuse = [&](const std::string& why) {
    throw memory_error(std::string(function) + ": " + std::to_string(count) + " elements of " +
                       std::to_string(sizeof(T)) + " bytes could not be allocated" + why);
  };
  if (count > (std::size_t(1) << 62) / sizeof(T)) refuse("; no machine has that much");
  void* p = nullptr;
  try {
    p = Kokkos::kokkos_malloc<Space>(function, count * sizeof(T));
  } catch (const std::exception& e) {
    refuse(std::string(": ") + e.what());
  }
  if (!p) refuse("; free memory or ask for less");
  return static_cast<T*>(p);
}

}  // namespace detail

/// Memory for `count` elements that only kernels of the queue's device access; the queue's copies reach it
/// too. It is not initialised. A count of 0 gives a null pointer.
/// @throws memory_error if there is not enough.
template <class T, class Exec>
T* malloc_device(std::size_t count, const basic_queue<Exec>&) {
  return detail::allocate<typename detail::space_of<Exec, memory_kind::device>::type, T>(
      "keramos::malloc_device", count);
}
/// The same in the host's memory, which kernels reach too (pinned: copies from it do not stop the host).
template <class T, class Exec>
T* malloc_host(std::size_t count, const basic_queue<Exec>&) {
  return detail::allocate<typename detail::space_of<Exec, memory_kind::host>::type, T>("keramos::malloc_host",
                                                                                       count);
}
/// The same in memory that moves to where it is used; wait for the queue before the host uses it.
template <class T, class Exec>
T* malloc_shared(std::size_t count, const basic_queue<Exec>&) {
  return detail::allocate<typename detail::space_of<Exec, memory_kind::shared>::type, T>(
      "keramos::malloc_shared", count);
}

/// Where a pointer leads to, as the device's runtime knows it.
template <class Exec>
memory_kind get_pointer_type(const void* p, const basic_queue<Exec>&) {
  return backend::stream<Exec>::kind_of(p);
}

/// Frees what one of the three above gave; null is fine. The work that uses it must be done.
/// @throws memory_error for memory that none of them gave, as far as that can be seen.
template <class Exec>
void free(void* p, const basic_queue<Exec>&) {
  if (!p) return;
  switch (backend::stream<Exec>::kind_of(p)) {
    case memory_kind::device:
      return Kokkos::kokkos_free<typename detail::space_of<Exec, memory_kind::device>::type>(p);
    case memory_kind::host:
      return Kokkos::kokkos_free<typename detail::space_of<Exec, memory_kind::host>::type>(p);
    case memory_kind::shared:
      return Kokkos::kokkos_free<typename detail::space_of<Exec, memory_kind::shared>::type>(p);
    case memory_kind::unknown:
      break;
  }
  throw memory_error(
      "keramos::free: the pointer leads to memory that malloc_device, malloc_host and malloc_shared did not "
      "give; free it where it was made");
}

/// Owns `size()` elements of one kind of memory; moves, does not copy. Kernels capture `data()`.
/// Its destructor frees at once: let the work that uses it be done before.
template <class T, memory_kind Kind, class Exec = default_execution_space>
class usm_array {
 public:
  using value_type = T;
  using memory_space = typename detail::space_of<Exec, Kind>::type;
  using view_type = Kokkos::View<T*, memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  usm_array() = default;
  usm_array(std::size_t count, const basic_queue<Exec>&)
      : data_(detail::allocate<memory_space, T>("keramos::usm_array", count)), size_(count) {}
  usm_array(usm_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  usm_array& operator=(usm_array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~usm_array() {
    if (data_) Kokkos::kokkos_free<memory_space>(data_);
  }

  static constexpr memory_kind kind() { return Kind; }
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// The same memory as a Kokkos View, which does not own it.
  view_type view() const { return view_type(data_, size_); }

  // The host's access, which device memory does not have on any backend.
  T& operator[](std::size_t i) const {
    check_host_access();
    return data_[i];
  }
  T* begin() const {
    check_host_access();
    return data_;
  }
  T* end() const {
    check_host_access();
    return data_ + size_;
  }

 private:
  static constexpr void check_host_access() {
    static_assert(Kind != memory_kind::device,
                  "keramos: the host cannot access device memory; queue::copy it to the host, or use "
                  "shared_array or host_array");
  }
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
using device_array = usm_array<T, memory_kind::device>;
template <class T>
using host_array = usm_array<T, memory_kind::host>;
template <class T>
using shared_array = usm_array<T, memory_kind::shared>;

}  // namespace keramos
