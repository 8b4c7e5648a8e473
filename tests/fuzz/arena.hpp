// Memory that products and scans read and write, and arrays in it, whose gaps hold poison.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include <gemm/gemm_case.hpp>

namespace keramos::fuzz {

/// Memory of the backend that queues use by default. A host's lies between two inaccessible pages: an access outside faults. A
/// device's is one allocation: compute-sanitizer finds accesses outside.
class arena {
 public:
  explicit arena(std::size_t bytes);
  arena(const arena&) = delete;
  ~arena();

  /// `count` elements that end where the memory ends, or begin where it begins.
  template <class T>
  T* place(index_t count, bool at_end) const {
    const std::size_t size = std::size_t(count) * sizeof(T);
    if (size > bytes_) std::abort();
    return reinterpret_cast<T*>(at_end ? begin_ + bytes_ - size : begin_);
  }

 private:
  char* begin_;
  std::size_t bytes_;
};

/// Bytes in the backend's memory.
class backend_copy {
 public:
  backend_copy(const void* from, std::size_t bytes);
  const void* data() const { return copy_.data(); }

 private:
  Kokkos::View<char*, default_execution_space> copy_;
};

void copy_to_arena(void* to, const void* from, std::size_t bytes);
void copy_from_arena(void* to, const void* from, std::size_t bytes);

/// A uniform number of [0, below).
inline index_t draw(std::mt19937_64& rng, index_t below) { return index_t(rng() % std::uint64_t(below)); }
inline bool one_in(std::mt19937_64& rng, index_t n) { return draw(rng, n) == 0; }
template <class T, std::size_t N>
T pick(std::mt19937_64& rng, const T (&list)[N]) {
  return list[draw(rng, N)];
}

using test::poison, test::random_value;

using reference::part_t, reference::sum_t;

/// Whether every part of a number is one.
template <class T>
bool is_finite(const T& x) {
  if constexpr (complex_like<T>)
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  else if constexpr (std::is_integral_v<T>)
    return true;
  else
    return std::isfinite(sum_t<T>(x));
}

/// Elements in an arena: all of what a case may touch there, and how it was before and is after.
template <class T>
struct area {
  T* data = nullptr;
  std::vector<T> before, after;

  /// `size` elements of poison.
  void start(const arena& memory, index_t size, bool at_end) {
    data = memory.place<T>(size, at_end);
    before.assign(std::size_t(size), poison<T>());
  }
  void upload() const { copy_to_arena(data, before.data(), before.size() * sizeof(T)); }
  void download() {
    after.resize(before.size());
    copy_from_arena(after.data(), data, after.size() * sizeof(T));
  }
  bool is_unchanged(std::size_t at) const { return std::memcmp(&before[at], &after[at], sizeof(T)) == 0; }
};

}  // namespace keramos::fuzz
