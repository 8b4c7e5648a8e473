// From one layout to another: `dist::redistribute(comm, op::N, source, target);`
#pragma once

#include <type_traits>

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/elements.hpp>
#include <keramos/dist/matrix.hpp>
#include <keramos/dist/move.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::dist {

struct redistribute_options {
  /// Bytes that a rank may allocate for messages: more than that is sent in turns.
  index_t memory = index_t(1) << 62;
};

/// target ← op(source), from any layout to any other. Collective; returns when the data is there.
///
/// @param source, target  of one element type that a product knows; op(source) has target's extents. They must not overlap.
/// @return the bytes that this rank received from others.
/// @throws invalid_argument, with one message on all ranks, if extents, layouts or elements disagree, a part is smaller than
///         its layout says, or has no data; memory_error likewise; target is untouched then. error likewise, if memory ends
///         between two turns; communication_error: target may be partly written.
template <class TS, class TT>
index_t redistribute(communicator& comm, op how, const matrix<TS>& source, const matrix<TT>& target,
                     const redistribute_options& options = {}) {
  using element = std::remove_const_t<TS>;
  static_assert(!std::is_const_v<TT>,
                "keramos::dist::redistribute: the target is written; its elements must not be const");
  static_assert(keramos::detail::dist_same_elements<element, TT>(),
                "keramos::dist::redistribute: source and target must have one element type");
  keramos::detail::dist_move move;
  move.source = keramos::detail::dist_operand_of("the source", source);
  if (how != op::N) move.source = move.source.transposed();
  move.target = keramos::detail::dist_operand_of("the target", target);
  move.transfer = keramos::detail::dist_copy(int(sizeof(element)),
                                             keramos::detail::dist_conjugates<element>(how == op::C));
  return keramos::detail::dist_redistribute(comm, move, int(sizeof(element)), char(how),
                                            keramos::detail::dist_element_name<element>(), options.memory);
}

}  // namespace keramos::dist
