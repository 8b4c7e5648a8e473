#include <algorithm>
#include <set>
#include <utility>

#include <keramos/dist/path.hpp>

namespace keramos::detail {
namespace {

/// Whether each element has the same rank in both layouts.
bool stays_on_ranks(const dist::layout& source, const dist::layout& target) {
  const auto &s = source.parts_of_all(), &t = target.parts_of_all();
  const auto pairs = [](const dist::layout::axis& x, const dist::layout::axis& y) {
    std::set<std::pair<int, int>> of_processes;
    for (std::size_t i = 0, j = 0; i < x.at.size() && j < y.at.size();) {
      const index_t begin = std::max(x.begin[i], y.begin[j]), x_end = x.begin[i + 1], y_end = y.begin[j + 1];
      if (begin < std::min(x_end, y_end)) of_processes.emplace(x.process[i], y.process[j]);
      i += x_end <= y_end, j += y_end <= x_end;
    }
    return of_processes;
  };
  const auto cols = pairs(s.cols, t.cols);
  for (const auto& [p, q] : pairs(s.rows, t.rows))
    for (const auto& [x, y] : cols)
      if (s.rank[std::size_t(p * s.cols.processes + x)] != t.rank[std::size_t(q * t.cols.processes + y)])
        return false;
  return true;
}

/// The bytes that pieces begin at in a message to all, and the end. What stays on rank `me` is in none.
std::vector<std::size_t> offsets(const dist_route& route, int bytes, int me) {
  std::vector<std::size_t> at{0};
  for (const auto& p : route.pieces())
    at.push_back(at.back() + (p.rank == me ? 0 : p.size() * std::size_t(bytes)));
  return at;
}

}  // namespace

dist_turn::dist_turn(dist::communicator& comm, const dist::layout& source, const dist::layout& target,
                     int bytes)
    : out(source, target, comm.rank(), true),
      in(target, source, comm.rank(), false),
      out_at(offsets(out, bytes, comm.rank())),
      in_at(offsets(in, bytes, comm.rank())),
      from(comm, out),
      to(comm, in) {}

dist_path::dist_path(dist::communicator& comm, const dist::layout& source, const dist::layout& target,
                     int bytes, index_t memory)
    : source_(source), target_(target), bytes_(bytes), memory_(memory) {
  const index_t rows = target.rows(), cols = target.cols();
  if (rows == 0 || cols == 0) return;
  // Every rank finds the same, so that they halve together.
  if (stays_on_ranks(source, target))
    turns_.push_back({0, 0, rows, cols});
  else
    divide({0, 0, rows, cols}, source, target, comm.rank());
  if (turns_.size() > 1) return;
  whole_ = std::make_unique<dist_turn>(comm, source, target, bytes);
  message_bytes_ = index_t(whole_->out_at.back() + whole_->in_at.back());
}

/// Halves an area of which source and target are given, until its messages fit.
void dist_path::divide(const area& x, const dist::layout& source, const dist::layout& target, int rank) {
  std::vector<index_t> needed = source.sizes();
  const std::vector<index_t> in = target.sizes();
  needed.resize(std::max(needed.size(), in.size()));
  for (std::size_t r = 0; r < in.size(); ++r) needed[r] += in[r];
  if (x.rows * x.cols == 1 || *std::max_element(needed.begin(), needed.end()) * bytes_ <= memory_) {
    turns_.push_back(x);
    if (std::size_t(rank) < needed.size())
      message_bytes_ = std::max(message_bytes_, needed[std::size_t(rank)] * bytes_);
    return;
  }
  const bool by_rows = x.rows >= x.cols;
  const index_t half = (by_rows ? x.rows : x.cols) / 2;
  for (const bool second : {false, true}) {
    area part = x;
    const index_t i = by_rows && second ? half : 0, j = !by_rows && second ? half : 0;
    part.i += i, part.j += j;
    (by_rows ? part.rows : part.cols) = second ? (by_rows ? x.rows : x.cols) - half : half;
    divide(part, source.sub(i, j, part.rows, part.cols), target.sub(i, j, part.rows, part.cols), rank);
  }
}

std::size_t dist_path::size() const {
  std::size_t bytes = turns_.size() * sizeof(area);
  for (const dist::layout* l : {&source_, &target_})
    for (const auto* a : {&l->parts_of_all().rows, &l->parts_of_all().cols})
      bytes += a->at.size() * (2 * sizeof(index_t) + sizeof(int));
  if (!whole_) return bytes;
  // Lists on a device have a copy on the host.
  return bytes + whole_->out.bytes() + whole_->in.bytes() + 2 * (whole_->from.bytes() + whole_->to.bytes());
}

}  // namespace keramos::detail
