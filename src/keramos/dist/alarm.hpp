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

/// By messages of MPI, which all ranks look for while they wait: a library that waits for a lost message learns of nothing.
class KERAMOS_EXPORT dist_alarm {
 public:
  /// `name` begins what ranks tell; `abort` ends what is under way on this rank.
  dist_alarm(MPI_Comm comm, std::function<std::string()> name, std::function<void()> abort);
  dist_alarm(const dist_alarm&) = delete;
  dist_alarm& operator=(const dist_alarm&) = delete;
  ~dist_alarm();

  /// @throws communication_error if transfers have failed, here or on a rank that told so
  void check();
  /// Tells all that transfers have failed here, and throws so. @throws communication_error
  [[noreturn]] void raise(const std::string& why);
  /// Tells all and returns, unless they know of a failure: this rank throws something else.
  void tell(const std::string& why) noexcept;

 private:
  using words = std::array<char, 1024>;
  bool has_failed() const { return teller_ < size_; }
  bool hear();
  [[noreturn]] void give_up();

  MPI_Comm comm_;
  std::function<std::string()> name_;
  std::function<void()> abort_;
  int rank_ = 0, size_ = 1;
  int teller_ = 1 << 30;
  std::string told_;
  std::unique_ptr<words> mine_ = std::make_unique<words>();
  std::vector<MPI_Request> sent_;
};

}  // namespace keramos::detail
