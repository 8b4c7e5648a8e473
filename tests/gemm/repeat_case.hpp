// The same call again: operands that can be had at two addresses, and calls with other work in between.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gemm_case.hpp"

namespace keramos::test {

/// Elements that can be had at two addresses, both multiples of 256 bytes.
class moved {
 public:
  explicit moved(std::size_t bytes)
      : size_(bytes), second_((bytes + 1023) / 256 * 256), storage_(second_ + bytes) {}
  template <class T>
  static moved random(index_t count, std::mt19937_64& rng, T value(std::mt19937_64&) = random_value<T>) {
    const moved x(std::size_t(count) * sizeof(T));
    T *const first = static_cast<T*>(x.host(false)), *const second = static_cast<T*>(x.host(true));
    for (index_t i = 0; i < count; ++i) first[i] = second[i] = value(rng);
    x.storage_.upload();
    return x;
  }
  template <class T>
  T* at(bool elsewhere) const {
    return reinterpret_cast<T*>(static_cast<unsigned char*>(storage_.device()) + offset(elsewhere));
  }
  std::vector<unsigned char> bytes(bool elsewhere) const {
    storage_.download();
    const auto* const first = static_cast<const unsigned char*>(host(elsewhere));
    return {first, first + size_};
  }
  /// NaN in all types that have it.
  void poison() const {
    std::memset(storage_.host(), 0xff, second_ + size_);
    storage_.upload();
  }

 private:
  std::size_t offset(bool elsewhere) const { return elsewhere ? second_ : 0; }
  void* host(bool elsewhere) const {
    return static_cast<unsigned char*>(storage_.host()) + offset(elsewhere);
  }

  std::size_t size_, second_;
  stored_bytes storage_;
};

/// `call(queue, elsewhere)` leaves a result in C, at one or the other address.
inline void expect_same_bits(const moved& c, const std::string& what,
                             const std::function<void(queue&, bool)>& call) {
  const stored_matrix<float> x(90, 90, layout::right, 0, 0), y(90, 90, layout::right, 0, 0),
      z(90, 90, layout::right, 0, 0);
  std::vector<unsigned char> first;
  queue q, other(queue_options{.own_instance = true});
  for (int repeat = 0; repeat < 4; ++repeat) {
    const bool elsewhere = repeat % 2 == 1;
    c.poison();
    Kokkos::fence();
    // Other work of both queues, which shares the memory of one and shuffles the teams of the device.
    for (int i = 0; i < repeat; ++i) {
      gemm(q, 1, x.view, x.view, 0, y.view);
      gemm(other, 1, x.view, x.view, 0, z.view);
    }
    call(q, elsewhere);
    q.wait(), other.wait();
    const auto bytes = c.bytes(elsewhere);
    if (repeat == 0) first = bytes;
    ASSERT_EQ(std::memcmp(first.data(), bytes.data(), first.size()), 0) << what << ", call " << repeat;
  }
}

}  // namespace keramos::test
