// Random matrices that are dealt out block by block. Element (i, j) is the same wherever it lies, and every rank can tell it.
#pragma once

#include <algorithm>
#include <array>

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/matrix.hpp>

#include "job.hpp"
#include "measure/core/random.hpp"

namespace keramos::perf {

template <class T>
struct dealt_matrix {
  dist::block_cyclic blocks;
  int row, col;  // this rank's place in the grid
  random_stream random;
  std::int64_t rows_here, cols_here, leading;
  // By columns, where Keramos computes, and on the host; on hosts these are one. An empty part has an address too.
  using device_view = Kokkos::View<T*, dist::communicator::execution_space>;
  device_view device;
  // Kokkos 3.4 has View::HostMirror, Kokkos 5 View::host_mirror_type.
  decltype(Kokkos::create_mirror_view(device_view())) host;

  dealt_matrix(std::int64_t rows, std::int64_t cols, const distributed_case& c, int rank, std::uint64_t seed,
               int which)
      : blocks{rows, cols, c.block, c.block, {c.grid_rows, c.grid_cols}},
        row(rank / c.grid_cols),
        col(rank % c.grid_cols),
        random(seed, std::uint64_t(which)),
        rows_here(dist::numroc(rows, c.block, row, 0, c.grid_rows)),
        cols_here(dist::numroc(cols, c.block, col, 0, c.grid_cols)),
        leading(std::max<std::int64_t>(1, rows_here)),
        device("keramos-perf: a part", std::size_t(std::max<std::int64_t>(1, leading * cols_here))),
        host(Kokkos::create_mirror_view(device)) {
    fill();
  }

  T initial(std::int64_t i, std::int64_t j) const { return random.value<T>(i * blocks.cols + j); }
  void fill() {
    each([&](std::int64_t i, std::int64_t j, T& x) { x = initial(i, j); });
    Kokkos::deep_copy(device, host);
  }
  void fill(const T& value) {
    Kokkos::deep_copy(host, value);
    Kokkos::deep_copy(device, host);
  }
  // f(i, j, element) for each element of this rank.
  template <class F>
  void each(const F& f) {
    const auto global = [](std::int64_t at, std::int64_t block, int process, int processes) {
      return (at / block * processes + process) * block + at % block;
    };
    for (std::int64_t y = 0; y < cols_here; ++y)
      for (std::int64_t x = 0; x < rows_here; ++x)
        f(global(x, blocks.row_block, row, blocks.grid.rows),
          global(y, blocks.col_block, col, blocks.grid.cols), host(std::size_t(x + y * leading)));
  }
  dist::matrix<T> over_ranks() const {
    return {dist::layout(blocks), matrix_view<T>::column_major(device.data(), rows_here, cols_here, leading)};
  }
  std::array<int, 9> descriptor(int context) const { return blocks.descriptor(context, leading); }
};

}  // namespace keramos::perf
