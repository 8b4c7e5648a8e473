#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <keramos/dist/move.hpp>
#include <keramos/dist/remembered.hpp>

namespace keramos::detail {
namespace {

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

/// A rectangle of the target, with its numbers if they are wanted.
dist_rectangle numbered(const dist_move& move, const dist_rectangle& r, int part, index_t row, index_t col) {
  return move.numbers ? move.numbers->of(r, part, row, col) : r;
}
dist_rectangle target_of(const dist_move& move, const dist_turn& turn, const dist_route::piece& p) {
  return numbered(move, turn.to.rectangle(move.target, p), p.part, p.rows->stretches.front().begin,
                  p.cols->stretches.front().begin);
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
    move.transfer(comm.queue(), turn.from.rectangle(move.source, from), target_of(move, turn, to));
    return;
  }
  for_each_stretch(*from.rows, *to.rows, [&](index_t row, index_t to_row, index_t rows) {
    for_each_stretch(*from.cols, *to.cols, [&](index_t col, index_t to_col, index_t cols) {
      move.transfer(comm.queue(), block_of(here, row, rows, col, cols),
                    numbered(move, block_of(there, to_row, rows, to_col, cols), to.part, to_row, to_col));
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
      move.transfer(q, message(received + turn.in_at[i], p, move.by_columns), target_of(move, turn, p));
  }
  return from_others;
}

}  // namespace

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

index_t dist_run(dist::communicator& comm, const dist_path& path, const dist_move& move, char* messages) {
  if (path.whole()) return run_turn(comm, *path.whole(), path.bytes(), move, messages);
  index_t received = 0;
  for (const dist_path::area& x : path.turns()) {
    std::unique_ptr<const dist_turn> turn;
    try {
      dist_allocate(comm, [&] {
        turn = std::make_unique<dist_turn>(comm, path.source().sub(x.i, x.j, x.rows, x.cols),
                                           path.target().sub(x.i, x.j, x.rows, x.cols), path.bytes());
      });
    } catch (const memory_error& e) {  // on all ranks
      if (!move.writes || &x == &path.turns().front()) throw;
      throw error(std::string(e.what()) + "; parts of " + move.target.name + " are written already");
    }
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
  const index_t received = dist_in_call(comm, [&] {
    const index_t bytes_received = dist_run(comm, *path, move, messages.data());
    comm.queue().wait_and_throw();
    return bytes_received;
  });
  messages = dist_memory();
  comm.pool().trim();
  return received;
}

void dist_for_each_own(dist::communicator& comm, const dist_operand& x, bool takes_numbers,
                       const std::function<void(const dist_rectangle&)>& f) {
  std::optional<dist_route> own;
  std::unique_ptr<const dist_lists> lists;
  std::optional<dist_numbers> numbers;
  dist_allocate(comm, [&] {
    own.emplace(x.layout, x.layout, comm.rank(), true);
    lists = std::make_unique<dist_lists>(comm, *own);
    if (takes_numbers) numbers.emplace(comm, x.layout);
  });
  for (const auto& p : own->pieces()) {
    const dist_rectangle r = lists->rectangle(x, p);
    f(numbers ? numbers->of(r, p.part, p.rows->stretches.front().begin, p.cols->stretches.front().begin) : r);
  }
  comm.queue().wait_and_throw();
}

}  // namespace keramos::detail
