#include <algorithm>
#include <tuple>

#include <keramos/dist/route.hpp>

namespace keramos::detail {
namespace {

constexpr bool is_host = backend::traits<dist::communicator::execution_space>::is_host;

/// Where lines of each process of `mine` stand in their part, by the process of `other` that has them too.
void intersect(const dist::layout::axis& mine, const dist::layout::axis& other,
               const std::vector<bool>& wanted, std::map<std::pair<int, int>, dist_lines>& lists) {
  std::size_t o = 0;
  for (std::size_t b = 0; b < mine.at.size(); ++b) {
    const index_t begin = mine.begin[b], end = mine.begin[b + 1];
    if (!wanted[std::size_t(mine.process[b])]) continue;
    while (o < other.at.size() && other.begin[o + 1] <= begin) ++o;
    for (std::size_t x = o; x < other.at.size() && other.begin[x] < end; ++x) {
      const index_t from = std::max(begin, other.begin[x]), to = std::min(end, other.begin[x + 1]);
      if (from < to)
        lists[{mine.process[b], other.process[x]}].add(mine.at[b] + from - begin, mine.at[b] + to - begin);
    }
  }
}

}  // namespace

dist_route::dist_route(const dist::layout& mine, const dist::layout& other, int rank, bool is_source) {
  const auto &m = mine.parts_of_all(), &o = other.parts_of_all();
  std::vector<bool> my_rows(std::size_t(m.rows.processes)), my_cols(std::size_t(m.cols.processes));
  std::vector<std::size_t> cells;
  for (std::size_t cell = 0; cell < m.rank.size(); ++cell)
    if (m.rank[cell] == rank) {
      cells.push_back(cell);
      my_rows[cell / my_cols.size()] = my_cols[cell % my_cols.size()] = true;
    }
  intersect(m.rows, o.rows, my_rows, rows_);
  intersect(m.cols, o.cols, my_cols, cols_);
  // By rank, then cell of the source, then of the target.
  std::vector<std::tuple<int, std::size_t, std::size_t, piece>> sorted;
  for (const std::size_t cell : cells) {
    const int p = int(cell / my_cols.size()), q = int(cell % my_cols.size());
    for (auto r = rows_.lower_bound({p, 0}); r != rows_.end() && r->first.first == p; ++r)
      for (auto c = cols_.lower_bound({q, 0}); c != cols_.end() && c->first.first == q; ++c) {
        const std::size_t there =
            std::size_t(r->first.second) * std::size_t(o.cols.processes) + std::size_t(c->first.second);
        sorted.emplace_back(o.rank[there], is_source ? cell : there, is_source ? there : cell,
                            piece{o.rank[there], m.part[cell], &r->second, &c->second});
      }
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& x, const auto& y) {
    return std::tie(std::get<0>(x), std::get<1>(x), std::get<2>(x)) <
           std::tie(std::get<0>(y), std::get<1>(y), std::get<2>(y));
  });
  for (const auto& s : sorted) pieces_.push_back(std::get<3>(s));
}

std::size_t dist_route::bytes() const {
  std::size_t bytes = pieces_.size() * sizeof(piece);
  for (const lines* all : {&rows_, &cols_})
    for (const auto& of : *all) bytes += of.second.stretches.size() * sizeof(dist_lines::stretch);
  return bytes;
}

dist_lists::dist_lists(dist::communicator& comm, const dist_route& route) : account_(comm.pool()) {
  for (const auto& p : route.pieces())
    for (const dist_lines* lines : {p.rows, p.cols})
      if (lines->stretches.size() > 1 && begin_.try_emplace(lines, all_.size()).second)
        for (const auto& s : lines->stretches)
          for (index_t i = s.begin; i < s.end; ++i) all_.push_back(i);
  lists_ = all_.data();
  if (is_host || all_.empty()) return;
  on_device_ = dist_memory(account_, index_t(bytes()));
  comm.queue().memcpy(on_device_.data(), all_.data(), bytes());
  lists_ = reinterpret_cast<const index_t*>(on_device_.data());
}

dist_rectangle dist_lists::rectangle(const dist_operand& x, const dist_route::piece& p) const {
  const region& part = x.parts[std::size_t(p.part)];
  dist_rectangle r{const_cast<void*>(part.data),
                   part.row_stride,
                   part.col_stride,
                   list(p.rows),
                   list(p.cols),
                   p.rows->count,
                   p.cols->count};
  index_t first = 0;
  if (!r.rows) first += p.rows->stretches.front().begin * r.row_stride;
  if (!r.cols) first += p.cols->stretches.front().begin * r.col_stride;
  r.data = static_cast<char*>(r.data) + first * index_t(part.element_bytes);
  return r;
}

const index_t* dist_lists::list(const dist_lines* of) const {
  const auto found = begin_.find(of);
  return found == begin_.end() ? nullptr : lists_ + found->second;
}

dist_numbers::dist_numbers(dist::communicator& comm, const dist::layout& l) : account_(comm.pool()) {
  const dist::layout::tables& t = l.parts_of_all();
  begin_.resize(std::size_t(l.parts(comm.rank())));
  const auto add = [&](const dist::layout::axis& a, std::size_t process) {
    const std::size_t begin = all_.size();
    for (std::size_t b = 0; b < a.at.size(); ++b) {
      if (std::size_t(a.process[b]) != process) continue;
      const index_t length = a.begin[b + 1] - a.begin[b];
      all_.resize(std::max(all_.size(), begin + std::size_t(a.at[b] + length)));
      for (index_t i = 0; i < length; ++i) all_[begin + std::size_t(a.at[b] + i)] = a.begin[b] + i;
    }
    return begin;
  };
  const auto cols = std::size_t(t.cols.processes);
  for (std::size_t cell = 0; cell < t.rank.size(); ++cell) {
    if (t.rank[cell] != comm.rank()) continue;
    const std::size_t of_rows = add(t.rows, cell / cols), of_cols = add(t.cols, cell % cols);
    begin_[std::size_t(t.part[cell])] = {of_rows, of_cols};
  }
  numbers_ = all_.data();
  if (is_host || all_.empty()) return;
  const std::size_t bytes = all_.size() * sizeof(index_t);
  on_device_ = dist_memory(account_, index_t(bytes));
  comm.queue().memcpy(on_device_.data(), all_.data(), bytes);
  numbers_ = reinterpret_cast<const index_t*>(on_device_.data());
}

dist_rectangle dist_numbers::of(dist_rectangle r, int part, index_t row, index_t col) const {
  const auto& [rows, cols] = begin_[std::size_t(part)];
  r.row_numbers = numbers_ + rows + (r.rows ? 0 : row);
  r.col_numbers = numbers_ + cols + (r.cols ? 0 : col);
  return r;
}

}  // namespace keramos::detail
