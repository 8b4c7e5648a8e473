// Which elements go from a rank to which, by their layouts.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/elements.hpp>
#include <keramos/dist/memory.hpp>
#include <keramos/dist/operand.hpp>

namespace keramos::detail {

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

/// Of each part of a rank, which rows and columns of the whole matrix its rows and columns are: where kernels read.
class dist_numbers {
 public:
  KERAMOS_EXPORT dist_numbers(dist::communicator& comm, const dist::layout& l);
  /// A rectangle of a part, from its row and column on where it has no lists, with its numbers.
  KERAMOS_EXPORT dist_rectangle of(dist_rectangle r, int part, index_t row, index_t col) const;

 private:
  dist_account account_;                                    // not a call's
  std::vector<std::pair<std::size_t, std::size_t>> begin_;  // of each part's rows and columns
  std::vector<index_t> all_;
  const index_t* numbers_ = nullptr;
  dist_memory on_device_;
};

}  // namespace keramos::detail
