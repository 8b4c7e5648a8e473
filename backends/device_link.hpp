// What carries bytes between the devices of several ranks without their hosts: a vendor's library, one device a rank. A
// backend that has one compiles it where CMake found the library (KERAMOS_HAS_DEVICE_LINK).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace keramos::backend {

/// A rank's end. Of all ranks one makes an id, all connect by it. Nothing here waits for other ranks but the destructor, unless
/// abort() was called, and is_ready() while ranks connect, when all have come. What fails throws keramos::error with the
/// library's reason.
template <class Exec>
class device_link {
 public:
  struct transfer {
    int peer;
    void* data;
    std::size_t bytes;
    bool is_sent;  // else received
  };
  using id = std::array<char, 128>;

  static id make_id();
  static std::unique_ptr<device_link> connect(const id& of_all, int rank, int ranks);
  /// Tells devices apart, on all machines.
  static std::string device_of(const Exec& exec);

  virtual ~device_link() = default;
  /// With its version: "NCCL 2.28.3".
  virtual std::string name() const = 0;
  /// Where transfers are queued: their kernels go before those of other instances.
  virtual const Exec& execution_space() const = 0;
  /// Whether what was asked last (to connect, to start) is done: transfers are queued then, not completed. Throws also what
  /// has failed since.
  virtual bool is_ready() = 0;
  /// Begins to queue transfers, at least one; is_ready() must have been true.
  virtual void start(const std::vector<transfer>& transfers) = 0;
  /// Ends what is under way; nothing else may be asked then.
  virtual void abort() noexcept = 0;
};

}  // namespace keramos::backend
