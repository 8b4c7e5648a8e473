// Memory of tests: bytes of the backend and the host's copy of them. What allocates and copies is compiled once, for no type of
// elements: it was a good part of the time that each test took to compile.
#pragma once

#include <cstddef>

#include <keramos/keramos.hpp>

namespace keramos::test {

class stored_bytes {
 public:
  explicit stored_bytes(std::size_t bytes);
  void upload() const;
  void download() const;
  void* device() const { return device_.data(); }
  void* host() const { return host_.data(); }

 private:
  using storage = Kokkos::View<unsigned char*, default_execution_space>;

  storage device_;
  // Kokkos 3.4 has View::HostMirror, Kokkos 5 View::host_mirror_type.
  decltype(Kokkos::create_mirror_view(storage())) host_;
};

/// Elements in memory of somebody else's, named as those of a View of one dimension.
template <class T>
class elements_of_storage {
 public:
  elements_of_storage(void* data, index_t size) : data_(static_cast<T*>(data)), size_(std::size_t(size)) {}
  T* data() const { return data_; }
  std::size_t extent(int) const { return size_; }
  T& operator()(index_t i) const { return data_[i]; }

 private:
  T* data_;
  std::size_t size_;
};

}  // namespace keramos::test
