// Tests that all ranks run alike: the same tests in the same order, with the same random numbers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <keramos/dist/dist.hpp>
#include <keramos/keramos.hpp>

namespace keramos::test {

/// Of MPI_COMM_WORLD; made and ended by main. KERAMOS_TRANSPORT=staged, mpi or devices says how.
dist::communicator& world();
/// The same numbers on all ranks, others each run.
std::mt19937& shared_random();

inline int pick(int count) { return int(shared_random()() % unsigned(count)); }

/// A random layout of one of the kinds: block-cyclic by rows and by columns, a part of such a matrix, any grid, all on one rank.
dist::layout random_layout(index_t rows, index_t cols, int ranks);
/// A few kilobytes of a rank and parts in them with random strides, as `layout` needs them.
struct random_parts {
  struct part {
    index_t begin, row_stride, col_stride, rows, cols;
  };
  std::vector<part> parts;
  index_t size = 0;

  random_parts(const dist::layout& layout, int rank, std::mt19937& own);
};

/// Small whole numbers, so that all sums are exact in every type.
template <class T>
T small_number(unsigned hash) {
  const int x = int(hash * 2654435761u >> 13 & 0xff) % 7 - 3;
  if constexpr (complex_like<T>)
    return T(typename T::value_type(x), typename T::value_type(int(hash * 40503u >> 7 & 0xff) % 5 - 2));
  else
    return T(float(x));
}

/// Elements where kernels of the default backend reach them, aligned to 128 bytes.
template <class T>
class device_memory {
  using space = default_execution_space::memory_space;
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

 public:
  device_memory() = default;
  explicit device_memory(const std::vector<T>& values) { put(values); }
  T* data() const {
    return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(bytes_.data()) + 127) / 128 * 128);
  }
  void put(const std::vector<T>& values) {
    if (count_ != values.size() || !bytes_.data())
      bytes_ = Kokkos::View<char*, space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "device_memory"),
                                          values.size() * sizeof(T) + 128);
    count_ = values.size();
    Kokkos::deep_copy(here(), on_host(const_cast<T*>(values.data())));
  }
  void get(std::vector<T>& values) const { Kokkos::deep_copy(on_host(values.data()), here()); }
  std::vector<T> get() const {
    std::vector<T> values(count_);
    get(values);
    return values;
  }

 private:
  using device_type = Kokkos::View<char*, space, unmanaged>;
  using host_type = Kokkos::View<char*, Kokkos::HostSpace, unmanaged>;
  device_type here() const { return device_type(reinterpret_cast<char*>(data()), count_ * sizeof(T)); }
  host_type on_host(T* values) const {
    return host_type(reinterpret_cast<char*>(values), count_ * sizeof(T));
  }
  std::size_t count_ = 0;
  Kokkos::View<char*, space> bytes_;
};

/// A matrix over ranks whose element (i, j) is known everywhere. What the host sees is `storage`: get() brings it to where
/// kernels are, fetch() back.
template <class T>
struct known_matrix {
  dist::layout layout;
  unsigned seed;
  random_parts where;
  std::vector<T> storage;
  device_memory<T> on_device;

  known_matrix(const dist::layout& l, unsigned s, int rank, std::mt19937& own)
      : layout(l), seed(s), where(l, rank, own), storage(std::size_t(where.size), small_number<T>(s + 99)) {
    each_own(rank, [&](index_t i, index_t j, T& x) { x = at(i, j); });
  }
  T at(index_t i, index_t j) const {
    return small_number<T>(seed + unsigned(i) * 8191u + unsigned(j) * 131u);
  }

  template <class F>
  void each_own(int rank, const F& f) {
    for (index_t i = 0; i < layout.rows(); ++i)
      for (index_t j = 0; j < layout.cols(); ++j) {
        const auto p = layout.locate(i, j);
        if (p.rank != rank) continue;
        const auto& w = where.parts[std::size_t(p.part)];
        f(i, j, storage[std::size_t(w.begin + p.row * w.row_stride + p.col * w.col_stride)]);
      }
  }
  template <class As = T>
  dist::matrix<As> get() {
    on_device.put(storage);
    std::vector<matrix_view<As>> views;
    for (const auto& w : where.parts)
      views.push_back({on_device.data() + w.begin, w.rows, w.cols, w.row_stride, w.col_stride});
    return {layout, views};
  }
  void fetch() { on_device.get(storage); }
};

/// What a call throws on this rank, "" if nothing.
template <class Error, class F>
std::string message_of(const F& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}
/// Whether all ranks have the same text.
bool same_everywhere(const std::string& text);

}  // namespace keramos::test
