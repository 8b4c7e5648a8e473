// Elements on their way between ranks: packed by kernels, sent by the transport.
#pragma once

#include <exception>
#include <functional>

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/elements.hpp>
#include <keramos/dist/path.hpp>

namespace keramos::detail {

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

/// f(), which is what a call does when ranks have agreed on it. Others learn what this rank alone throws: they may wait for it.
template <class F>
auto dist_in_call(dist::communicator& comm, const F& f) {
  try {
    return f();
  } catch (const std::exception& e) {
    if (!comm.all_know()) comm.transport().leave(e.what());
    throw;
  }
}

struct dist_move {
  dist_operand source, target;
  dist_transfer transfer;                 ///< from where elements lie, or arrived, to the target
  bool by_columns = false;                ///< the order of elements in messages
  int part = -1;                          ///< the target's part that is wanted, if the path is local; -1: all
  bool writes = true;                     ///< whether the target is the caller's
  const dist_numbers* numbers = nullptr;  ///< of the target, for a transfer that takes them
};
/// Moves the elements, which lie as `path` says. `messages`: path.message_bytes() bytes for what is sent and received, aligned to
/// an element. Collective. The queue is not waited for, unless there are several turns. Returns the bytes received from others.
/// @throws memory_error, on all ranks, if one has no memory for a turn; error, if `writes` and it is not the first
KERAMOS_EXPORT index_t dist_run(dist::communicator& comm, const dist_path& path, const dist_move& move,
                                char* messages);
/// The same with all checks.
KERAMOS_EXPORT index_t dist_redistribute(dist::communicator& comm, const dist_move& move, int bytes, char op,
                                         const char* element, index_t memory);

/// f(rectangle) for each piece of this rank's parts, where kernels can use it; returns when they have. Collective.
KERAMOS_EXPORT void dist_for_each_own(dist::communicator& comm, const dist_operand& x, bool takes_numbers,
                                      const std::function<void(const dist_rectangle&)>& f);

}  // namespace keramos::detail
