#include "ranks.hpp"
#include "transport_given.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>

namespace keramos::test {
namespace {

std::unique_ptr<dist::communicator> the_world;

/// n cut at random, also into nothing.
std::vector<index_t> random_splits(index_t n) {
  std::vector<index_t> splits{0, n};
  for (int more = pick(4); more > 0; --more) splits.push_back(index_t(pick(int(n) + 1)));
  std::sort(splits.begin(), splits.end());
  return splits;
}

}  // namespace

dist::communicator& world() { return *the_world; }

std::mt19937& shared_random() {
  static std::mt19937 random;
  return random;
}

dist::layout random_layout(index_t rows, index_t cols, int ranks) {
  const int grid_rows = 1 + pick(ranks), grid_cols = 1 + pick(ranks / grid_rows);
  const dist::process_grid grid{
      grid_rows, grid_cols,
      pick(2) ? dist::process_grid::order::row_major : dist::process_grid::order::column_major,
      pick(ranks - grid_rows * grid_cols + 1)};
  dist::block_cyclic b{rows, cols, 1 + pick(9), 1 + pick(9), grid, pick(grid_rows), pick(grid_cols)};
  switch (pick(4)) {
    case 0: {
      const index_t i = pick(12), j = pick(12);
      b.rows += i + pick(5), b.cols += j + pick(5);
      return dist::layout(b).sub(i, j, rows, cols);
    }
    case 1: {
      const auto row_splits = random_splits(rows), col_splits = random_splits(cols);
      std::vector<int> owners((row_splits.size() - 1) * (col_splits.size() - 1));
      for (int& owner : owners) owner = pick(ranks);
      return dist::layout::grid(row_splits, col_splits, owners);
    }
    case 2:
      if (pick(3) == 0) return dist::layout::on_rank(rows, cols, pick(ranks));
      [[fallthrough]];
    default:
      return b;
  }
}

random_parts::random_parts(const dist::layout& layout, int rank, std::mt19937& own) {
  for (int p = 0; p < layout.parts(rank); ++p) {
    const auto e = layout.part_extents(rank, p);
    part x{size, 0, 0, e.rows + index_t(own() % 2), e.cols + index_t(own() % 2)};
    const index_t unit = own() % 3 == 0 ? 2 : 1, slack = index_t(own() % 3);
    if (own() % 2 == 0)
      x.row_stride = unit, x.col_stride = x.rows * unit + slack;
    else
      x.col_stride = unit, x.row_stride = x.cols * unit + slack;
    parts.push_back(x);
    size += 1 + x.rows * x.row_stride + x.cols * x.col_stride;
  }
}

bool same_everywhere(const std::string& text) {
  const unsigned long long hash = std::hash<std::string>()(text);
  unsigned long long mine[2] = {hash, ~hash}, most[2];
  MPI_Allreduce(mine, most, 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  return most[0] == ~most[1];
}

}  // namespace keramos::test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    keramos::runtime guard(argc, argv);
    keramos::test::the_world =
        std::make_unique<keramos::dist::communicator>(MPI_COMM_WORLD, keramos::test::options_given());
    const bool first = keramos::test::world().rank() == 0;
    if (first) std::cout << "Transport: " << keramos::test::world().transport().name() << "\n";
    testing::FLAGS_gtest_brief = !first;  // one report is enough where nothing fails
    testing::InitGoogleTest(&argc, argv);
    unsigned seed = std::random_device()();
    if (const char* given = std::getenv("KERAMOS_SEED")) seed = unsigned(std::stoul(given));
    MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    keramos::test::shared_random().seed(seed);
    if (first) std::cout << "KERAMOS_SEED=" << seed << " repeats this\n";
    failed = RUN_ALL_TESTS();
    keramos::test::the_world.reset();
  }
  MPI_Finalize();
  return failed;
}
