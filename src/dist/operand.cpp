#include <algorithm>
#include <cstdint>
#include <utility>

#include <keramos/dist/operand.hpp>

namespace keramos::detail {
namespace {

/// What parts of a rank must have at least.
std::vector<dist::layout::extents> extents_of_parts(const dist::layout& l, int rank) {
  const auto& t = l.parts_of_all();
  const auto ends = [](const dist::layout::axis& a) {
    std::vector<index_t> end(std::size_t(a.processes), 0);
    for (std::size_t b = 0; b < a.at.size(); ++b) {
      index_t& of_process = end[std::size_t(a.process[b])];
      of_process = std::max(of_process, a.at[b] + a.begin[b + 1] - a.begin[b]);
    }
    return end;
  };
  const std::vector<index_t> rows = ends(t.rows), cols = ends(t.cols);
  std::vector<dist::layout::extents> all(std::size_t(l.parts(rank)));
  for (std::size_t cell = 0; cell < t.rank.size(); ++cell)
    if (t.rank[cell] == rank)
      all[std::size_t(t.part[cell])] = {rows[cell / cols.size()], cols[cell % cols.size()]};
  return all;
}

}  // namespace

dist_operand dist_operand::transposed() const {
  dist_operand t{name, layout.transposed(), parts};
  for (region& p : t.parts) std::swap(p.rows, p.cols), std::swap(p.row_stride, p.col_stride);
  return t;
}

void dist_check_ranks(const std::string& caller, const dist_operand& x, int ranks) {
  if (x.layout.ranks() > ranks)
    throw invalid_argument(caller + ": " + x.name + "'s layout is for " + std::to_string(x.layout.ranks()) +
                           " ranks but there are " + std::to_string(ranks));
}

void dist_check(const std::string& caller, const dist_operand& x, int rank, int ranks, bool is_written) {
  const auto refuse = [&](const std::string& what) { throw invalid_argument(caller + ": " + what); };
  dist_check_ranks(caller, x, ranks);
  const std::vector<dist::layout::extents> all_needed = extents_of_parts(x.layout, rank);
  for (std::size_t part = 0; part < all_needed.size(); ++part) {
    const auto& needed = all_needed[part];
    if (needed.rows == 0 || needed.cols == 0) continue;
    const std::string which = std::string(x.name) + "'s part " + std::to_string(part);
    if (part >= x.parts.size())
      refuse(which + " is missing but its layout gives " + std::to_string(all_needed.size()) +
             " parts to this rank");
    const region& r = x.parts[part];
    if (r.rows < needed.rows || r.cols < needed.cols)
      refuse(which + " is " + shape_of(r.rows, r.cols) + " but its layout needs " +
             shape_of(needed.rows, needed.cols) + " on this rank");
    if (reinterpret_cast<std::uintptr_t>(r.data) % r.element_bytes != 0)
      refuse("the address of " + which + " is no multiple of " + std::to_string(r.element_bytes) +
             ", the bytes of its elements; align its memory so");
    if (r.data == nullptr)
      refuse(which + " is " + shape_of(r.rows, r.cols) + " but its data is null; allocate it");
    if (is_written && writes_twice(r))
      refuse(which + " has strides " + shape_of(r.row_stride, r.col_stride) +
             " with which its elements share memory; use strides that keep them apart");
  }
}

}  // namespace keramos::detail
