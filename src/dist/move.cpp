#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <tuple>

#include <keramos/dist/move.hpp>

namespace keramos::detail {
namespace {

std::string shape_of(index_t rows, index_t cols) { return std::to_string(rows) + "x" + std::to_string(cols); }

/// Where elements of each process of `mine` stand in their part, by the process of `other` that has them too.
void intersect(const dist::layout::axis& mine, const dist::layout::axis& other,
               const std::vector<bool>& wanted, std::map<std::pair<int, int>, std::vector<index_t>>& lists) {
  std::size_t o = 0;
  for (std::size_t b = 0; b < mine.at.size(); ++b) {
    const index_t begin = mine.begin[b], end = mine.begin[b + 1];
    if (!wanted[std::size_t(mine.process[b])]) continue;
    while (o < other.at.size() && other.begin[o + 1] <= begin) ++o;
    for (std::size_t x = o; x < other.at.size() && other.begin[x] < end; ++x) {
      const index_t from = std::max(begin, other.begin[x]), to = std::min(end, other.begin[x + 1]);
      if (from >= to) continue;
      auto& list = lists[{mine.process[b], other.process[x]}];
      for (index_t i = from; i < to; ++i) list.push_back(mine.at[b] + i - begin);
    }
  }
}

/// Rectangles of the pieces of a route. Lists of rows and columns lie where kernels read them; those without gaps are none.
class rectangles {
 public:
  rectangles(dist::communicator& comm, const dist_operand& x, const dist_route& route)
      : x_(x), account_(comm.pool()) {
    for (const auto& p : route.pieces())
      for (const auto* list : {p.rows, p.cols})
        if (!follow_one_another(*list) && begin_.try_emplace(list, all_.size()).second)
          all_.insert(all_.end(), list->begin(), list->end());
    lists_ = all_.data();
    if (is_host || all_.empty()) return;
    const std::size_t bytes = all_.size() * sizeof(index_t);
    on_device_ = dist_memory(account_, index_t(bytes));
    comm.queue().memcpy(on_device_.data(), all_.data(), bytes);
    lists_ = reinterpret_cast<const index_t*>(on_device_.data());
  }

  dist_rectangle operator()(const dist_route::piece& p) const {
    const region& part = x_.parts[std::size_t(p.part)];
    dist_rectangle r{
        const_cast<void*>(part.data), part.row_stride,        part.col_stride, list(p.rows), list(p.cols),
        index_t(p.rows->size()),      index_t(p.cols->size())};
    index_t first = 0;
    if (!r.rows) first += p.rows->front() * r.row_stride;
    if (!r.cols) first += p.cols->front() * r.col_stride;
    r.data = static_cast<char*>(r.data) + first * index_t(part.element_bytes);
    return r;
  }

 private:
  static constexpr bool is_host = backend::traits<dist::communicator::execution_space>::is_host;
  static bool follow_one_another(const std::vector<index_t>& list) {
    for (std::size_t i = 1; i < list.size(); ++i)
      if (list[i] != list[i - 1] + 1) return false;
    return true;
  }
  const index_t* list(const std::vector<index_t>* of) const {
    const auto found = begin_.find(of);
    return found == begin_.end() ? nullptr : lists_ + found->second;
  }

