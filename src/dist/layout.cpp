#include <algorithm>
#include <limits>

#include <keramos/base/error.hpp>
#include <keramos/dist/layout.hpp>

namespace keramos::dist {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw invalid_argument("keramos::dist::layout: " + what);
}

using detail::shape_of;

layout::axis cyclic_axis(index_t n, index_t block, int processes, int source) {
  layout::axis a;
  a.processes = processes;
  for (index_t b = 0, begin = 0; begin < n; ++b, begin += block) {
    a.begin.push_back(std::min(begin + block, n));
    a.at.push_back(b / processes * block);
    a.process.push_back(int((b + source) % processes));
  }
  return a;
}

/// Each block its own process.
layout::axis cut_axis(const char* name, const std::vector<index_t>& splits) {
  if (splits.empty() || splits.front() != 0 || !std::is_sorted(splits.begin(), splits.end()))
    refuse(std::string(name) + " must begin with 0 and not descend");
  layout::axis a;
  a.begin = splits;
  a.processes = int(splits.size() - 1);
  a.at.assign(splits.size() - 1, 0);
  for (int b = 0; b < a.processes; ++b) a.process.push_back(b);
  return a;
}

layout::axis clip(const layout::axis& a, index_t first, index_t count) {
  layout::axis clipped;
  clipped.processes = a.processes;
  for (std::size_t b = 0; b < a.at.size(); ++b) {
    const index_t begin = std::max(a.begin[b], first), end = std::min(a.begin[b + 1], first + count);
    if (begin >= end) continue;
    clipped.begin.push_back(end - first);
    clipped.at.push_back(a.at[b] + begin - a.begin[b]);
    clipped.process.push_back(a.process[b]);
  }
  return clipped;
}

std::size_t block_of(const layout::axis& a, index_t i) {
  return std::size_t(std::upper_bound(a.begin.begin(), a.begin.end(), i) - a.begin.begin()) - 1;
}

/// Where the last block of a process ends in its part.
index_t end_in_part(const layout::axis& a, int process) {
  index_t end = 0;
  for (std::size_t b = 0; b < a.at.size(); ++b)
    if (a.process[b] == process) end = std::max(end, a.at[b] + a.begin[b + 1] - a.begin[b]);
  return end;
}
/// How long the blocks of each process are together.
std::vector<index_t> lengths(const layout::axis& a) {
  std::vector<index_t> sum(std::size_t(a.processes), 0);
  for (std::size_t b = 0; b < a.at.size(); ++b) sum[std::size_t(a.process[b])] += a.begin[b + 1] - a.begin[b];
  return sum;
}

/// Blocks that follow one another, in the matrix and in the part, as one.
layout::axis joined(const layout::axis& a) {
  layout::axis j;
  j.processes = a.processes;
  for (std::size_t b = 0; b < a.at.size(); ++b) {
    const index_t length = a.begin[b + 1] - a.begin[b];
    if (length == 0) continue;
    const bool follows = !j.at.empty() && j.process.back() == a.process[b] &&
                         a.at[b] == j.at.back() + j.begin.back() - j.begin[j.begin.size() - 2];
    if (!follows)
      j.begin.push_back(j.begin.back()), j.at.push_back(a.at[b]), j.process.push_back(a.process[b]);
    j.begin.back() += length;
  }
  return j;
}

/// What stands at `at` of a process's part; -1 if nothing does.
index_t global_at(const layout::axis& a, int process, index_t at) {
  for (std::size_t b = 0; b < a.at.size(); ++b)
    if (a.process[b] == process && at >= a.at[b] && at < a.at[b] + a.begin[b + 1] - a.begin[b])
      return a.begin[b] + at - a.at[b];
  return -1;
}

}  // namespace

block_cyclic block_cyclic::from_descriptor(const int (&desc)[9], process_grid grid) {
  if (desc[0] != 1)
    throw invalid_argument("keramos::dist::block_cyclic: the descriptor's type (DTYPE_) is " +
                           std::to_string(desc[0]) + " but must be 1, a dense matrix");
  return {desc[2], desc[3], desc[4], desc[5], grid, desc[6], desc[7]};
}

std::array<int, 9> block_cyclic::descriptor(int context, index_t leading) const {
  for (const index_t value : {rows, cols, row_block, col_block, leading})
    if (value > std::numeric_limits<int>::max())
      throw invalid_argument("keramos::dist::block_cyclic: " + std::to_string(value) +
                             " does not fit a ScaLAPACK descriptor, whose numbers are int");
  return {1,          context,    int(rows),   int(cols), int(row_block), int(col_block),
          row_source, col_source, int(leading)};
}

