// What ranks tell one another when one fails in the middle of a call, where others wait for its messages. Internal.
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <keramos/base/export.hpp>

namespace keramos::detail {

/// What ends the words of a failure, once.
inline constexpr const char* dist_of_no_use = "; the communicator is of no use any more";

/// By messages of MPI, which all ranks look for while they wait: a library that waits for a lost message learns of nothing.
class KERAMOS_EXPORT dist_alarm {
 public:
  /// `name`: the transport's, which failures of transfers name; `abort` ends what is under way on this rank, and throws nothing.
  dist_alarm(MPI_Comm comm, std::string name, std::function<void()> abort);
  dist_alarm(const dist_alarm&) = delete;
  dist_alarm& operator=(const dist_alarm&) = delete;
  ~dist_alarm();

  /// @throws communication_error if a rank has failed or left the call, this one or another that told so
  void check();
  /// Whether this rank knows of that already. Waits for nothing.
  bool has_failed() const noexcept { return teller_ < size_; }
  /// Tells all that transfers have failed here, and throws so. @throws communication_error
  [[noreturn]] void raise(const std::string& why);
  /// Tells all that this rank leaves the call, and returns, unless they know of a failure: this rank throws something else. Takes
  /// no memory.
  void tell_of_leaving(const char* why) noexcept;

 private:
  using words = std::array<char, 1024>;
  void send() noexcept;
  bool hear();
  [[noreturn]] void give_up();

  MPI_Comm comm_;
  std::string name_;
  std::function<void()> abort_;
  int rank_ = 0, size_ = 1;
  int teller_ = 1 << 30;
  std::string told_;
  std::unique_ptr<words> mine_ = std::make_unique<words>();
  std::vector<MPI_Request> sent_;
};

}  // namespace keramos::detail
