// The samples: kernels of well-known SYCL examples, written anew from their algorithms. Lines between
// [kernel] and [end] that SYCL 2020 would spell differently end with the mark //~; docs/porting.md has their number.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <keramos/keramos.hpp>

namespace keramos::samples {

template <class T>
using array = Kokkos::View<T*, default_execution_space>;

template <class T>
array<T> to_device(queue& q, const std::vector<T>& values) {
  array<T> out("values", values.size());
  q.copy(values.data(), out.data(), values.size()).wait();
  return out;
}
template <class T>
std::vector<T> to_host(queue& q, const array<T>& values) {
  std::vector<T> out(values.extent(0));
  q.copy(static_cast<const T*>(values.data()), out.data(), out.size()).wait();
  return out;
}

}  // namespace keramos::samples