  const dist_operand& x_;
  dist_account account_;  // not the call's: lists are not counted
  std::map<const std::vector<index_t>*, std::size_t> begin_;
  std::vector<index_t> all_;
  const index_t* lists_ = nullptr;
  dist_memory on_device_;
};

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
  const index_t rows = index_t(p.rows->size()), cols = index_t(p.cols->size());
  return {data, by_columns ? 1 : cols, by_columns ? rows : 1, nullptr, nullptr, rows, cols};
}

bool is_same_place(const dist_rectangle& x, const dist_rectangle& y) {
  return x.data == y.data && x.row_stride == y.row_stride && x.col_stride == y.col_stride && !x.rows &&
         !y.rows && !x.cols && !y.cols;
}

index_t run_once(dist::communicator& comm, const dist_move& move, dist_account& account) {
  const int me = comm.rank();
  auto& q = comm.queue();
  const dist_route out(move.source.layout, move.target.layout, me, true);
  const dist_route in(move.target.layout, move.source.layout, me, false);
  const auto out_at = offsets(out, move.bytes, me), in_at = offsets(in, move.bytes, me);
  dist_memory sent, received;
  std::optional<rectangles> from, to;
  dist_allocate(comm, [&] {
    sent = dist_memory(account, index_t(out_at.back()));
    received = dist_memory(account, index_t(in_at.back()));
    from.emplace(comm, move.source, out);
    to.emplace(comm, move.target, in);
  });
  index_t from_others = 0;
  std::vector<dist::outgoing> outgoing;
  std::vector<dist::incoming> incoming;
  for_each_rank(in, in_at, me, [&](int rank, std::size_t at, std::size_t bytes) {
    incoming.push_back({rank, received.data() + at, bytes}), from_others += index_t(bytes);
  });
  for_each_rank(out, out_at, me, [&](int rank, std::size_t at, std::size_t bytes) {
    outgoing.push_back({rank, sent.data() + at, bytes});
  });
  const dist_transfer pack = dist_copy(move.bytes);
  std::vector<const dist_route::piece*> own;  // of what stays here no message is made
  for (std::size_t i = 0; i < out.pieces().size(); ++i) {
    const auto& p = out.pieces()[i];
    if (p.rank == me)
      own.push_back(&p);
    else
      pack(q, (*from)(p), message(sent.data() + out_at[i], p, move.by_columns));
  }
  comm.transfers().depends_on(q.completion());
  const auto transfers = comm.transport().start(outgoing, incoming);
  std::size_t next_own = 0;
  for (const auto& p : in.pieces()) {
    if (p.rank != me) continue;
    const dist_rectangle here = (*from)(*own[next_own++]), there = (*to)(p);
    if (!is_same_place(here, there)) move.transfer(q, here, there);
  }
  transfers->wait();
  for (std::size_t i = 0; i < in.pieces().size(); ++i) {
    const auto& p = in.pieces()[i];
    if (p.rank != me) move.transfer(q, message(received.data() + in_at[i], p, move.by_columns), (*to)(p));
  }
  q.wait_and_throw();
  return from_others;
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
  for (int part = 0; part < x.layout.parts(rank); ++part) {
    const auto needed = x.layout.part_extents(rank, part);
    if (needed.rows == 0 || needed.cols == 0) continue;
    const std::string which = std::string(x.name) + "'s part " + std::to_string(part);
    if (std::size_t(part) >= x.parts.size())
      refuse(which + " is missing but its layout gives " + std::to_string(x.layout.parts(rank)) +
             " parts to this rank");
    const region& r = x.parts[std::size_t(part)];
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

void dist_allocate(dist::communicator& comm, const std::function<void()>& allocate) {
  dist::failure why = dist::failure::none;
  std::string message =
      "keramos::dist: there is not enough memory; lower the option memory, or use more ranks";
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

index_t dist_run(dist::communicator& comm, const dist_move& move, dist_account& account, index_t memory) {
  const index_t rows = move.target.layout.rows(), cols = move.target.layout.cols();
  if (rows == 0 || cols == 0) return 0;
  std::vector<index_t> needed = move.source.layout.sizes();
  const std::vector<index_t> in = move.target.layout.sizes();
  needed.resize(std::max(needed.size(), in.size()));
  for (std::size_t r = 0; r < in.size(); ++r) needed[r] += in[r];
  // Every rank finds the same, so that they halve together.
  if (rows * cols == 1 || *std::max_element(needed.begin(), needed.end()) * move.bytes <= memory)
    return run_once(comm, move, account);
  index_t received = 0;
  const bool by_rows = rows >= cols;
  const index_t half = (by_rows ? rows : cols) / 2;
  for (const bool second : {false, true}) {
    const index_t i = by_rows && second ? half : 0, j = !by_rows && second ? half : 0;
    const index_t height = by_rows ? (second ? rows - half : half) : rows;
    const index_t width = by_rows ? cols : (second ? cols - half : half);
    dist_move part = move;
    part.source.layout = move.source.layout.sub(i, j, height, width);
    part.target.layout = move.target.layout.sub(i, j, height, width);
    received += dist_run(comm, part, account, memory);
  }
  return received;
}

index_t dist_redistribute(dist::communicator& comm, const dist_move& move, char op, const char* element,
                          index_t memory) {
  const std::string caller = "keramos::dist::redistribute";
  dist::failure why = dist::failure::none;
  std::string message;
  const auto &from = move.source.layout, &to = move.target.layout;
  try {
    if (from.rows() != to.rows() || from.cols() != to.cols())
      throw invalid_argument(caller + ": op(source) is " + shape_of(from.rows(), from.cols()) +
                             " but the target is " + shape_of(to.rows(), to.cols()) +
                             "; pass another op or fix the extents");
    dist_check(caller, move.source, comm.rank(), comm.size(), false);
    dist_check(caller, move.target, comm.rank(), comm.size(), true);
  } catch (const invalid_argument& e) {
    why = dist::failure::argument, message = e.what();
  }
  comm.agree("function: " + caller + "\nop: " + op + "\nelements: " + element +
                 "\nop(source): " + from.to_string() + "\nthe target: " + to.to_string() +
                 "\nmemory: " + std::to_string(memory) + "\n",
             why, message);
  dist_account account(comm.pool());
  const index_t received = dist_run(comm, move, account, memory);
  comm.pool().trim();
  return received;
}

void dist_for_each_own(dist::communicator& comm, const dist_operand& x,
                       const std::function<void(const dist_rectangle&)>& f) {
  const dist_route own(x.layout, x.layout, comm.rank(), true);
  std::optional<rectangles> of;
  dist_allocate(comm, [&] { of.emplace(comm, x, own); });
  for (const auto& p : own.pieces()) f((*of)(p));
  comm.queue().wait_and_throw();
}

}  // namespace keramos::detail
