// Elements on their way between ranks: which go where, packed by kernels, sent by the transport.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/elements.hpp>
#include <keramos/dist/matrix.hpp>
#include <keramos/dist/memory.hpp>
#include <keramos/gemm/check.hpp>

namespace keramos::detail {

/// A distributed matrix without its type.
struct dist_operand {
  const char* name = "";
  dist::layout layout;
  std::vector<region> parts;

  dist_operand transposed() const;
};
template <class T>
dist_operand dist_operand_of(const char* name, const dist::matrix<T>& m) {
  dist_operand o{name, m.layout(), {}};
  for (const auto& part : m.parts()) o.parts.push_back(region_of(name, part));
  return o;
}

/// @throws invalid_argument unless this rank's parts are as the layout says, and their elements apart if they are written.
KERAMOS_EXPORT void dist_check(const std::string& caller, const dist_operand& x, int rank, int ranks,
                               bool is_written);

/// Lines of a part, by stretches that follow one another: their number is that of blocks, not of lines.
struct dist_lines {
  struct stretch {
    index_t begin, end;
    bool operator==(const stretch&) const = default;
  };
  std::vector<stretch> stretches;
  index_t count = 0;
  bool operator==(const dist_lines&) const = default;

  void add(index_t begin, index_t end) {
    if (!stretches.empty() && stretches.back().end == begin)
      stretches.back().end = end;
    else
      stretches.push_back({begin, end});
    count += end - begin;
  }
};

/// What a rank sends to others of `mine`, or receives of it from others, where `other` is the layout on the other side.
class dist_route {
 public:
  /// Elements of one part: rows x columns, local.
  struct piece {
    int rank, part;
    const dist_lines* rows;
    const dist_lines* cols;
    std::size_t size() const { return std::size_t(rows->count) * std::size_t(cols->count); }
  };
  KERAMOS_EXPORT dist_route(const dist::layout& mine, const dist::layout& other, int rank, bool is_source);
  dist_route(const dist_route&) = delete;
  dist_route& operator=(const dist_route&) = delete;
  /// By rank, and those of one rank in an order that both sides know.
  const std::vector<piece>& pieces() const { return pieces_; }
  /// Of the host's memory, by and large.
  std::size_t bytes() const;

 private:
  using lines = std::map<std::pair<int, int>, dist_lines>;  // by process of mine and of other
  lines rows_, cols_;
  std::vector<piece> pieces_;
};

/// Rectangles of a route's pieces. Those of which lines have gaps need lists of them, where kernels read.
class dist_lists {
 public:
  KERAMOS_EXPORT dist_lists(dist::communicator& comm, const dist_route& route);
  /// Of parts of `x`, which lies as the route says.
  KERAMOS_EXPORT dist_rectangle rectangle(const dist_operand& x, const dist_route::piece& p) const;
  std::size_t bytes() const { return all_.size() * sizeof(index_t); }

 private:
  const index_t* list(const dist_lines* of) const;

  dist_account account_;  // not a call's: lists are not counted
  std::map<const dist_lines*, std::size_t> begin_;
  std::vector<index_t> all_;
  const index_t* lists_ = nullptr;
  dist_memory on_device_;
};

/// Runs `allocate`; if memory is short on some rank, all throw memory_error, and if it throws another exception, error.
/// Collective.
KERAMOS_EXPORT void dist_allocate(dist::communicator& comm, const std::function<void()>& allocate);
/// `allocate()`; where memory is short, once more when what the communicator keeps is freed: what it remembers holds memory of
/// the device.
template <class F>
auto dist_with_memory(dist::communicator& comm, const F& allocate) {
  try {
    return allocate();
  } catch (const memory_error&) {
    comm.free_memory();
    return allocate();
  }
}
/// What a rank says that has no memory left.
inline constexpr const char* dist_no_memory =
    "keramos::dist: there is not enough memory; lower the option memory, or use more ranks";

/// What this rank sends, receives and keeps when elements of some bytes go from one layout to another at once.
struct dist_turn {
  dist_route out, in;
  std::vector<std::size_t> out_at, in_at;  ///< the byte at which each piece begins in messages, and the end
  dist_lists from, to;

  KERAMOS_EXPORT dist_turn(dist::communicator& comm, const dist::layout& source, const dist::layout& target,
                           int bytes);
};

/// How elements get from one layout to another, as far as layouts say it; without data, so that it serves many calls. In turns,
/// the same on all ranks, if messages take more than `memory` bytes on some rank. Of one turn all is made here, of several each
/// when it comes. Not collective; extents agree.
class dist_path {
 public:
  struct area {
    index_t i, j, rows, cols;
  };

  KERAMOS_EXPORT dist_path(dist::communicator& comm, const dist::layout& source, const dist::layout& target,
                           int bytes, index_t memory);
  bool is_for(const dist::layout& source, const dist::layout& target, int bytes, index_t memory) const {
    return bytes_ == bytes && memory_ == memory && source_ == source && target_ == target;
  }
  /// What messages take on this rank, at most.
  index_t message_bytes() const { return message_bytes_; }
  /// Whether this rank neither sends nor receives.
  bool is_local() const { return whole_ && message_bytes_ == 0; }
  /// None if extents are 0.
  const std::vector<area>& turns() const { return turns_; }
  /// The only turn; null if there are several.
  const dist_turn* whole() const { return whole_.get(); }
  const dist::layout& source() const { return source_; }
  const dist::layout& target() const { return target_; }
  int bytes() const { return bytes_; }
  /// Bytes of memory that it holds, by and large.
  std::size_t size() const;

 private:
  void divide(const area& x, const dist::layout& source, const dist::layout& target, int rank);

  dist::layout source_, target_;
  int bytes_;
  index_t memory_, message_bytes_ = 0;
  std::vector<area> turns_;
  std::unique_ptr<const dist_turn> whole_;
};

struct dist_move {
  dist_operand source, target;
  dist_transfer transfer;   ///< from where elements lie, or arrived, to the target
  bool by_columns = false;  ///< the order of elements in messages
  int part = -1;            ///< the target's part that is wanted, if the path is local; -1: all
};
/// Moves the elements, which lie as `path` says. `messages`: path.message_bytes() bytes for what is sent and received, aligned to
/// an element. Collective. The queue is not waited for, unless there are several turns. Returns the bytes received from others.
KERAMOS_EXPORT index_t dist_run(dist::communicator& comm, const dist_path& path, const dist_move& move,
                                char* messages);
/// The same with all checks.
KERAMOS_EXPORT index_t dist_redistribute(dist::communicator& comm, const dist_move& move, int bytes, char op,
                                         const char* element, index_t memory);

/// f(rectangle) for each piece of this rank's parts, where kernels can use it; returns when they have. Collective.
KERAMOS_EXPORT void dist_for_each_own(dist::communicator& comm, const dist_operand& x,
                                      const std::function<void(const dist_rectangle&)>& f);

}  // namespace keramos::detail
