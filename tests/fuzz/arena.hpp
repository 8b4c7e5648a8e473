// Memory between two inaccessible pages: an access outside faults. And arrays in it, whose gaps hold poison.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

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

class arena {
 public:
  explicit arena(std::size_t bytes) {
    const auto page = std::size_t(sysconf(_SC_PAGESIZE));
    bytes_ = (bytes + page - 1) / page * page;
    void* const all =
        mmap(nullptr, bytes_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    begin_ = static_cast<char*>(all) + page;
    if (all == MAP_FAILED || mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  arena(const arena&) = delete;

  /// `count` elements that end where the accessible memory ends, or begin where it begins.
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

/// Elements in an arena: all of what a case may touch there, and how it was before.
template <class T>
struct area {
  T* data = nullptr;
  std::vector<T> before;

  /// `size` elements of poison.
  void start(const arena& memory, index_t size, bool at_end) {
    data = memory.place<T>(size, at_end);
    before.assign(std::size_t(size), poison<T>());
  }
  void upload() { std::copy(before.begin(), before.end(), data); }
  bool is_unchanged(std::size_t at) const { return std::memcmp(&before[at], data + at, sizeof(T)) == 0; }
};

}  // namespace keramos::fuzz
