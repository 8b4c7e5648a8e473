// How a matrix is divided among ranks: `layout::on_rank(m, n)`, `block_cyclic{m, n, 32, 32, {rows, cols}}`, or any grid of
// parts. No MPI and no data here: layouts are values, the same on every rank.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <keramos/base/export.hpp>
#include <keramos/base/index.hpp>

namespace keramos::dist {

/// Ranks `first` ... `first + rows * cols - 1` as a grid, as BLACS' gridinit makes one: row by row, or column by column.
struct process_grid {
  enum class order : char { row_major = 'R', column_major = 'C' };

  int rows = 1;
  int cols = 1;
  order by = order::row_major;
  int first = 0;

  constexpr int rank_of(int row, int col) const {
    return first + (by == order::row_major ? row * cols + col : col * rows + row);
  }
};

/// ScaLAPACK's layout: blocks of row_block x col_block are dealt out to a grid of ranks in turn, beginning with process row
/// row_source and process column col_source. A rank's blocks stand side by side in one local matrix.
struct block_cyclic {
  index_t rows = 0, cols = 0;
  index_t row_block = 1, col_block = 1;
  process_grid grid = {};
  int row_source = 0, col_source = 0;

  /// From ScaLAPACK's array descriptor of a dense matrix (DTYPE_ is 1; entries M_, N_, MB_, NB_, RSRC_, CSRC_ are used). The
  /// grid is that of its BLACS context.
  KERAMOS_EXPORT static block_cyclic from_descriptor(const int (&desc)[9], process_grid grid);
  /// ScaLAPACK's array descriptor, for a BLACS context and a leading dimension (LLD_) of the caller's.
  /// @throws invalid_argument if a number does not fit an int.
  KERAMOS_EXPORT std::array<int, 9> descriptor(int context, index_t leading) const;
};

/// How many of n rows (or columns) process `process` of `processes` holds in blocks of `block` that are dealt out from
/// process `source` on: ScaLAPACK's NUMROC. @throws invalid_argument if there is no such block or process.
KERAMOS_EXPORT index_t numroc(index_t n, index_t block, int process, int source, int processes);

/// A rows x cols matrix cut by rows and by columns into blocks, each of which lies in a part of one rank. Parts are matrices
/// in that rank's memory; `matrix` says where. A copy shares the tables.
class KERAMOS_EXPORT layout {
 public:
  /// Where element (i, j) lies: (row, col) of part `part` of rank `rank`.
  struct place {
    int rank = 0;
    int part = 0;
    index_t row = 0, col = 0;
  };
  struct extents {
    index_t rows = 0, cols = 0;
  };

  /// 0 x 0.
  layout();
  /// Each rank of the grid has one part, also where it is empty. @throws invalid_argument if an extent, a block or the grid
  /// is not sound.
  layout(const block_cyclic& blocks);
  /// Any grid: rows are cut at row_splits (0 first, the number of rows last, not descending), columns likewise, and block
  /// (x, y) is owned by owners[x * (col_splits.size() - 1) + y]. Each block is a part of its own; those of a rank are numbered
  /// by rows of blocks. @throws invalid_argument if they do not fit each other.
  static layout grid(std::vector<index_t> row_splits, std::vector<index_t> col_splits,
                     std::vector<int> owners);
  /// All on one rank.
  static layout on_rank(index_t rows, index_t cols, int rank = 0);

  index_t rows() const;
  index_t cols() const;
  /// One more than the largest rank that owns a part.
  int ranks() const;

  /// Where element (i, j) lies, 0 <= i < rows(), 0 <= j < cols().
  place locate(index_t i, index_t j) const;
  int owner(index_t i, index_t j) const { return locate(i, j).rank; }
  /// The element at (row, col) of a part. @throws invalid_argument if none of this matrix is there.
  std::pair<index_t, index_t> to_global(int rank, int part, index_t row, index_t col) const;

  /// How many parts a rank has, and what extents a part must have at least.
  int parts(int rank) const;
  extents part_extents(int rank, int part = 0) const;
  /// How many elements each of the ranks() owns.
  std::vector<index_t> sizes() const;

  /// Rows i ... i + rows - 1 and columns j ... j + cols - 1, in the same parts: ScaLAPACK's (ia, ja) is (i + 1, j + 1).
  /// @throws invalid_argument if they are not inside.
  layout sub(index_t i, index_t j, index_t rows, index_t cols) const;
  /// The layout of the transpose, whose parts are the transposes of these.
  layout transposed() const;

  /// Whether each element lies in the same place, however blocks are cut there.
  bool same_places(const layout& other) const;

  /// Whether blocks are cut alike as well.
  bool operator==(const layout& other) const;

  /// The same for equal layouts, on all ranks, and hardly ever for others.
  std::uint64_t fingerprint() const;
  /// "300x200 in 5x4 blocks on 6 ranks, fingerprint ...": for messages.
  std::string to_string() const;

  /// Rows, or columns: block b holds begin[b] ... begin[b + 1] - 1, which begin at `at[b]` of parts of process `process[b]`.
  struct axis {
    std::vector<index_t> begin = {0};
    std::vector<index_t> at;
    std::vector<int> process;
    int processes = 0;
    bool operator==(const axis&) const = default;
  };
  /// Process (p, q) of both axes is part `part` of rank `rank`, at p * cols.processes + q. No two are the same part.
  struct tables {
    axis rows, cols;
    std::vector<int> rank, part;
    bool operator==(const tables&) const = default;
  };
  explicit layout(tables t);
  const tables& parts_of_all() const { return *tables_; }

 private:
  std::shared_ptr<const tables> tables_;
};

}  // namespace keramos::dist
