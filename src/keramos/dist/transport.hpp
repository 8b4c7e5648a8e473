// What carries bytes between ranks. Everything that products and redistribution move goes through one call, so that another
// transport is another class and nothing else.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <keramos/base/export.hpp>

namespace keramos::dist {

struct outgoing {
  int to = 0;
  const void* data = nullptr;
  std::size_t bytes = 0;
};
struct incoming {
  int from = 0;
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Transfers under way. Their memory must not be touched, sent memory not be written, before wait() has returned.
class KERAMOS_EXPORT pending {
 public:
  virtual ~pending() = default;
  /// Lets transfers go on that need the processor for it. Returns whether everything is sent and received, as far as that is
  /// known without waiting. @throws communication_error
  virtual bool progress() = 0;
  /// Whether they are work on communicator::transfers(): what is queued there next begins after them.
  virtual bool is_queued() const { return false; }
  /// Returns when everything is sent and received. @throws communication_error
  virtual void wait() = 0;
};

class KERAMOS_EXPORT transport {
 public:
  virtual ~transport() = default;
  /// "MPI", "NCCL 2.28.3", ...: what explain prints.
  virtual std::string name() const = 0;
  /// Begins transfers of any sizes, also none, behind the work that communicator::transfers() holds. Between two ranks they
  /// arrive in the order in which they were begun; both give the same sizes. @throws communication_error
  virtual std::unique_ptr<pending> start(const std::vector<outgoing>& out,
                                         const std::vector<incoming>& in) = 0;
  /// For loops that wait for other ranks by other means. @throws communication_error if a rank has failed, or left the call
  virtual void check() {}
  /// This rank leaves a call by an exception of its own: check() and pending::wait() of the others throw communication_error
  /// with `why`. Nothing is begun any more.
  virtual void leave([[maybe_unused]] const char* why) noexcept {}
  /// Whether this rank knows already that check() would throw. Waits for nothing.
  virtual bool has_failed() const noexcept { return false; }
};

}  // namespace keramos::dist