index_t numroc(index_t n, index_t block, int process, int source, int processes) {
  if (n < 0 || block < 1 || process < 0 || process >= processes || source < 0 || source >= processes)
    throw invalid_argument(
        "keramos::dist::numroc: n is " + std::to_string(n) + " in blocks of " + std::to_string(block) +
        ", for process " + std::to_string(process) + ", from process " + std::to_string(source) + " on, of " +
        std::to_string(processes) +
        ", but n must not be negative, a block must have lines, and processes are counted from 0");
  const index_t blocks = n / block;  // whole ones
  const index_t distance = (process - source + processes) % processes;
  const index_t whole = blocks / processes + (distance < blocks % processes ? 1 : 0);
  return whole * block + (distance == blocks % processes ? n % block : 0);
}

layout::layout() : layout(tables()) {}

layout::layout(tables t) : tables_(std::make_shared<const tables>(std::move(t))) {}

layout::layout(const block_cyclic& b) {
  const process_grid& g = b.grid;
  if (b.rows < 0 || b.cols < 0)
    refuse("is " + shape_of(b.rows, b.cols) + " but extents must not be negative");
  if (b.row_block < 1 || b.col_block < 1)
    refuse("blocks are " + shape_of(b.row_block, b.col_block) + " but must have elements");
  if (g.rows < 1 || g.cols < 1 || g.first < 0)
    refuse("the grid is " + shape_of(g.rows, g.cols) + " from rank " + std::to_string(g.first) +
           " on but must have ranks");
  if (b.row_source < 0 || b.row_source >= g.rows || b.col_source < 0 || b.col_source >= g.cols)
    refuse("the first block lies on process (" + std::to_string(b.row_source) + ", " +
           std::to_string(b.col_source) + ") but the grid is " + shape_of(g.rows, g.cols));
  tables t;
  t.rows = cyclic_axis(b.rows, b.row_block, g.rows, b.row_source);
  t.cols = cyclic_axis(b.cols, b.col_block, g.cols, b.col_source);
  for (int p = 0; p < g.rows; ++p)
    for (int q = 0; q < g.cols; ++q) t.rank.push_back(g.rank_of(p, q));
  t.part.assign(t.rank.size(), 0);
  *this = layout(std::move(t));
}

layout layout::grid(std::vector<index_t> row_splits, std::vector<index_t> col_splits,
                    std::vector<int> owners) {
  tables t;
  t.rows = cut_axis("row_splits", row_splits);
  t.cols = cut_axis("col_splits", col_splits);
  if (owners.size() != t.rows.at.size() * t.cols.at.size())
    refuse("there are " + std::to_string(owners.size()) + " owners but " +
           shape_of(index_t(t.rows.at.size()), index_t(t.cols.at.size())) + " blocks");
  if (std::any_of(owners.begin(), owners.end(), [](int rank) { return rank < 0; }))
    refuse("an owner is negative but must be a rank");
  std::vector<int> count(owners.empty() ? 0
                                        : std::size_t(*std::max_element(owners.begin(), owners.end())) + 1);
  for (const int rank : owners) t.part.push_back(count[std::size_t(rank)]++);
  t.rank = std::move(owners);
  return layout(std::move(t));
}

layout layout::on_rank(index_t rows, index_t cols, int rank) { return grid({0, rows}, {0, cols}, {rank}); }

index_t layout::rows() const { return tables_->rows.begin.back(); }
index_t layout::cols() const { return tables_->cols.begin.back(); }

int layout::ranks() const {
  const auto& rank = tables_->rank;
  return rank.empty() ? 0 : *std::max_element(rank.begin(), rank.end()) + 1;
}

layout::place layout::locate(index_t i, index_t j) const {
  if (i < 0 || i >= rows() || j < 0 || j >= cols())
    refuse("there is no element (" + std::to_string(i) + ", " + std::to_string(j) + ") in " +
           shape_of(rows(), cols()));
  const axis &r = tables_->rows, &c = tables_->cols;
  const std::size_t x = block_of(r, i), y = block_of(c, j);
  const std::size_t cell = std::size_t(r.process[x]) * std::size_t(c.processes) + std::size_t(c.process[y]);
  return {tables_->rank[cell], tables_->part[cell], r.at[x] + i - r.begin[x], c.at[y] + j - c.begin[y]};
}

