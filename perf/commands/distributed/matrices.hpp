// Random matrices that are dealt out block by block. Element (i, j) is the same wherever it lies, and every rank can tell it.
#pragma once

#include <algorithm>
#include <array>

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/matrix.hpp>

#include "job.hpp"
#include "measure/core/parallel.hpp"
#include "measure/core/random.hpp"

namespace keramos::perf {

// Which elements one thread sees, in their order.
enum class whole { rows, columns };

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
    each(rows_here > cols_here ? whole::rows : whole::columns,
         [&](std::int64_t i, std::int64_t j, T& x) { x = initial(i, j); });
    Kokkos::deep_copy(device, host);
  }
  void fill(const T& value) {
    Kokkos::deep_copy(host, value);
    Kokkos::deep_copy(device, host);
  }
  // f(i, j, element) for each element of this rank, on all CPUs that it was given.
  template <class F>
  void each(whole lines, const F& f) {
    const auto global = [](std::int64_t at, std::int64_t block, int process, int processes) {
      return (at / block * processes + process) * block + at % block;
    };
    const bool by_rows = lines == whole::rows;
    const std::int64_t others = std::max<std::int64_t>(1, by_rows ? cols_here : rows_here);
    const auto at_a_time = std::max<std::int64_t>(64, 65536 / others);  // worth a thread
    parallel_blocks(by_rows ? rows_here : cols_here, at_a_time, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t row_end = by_rows ? end : rows_here, col_end = by_rows ? cols_here : end;
      for (std::int64_t y = by_rows ? 0 : begin; y < col_end; ++y)
        for (std::int64_t x = by_rows ? begin : 0; x < row_end; ++x)
          f(global(x, blocks.row_block, row, blocks.grid.rows),
            global(y, blocks.col_block, col, blocks.grid.cols), host(std::size_t(x + y * leading)));
    });
  }
  dist::matrix<T> over_ranks() const {
    return {dist::layout(blocks), matrix_view<T>::column_major(device.data(), rows_here, cols_here, leading)};
  }
  std::array<int, 9> descriptor(int context) const { return blocks.descriptor(context, leading); }
};

}  // namespace keramos::perf
