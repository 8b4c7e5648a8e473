#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <tuple>

#include <keramos/dist/move.hpp>
#include <keramos/dist/remembered.hpp>

namespace keramos::detail {
namespace {

std::string shape_of(index_t rows, index_t cols) { return std::to_string(rows) + "x" + std::to_string(cols); }

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

/// Calls f(rank, first byte, bytes) for what goes to or comes from each other rank.
template <class F>
void for_each_rank(const dist_route& route, const std::vector<std::size_t>& at, int me, const F& f) {
  const auto& pieces = route.pieces();
  for (std::size_t i = 0, j; i < pieces.size(); i = j) {
    for (j = i; j < pieces.size() && pieces[j].rank == pieces[i].rank;) ++j;
    if (pieces[i].rank != me) f(pieces[i].rank, at[i], at[j] - at[i]);
  }
}

/// The message of a piece.
dist_rectangle message(void* data, const dist_route::piece& p, bool by_columns) {
  const index_t rows = p.rows->count, cols = p.cols->count;
  return {data, by_columns ? 1 : cols, by_columns ? rows : 1, nullptr, nullptr, rows, cols};
}

/// f(line on one side, line on the other, how many) for lines that follow one another on both.
template <class F>
void for_each_stretch(const dist_lines& from, const dist_lines& to, const F& f) {
  std::size_t i = 0, j = 0;
  index_t of_from = 0, of_to = 0;  // lines of stretches i and j that are done
  while (i < from.stretches.size() && j < to.stretches.size()) {
    const auto &x = from.stretches[i], &y = to.stretches[j];
    const index_t count = std::min(x.end - x.begin - of_from, y.end - y.begin - of_to);
    f(x.begin + of_from, y.begin + of_to, count);
    of_from += count, of_to += count;
    if (x.begin + of_from == x.end) ++i, of_from = 0;
    if (y.begin + of_to == y.end) ++j, of_to = 0;
  }
}
/// Some rows and columns of a part, which follow one another.
dist_rectangle block_of(const region& part, index_t row, index_t rows, index_t col, index_t cols) {
  const index_t first = row * part.row_stride + col * part.col_stride;
  char* const data = static_cast<char*>(const_cast<void*>(part.data)) + first * index_t(part.element_bytes);
  return {data, part.row_stride, part.col_stride, nullptr, nullptr, rows, cols};
}

/// Copies a piece that stays on this rank: block by block if they are few and large, since kernels are faster without lists.
void copy_own(dist::communicator& comm, const dist_turn& turn, const dist_move& move,
              const dist_route::piece& from, const dist_route::piece& to) {
  const region& here = move.source.parts[std::size_t(from.part)];
  const region& there = move.target.parts[std::size_t(to.part)];
  if (here.data == there.data && here.row_stride == there.row_stride && here.col_stride == there.col_stride &&
      *from.rows == *to.rows && *from.cols == *to.cols)
    return;
  constexpr std::size_t few = 64, large = 1 << 16;  // blocks; bytes
  const auto stretches = [](const dist_lines& x, const dist_lines& y) {
    return x.stretches.size() + y.stretches.size() - 1;
  };
  const std::size_t blocks = stretches(*from.rows, *to.rows) * stretches(*from.cols, *to.cols);
  if (blocks > 1 && (blocks > few || from.size() * here.element_bytes < blocks * large)) {
    move.transfer(comm.queue(), turn.from.rectangle(move.source, from), turn.to.rectangle(move.target, to));
    return;
  }
  for_each_stretch(*from.rows, *to.rows, [&](index_t row, index_t to_row, index_t rows) {
    for_each_stretch(*from.cols, *to.cols, [&](index_t col, index_t to_col, index_t cols) {
      move.transfer(comm.queue(), block_of(here, row, rows, col, cols),
                    block_of(there, to_row, rows, to_col, cols));
    });
  });
}

index_t run_turn(dist::communicator& comm, const dist_turn& turn, int bytes, const dist_move& move,
                 char* messages) {
  const int me = comm.rank();
  auto& q = comm.queue();
  char* const sent = messages;
  char* const received = messages + turn.out_at.back();
  index_t from_others = 0;
  std::vector<dist::outgoing> outgoing;
  std::vector<dist::incoming> incoming;
  for_each_rank(turn.in, turn.in_at, me, [&](int rank, std::size_t at, std::size_t size) {
    incoming.push_back({rank, received + at, size}), from_others += index_t(size);
  });
  for_each_rank(turn.out, turn.out_at, me, [&](int rank, std::size_t at, std::size_t size) {
    outgoing.push_back({rank, sent + at, size});
  });
  const dist_transfer pack = dist_copy(bytes);
  std::vector<const dist_route::piece*> own;  // of what stays here no message is made
  for (std::size_t i = 0; i < turn.out.pieces().size(); ++i) {
    const auto& p = turn.out.pieces()[i];
    if (p.rank == me)
      own.push_back(&p);
    else
      pack(q, turn.from.rectangle(move.source, p), message(sent + turn.out_at[i], p, move.by_columns));
  }
  std::unique_ptr<dist::pending> transfers;
  if (!outgoing.empty() || !incoming.empty()) {
    // Behind what used the memory of messages before, too.
    comm.transfers().depends_on(q.completion());
    transfers = comm.transport().start(outgoing, incoming);
  }
  std::size_t next_own = 0;
  for (const auto& p : turn.in.pieces()) {
    if (p.rank != me) continue;
    const auto& from = *own[next_own++];
    if (move.part < 0 || move.part == p.part) copy_own(comm, turn, move, from, p);
  }
  if (transfers) transfers->wait();
  for (std::size_t i = 0; i < turn.in.pieces().size(); ++i) {
    const auto& p = turn.in.pieces()[i];
    if (p.rank != me)
      move.transfer(q, message(received + turn.in_at[i], p, move.by_columns),
                    turn.to.rectangle(move.target, p));
  }
  return from_others;
}

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

void dist_check(const std::string& caller, const dist_operand& x, int rank, int ranks, bool is_written) {
  const auto refuse = [&](const std::string& what) { throw invalid_argument(caller + ": " + what); };
  if (x.layout.ranks() > ranks)
    refuse(std::string(x.name) + "'s layout is for " + std::to_string(x.layout.ranks()) +
           " ranks but there are " + std::to_string(ranks));
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

void dist_allocate(dist::communicator& comm, const std::function<void()>& allocate) {
  dist::failure why = dist::failure::none;
  std::string message = dist_no_memory;
  try {
    allocate();
  } catch (const std::bad_alloc&) {
    why = dist::failure::memory;
  } catch (const memory_error&) {
    why = dist::failure::memory;
  } catch (const std::exception& e) {
    why = dist::failure::other, message = e.what();
  }
  comm.agree("allocation", why, message);
}

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

std::size_t dist_route::bytes() const {
  std::size_t bytes = pieces_.size() * sizeof(piece);
  for (const lines* all : {&rows_, &cols_})
    for (const auto& of : *all) bytes += of.second.stretches.size() * sizeof(dist_lines::stretch);
  return bytes;
}

index_t dist_run(dist::communicator& comm, const dist_path& path, const dist_move& move, char* messages) {
  if (path.whole()) return run_turn(comm, *path.whole(), path.bytes(), move, messages);
  index_t received = 0;
  for (const dist_path::area& x : path.turns()) {
    std::unique_ptr<const dist_turn> turn;
    dist_allocate(comm, [&] {
      turn = std::make_unique<dist_turn>(comm, path.source().sub(x.i, x.j, x.rows, x.cols),
                                         path.target().sub(x.i, x.j, x.rows, x.cols), path.bytes());
    });
    received += run_turn(comm, *turn, path.bytes(), move, messages);
    comm.queue().wait_and_throw();  // its lists are freed
  }
  return received;
}

index_t dist_redistribute(dist::communicator& comm, const dist_move& move, int bytes, char op,
                          const char* element, index_t memory) {
  const std::string caller = "keramos::dist::redistribute";
  dist::failure why = dist::failure::none;
  std::string message;
  const auto &from = move.source.layout, &to = move.target.layout;
  std::shared_ptr<const dist_path> path;
  dist_account account(comm.pool());
  dist_memory messages;
  try {
    if (from.rows() != to.rows() || from.cols() != to.cols())
      throw invalid_argument(caller + ": op(source) is " + shape_of(from.rows(), from.cols()) +
                             " but the target is " + shape_of(to.rows(), to.cols()) +
                             "; pass another op or fix the extents");
    dist_check(caller, move.source, comm.rank(), comm.size(), false);
    dist_check(caller, move.target, comm.rank(), comm.size(), true);
    dist_with_memory(comm, [&] {
      path = comm.remembered().paths.get(
          [&](const dist_path& known) { return known.is_for(from, to, bytes, memory); },
          [&] { return std::make_shared<dist_path>(comm, from, to, bytes, memory); });
      messages = dist_memory(account, path->message_bytes());
    });
  } catch (const invalid_argument& e) {
    why = dist::failure::argument, message = e.what();
  } catch (const memory_error&) {
    why = dist::failure::memory, message = dist_no_memory;
  } catch (const std::bad_alloc&) {
    why = dist::failure::memory, message = dist_no_memory;
  } catch (const std::exception& e) {
    why = dist::failure::other, message = e.what();
  }
  comm.agree("function: " + caller + "\nop: " + op + "\nelements: " + element +
                 "\nop(source): " + from.to_string() + "\nthe target: " + to.to_string() +
                 "\nmemory: " + std::to_string(memory) + "\n",
             why, message);
  const index_t received = dist_run(comm, *path, move, messages.data());
  comm.queue().wait_and_throw();
  messages = dist_memory();
  comm.pool().trim();
  return received;
}

void dist_for_each_own(dist::communicator& comm, const dist_operand& x,
                       const std::function<void(const dist_rectangle&)>& f) {
  std::optional<dist_route> own;
  std::unique_ptr<const dist_lists> lists;
  dist_allocate(comm, [&] {
    own.emplace(x.layout, x.layout, comm.rank(), true);
    lists = std::make_unique<dist_lists>(comm, *own);
  });
  for (const auto& p : own->pieces()) f(lists->rectangle(x, p));
  comm.queue().wait_and_throw();
}

}  // namespace keramos::detail