std::pair<index_t, index_t> layout::to_global(int rank, int part, index_t row, index_t col) const {
  const tables& t = *tables_;
  for (std::size_t cell = 0; cell < t.rank.size(); ++cell) {
    if (t.rank[cell] != rank || t.part[cell] != part) continue;
    const index_t i = global_at(t.rows, int(cell) / t.cols.processes, row);
    const index_t j = global_at(t.cols, int(cell) % t.cols.processes, col);
    if (i >= 0 && j >= 0) return {i, j};
  }
  refuse("rank " + std::to_string(rank) + " has no element at (" + std::to_string(row) + ", " +
         std::to_string(col) + ") of its part " + std::to_string(part));
}

int layout::parts(int rank) const {
  return int(std::count(tables_->rank.begin(), tables_->rank.end(), rank));
}

layout::extents layout::part_extents(int rank, int part) const {
  const tables& t = *tables_;
  for (std::size_t cell = 0; cell < t.rank.size(); ++cell)
    if (t.rank[cell] == rank && t.part[cell] == part) {
      return {end_in_part(t.rows, int(cell) / t.cols.processes),
              end_in_part(t.cols, int(cell) % t.cols.processes)};
    }
  return {};
}

std::vector<index_t> layout::sizes() const {
  const tables& t = *tables_;
  const std::vector<index_t> rows = lengths(t.rows), cols = lengths(t.cols);
  std::vector<index_t> of_rank(std::size_t(ranks()), 0);
  for (std::size_t cell = 0; cell < t.rank.size(); ++cell)
    of_rank[std::size_t(t.rank[cell])] += rows[cell / cols.size()] * cols[cell % cols.size()];
  return of_rank;
}

layout layout::sub(index_t i, index_t j, index_t rows, index_t cols) const {
  if (i < 0 || j < 0 || rows < 0 || cols < 0 || rows > this->rows() - i || cols > this->cols() - j)
    refuse(shape_of(rows, cols) + " from (" + std::to_string(i) + ", " + std::to_string(j) +
           ") on is not inside " + shape_of(this->rows(), this->cols()));
  tables t = *tables_;
  t.rows = clip(t.rows, i, rows);
  t.cols = clip(t.cols, j, cols);
  return layout(std::move(t));
}

layout layout::transposed() const {
  const tables& t = *tables_;
  tables turned;
  turned.rows = t.cols;
  turned.cols = t.rows;
  for (int q = 0; q < t.cols.processes; ++q)
    for (int p = 0; p < t.rows.processes; ++p) {
      turned.rank.push_back(t.rank[std::size_t(p) * std::size_t(t.cols.processes) + std::size_t(q)]);
      turned.part.push_back(t.part[std::size_t(p) * std::size_t(t.cols.processes) + std::size_t(q)]);
    }
  return layout(std::move(turned));
}

bool layout::same_places(const layout& other) const {
  const auto same = [](const axis& x, const axis& y) {
    const axis one = joined(x), two = joined(y);
    return one.processes == two.processes && one.begin == two.begin && one.at == two.at &&
           one.process == two.process;
  };
  const tables &x = *tables_, &y = *other.tables_;
  return x.rank == y.rank && x.part == y.part && same(x.rows, y.rows) && same(x.cols, y.cols);
}

bool layout::operator==(const layout& other) const {
  return tables_ == other.tables_ || *tables_ == *other.tables_;
}

std::uint64_t layout::fingerprint() const {
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a, a number at a time
  const auto add = [&](const auto& values) {
    hash = (hash ^ values.size()) * 1099511628211ull;
    for (const auto value : values) hash = (hash ^ std::uint64_t(value)) * 1099511628211ull;
  };
  for (const axis* a : {&tables_->rows, &tables_->cols}) add(a->begin), add(a->at), add(a->process);
  add(tables_->rank), add(tables_->part);
  return hash;
}

std::string layout::to_string() const {
  const tables& t = *tables_;
  return shape_of(rows(), cols()) + " in " + shape_of(index_t(t.rows.at.size()), index_t(t.cols.at.size())) +
         " blocks on " + std::to_string(ranks()) + " ranks, fingerprint " + std::to_string(fingerprint());
}

}  // namespace keramos::dist
