// Tests of warpgroups, whose kernels are compiled for an architecture of their own (warpgroups.cpp, sources.cmake).
#pragma once

#include <Kokkos_Core.hpp>

namespace keramos::test {

/// Hands `count` stages of 128 numbers from threads that copy, or from one that copies all, to others, which write them turned
/// by one place.
void hand_over(const Kokkos::Cuda& exec, const int* from, int* to, int count, bool by_one_thread);

/// D = A·Bᵀ: `a` are 64 rows, `b` 128 rows of 128 bytes of elements E, along k; `d` is 64 x 128. In local memory they lie
/// along m and n if that is said; of elements that units do not read so, threads load A. Kinds are tiling::reading's.
template <class E, class T>
void multiply(const Kokkos::Cuda& exec, const E* a, const E* b, T* d, bool along_mn, bool kind_a,
              bool kind_b);

}  // namespace keramos::test
