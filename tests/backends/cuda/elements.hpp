// Elements for tests of CUDA's multiply atoms.
#pragma once

#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <keramos/base/float16.hpp>
#include <keramos/base/float8.hpp>
#include <keramos/base/integer8.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::test {

/// Element `i` of an operand: small and whole, or half of that, in either kind; of integers of eight bits any.
template <class E>
E element(int i) {
  if constexpr (std::is_same_v<E, integer8>) {
    return E(unsigned(i * 89 + 3));
  } else if constexpr (std::is_same_v<E, float8>) {
    constexpr unsigned char some[] = {0x00, 0x80, 0x40, 0xc0, 0x48, 0x3c, 0xbc, 0x44};
    E x;
    x.bits = some[(i * 5 + i / 7) % 8];
    return x;
  } else {
    return E((i * 11 + i / 5) % 9);
  }
}

/// The number that an element of a kind is (tiling::reading).
template <class T, class E>
T number(const E& x, [[maybe_unused]] bool kind) {
  tiling::reading<E> how;
  if constexpr (std::is_same_v<E, integer8>) how.is_signed = kind;
  if constexpr (std::is_same_v<E, float8>) how.is_e5m2 = kind;
  return how.template number<T>(x);
}

/// Elements that host and device share, from `element(first)` on.
template <class T>
class pinned {
 public:
  pinned(int size, int first) : view_("pinned", size) {
    for (int i = 0; i < size; ++i) view_(i) = element<T>(first + i);
  }
  T* data() const { return view_.data(); }
  T& operator[](int i) const { return view_(i); }
  std::vector<T> copy() const { return {data(), data() + view_.extent(0)}; }

 private:
  Kokkos::View<T*, Kokkos::CudaHostPinnedSpace> view_;
};

}  // namespace keramos::test
