// The ranks that work on one product.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <keramos/core/queue.hpp>
#include <keramos/dist/error.hpp>
#include <keramos/dist/transport.hpp>

namespace keramos::dist {

struct communicator_options {
  /// Longer messages are cut: MPI counts bytes by an int.
  std::size_t longest_message = std::size_t(1) << 30;
  /// How long a rank waits for others, of whom each must have begun to wait, or answer, as long after that. Longer than
  /// ranks may differ in when they make a call, and longer than a step of a product. 0: for ever.
  double mpi_timeout_seconds = 0;
};

/// What an agreement found on some rank, as the exception that all ranks throw.
enum class failure : int { none, argument, memory, other };

/// The ranks of an MPI communicator, of which it has a duplicate: its messages meet no others. Collective to make and to
/// destroy, before MPI_Finalize. MPI must be initialised, and Kokkos. One thread at a time; MPI_THREAD_FUNNELED will do.
///
/// The errors of MPI are thrown as communication_error, whatever error handler the original has.
class KERAMOS_EXPORT communicator {
 public:
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using queue_type = basic_queue<execution_space>;

  explicit communicator(MPI_Comm of, const communicator_options& options = {});
  ~communicator();
  communicator(communicator&&) noexcept;
  communicator& operator=(communicator&&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The duplicate.
  MPI_Comm mpi() const { return comm_; }
  /// What carries matrices; its name is "MPI".
  dist::transport& transport() const { return *transport_; }
  /// Where this rank computes.
  queue_type& queue() { return queue_; }

  /// Collective: returns on all ranks, or throws the same message on all of them: if `why` is not `none` on some rank, what
  /// the lowest of them says, or else if the ranks say different things in `call`, what rank 0 and the lowest that differs
  /// say in the first line that differs. Lines are "name: value\n", the first is the function.
  /// @throws invalid_argument, memory_error or error
  void agree(const std::string& call, failure why = failure::none, const std::string& message = "");
  /// Collective: the largest of each number on any rank. @throws communication_error
  void largest(const std::uint64_t* mine, std::uint64_t* most, int count);

 private:
  std::string text_of(int rank, std::string text);
  void check(int status, const char* function) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  double timeout_seconds_ = 0;
  std::unique_ptr<dist::transport> transport_;
  queue_type queue_;
};

/// MPI as a transport, which waits as long as communicator_options::mpi_timeout_seconds says.
KERAMOS_EXPORT std::unique_ptr<transport> mpi_transport(MPI_Comm comm, std::size_t longest_message,
                                                        double timeout_seconds);

}  // namespace keramos::dist

namespace keramos::detail {

/// Throws communication_error unless `status` is success.
KERAMOS_EXPORT void check_mpi(int status, const char* function, MPI_Comm comm);
/// Waits until all are done. @throws communication_error if one fails, or all take longer than `timeout_seconds`, if that is
/// not 0: it names the ranks that do not answer.
KERAMOS_EXPORT void wait_mpi(std::vector<MPI_Request>& requests, MPI_Comm comm, double timeout_seconds);

}  // namespace keramos::detail
