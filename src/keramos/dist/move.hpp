// Elements on their way between ranks: which go where, packed by kernels, sent by the transport.
#pragma once

#include <map>
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

/// What a rank sends to others of `mine`, or receives of it from others, where `other` is the layout on the other side.
class dist_route {
 public:
  /// Elements of one part: rows x columns, local.
  struct piece {
    int rank, part;
    const std::vector<index_t>* rows;
    const std::vector<index_t>* cols;
    std::size_t size() const { return rows->size() * cols->size(); }
  };
  KERAMOS_EXPORT dist_route(const dist::layout& mine, const dist::layout& other, int rank, bool is_source);
  dist_route(const dist_route&) = delete;
  dist_route& operator=(const dist_route&) = delete;
  /// By rank, and those of one rank in an order that both sides know.
  const std::vector<piece>& pieces() const { return pieces_; }

 private:
  using lists = std::map<std::pair<int, int>, std::vector<index_t>>;  // by process of mine and of other
  lists rows_, cols_;
  std::vector<piece> pieces_;
};

/// Runs `allocate`; if memory is short on some rank, all throw memory_error, and if it throws another exception, error.
/// Collective.
KERAMOS_EXPORT void dist_allocate(dist::communicator& comm, const std::function<void()>& allocate);

struct dist_move {
  int bytes = 0;  ///< of an element
  dist_operand source, target;
  dist_transfer transfer;   ///< from where elements lie, or arrived, to the target
  bool by_columns = false;  ///< the order of elements in messages
};
/// Moves the elements, in turns if their messages take more than `memory` bytes on some rank. Collective; extents agree.
/// Returns the bytes received from others.
KERAMOS_EXPORT index_t dist_run(dist::communicator& comm, const dist_move& move, dist_account& account,
                                index_t memory);
/// The same with all checks.
KERAMOS_EXPORT index_t dist_redistribute(dist::communicator& comm, const dist_move& move, char op,
                                         const char* element, index_t memory);

/// f(rectangle) for each piece of this rank's parts, where kernels can use it; returns when they have. Collective.
KERAMOS_EXPORT void dist_for_each_own(dist::communicator& comm, const dist_operand& x,
                                      const std::function<void(const dist_rectangle&)>& f);

}  // namespace keramos::detail
