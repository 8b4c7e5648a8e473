// The ranks that work on one product: `keramos::dist::communicator comm(MPI_COMM_WORLD);`, on all of them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <keramos/core/queue.hpp>
#include <keramos/dist/error.hpp>
#include <keramos/dist/memory.hpp>
#include <keramos/dist/transport.hpp>

namespace keramos::detail {
struct dist_remembered;
}

namespace keramos::dist {

/// What carries matrices.
enum class transport_kind : char {
  automatic,  ///< on hosts mpi; on devices `devices` where that is possible, else staged
  devices,    ///< the vendor's library between devices: NCCL, RCCL. Each rank needs a device of its own
  mpi,  ///< MPI gets the addresses of matrices: on devices it must be an MPI that takes them, which nothing checks
  staged,  ///< MPI gets copies in the host's memory, which is pinned where there is a device
};

struct communicator_options {
  /// Longer messages are cut: MPI counts bytes by an int.
  std::size_t longest_message = std::size_t(1) << 30;
  transport_kind transport = transport_kind::automatic;
  /// How long a transfer between devices may take, what it waits for included, before it counts as failed.
  double timeout_seconds = 60;
  /// How long a rank waits by MPI for others, of whom each must have begun to wait, or answer, as long after that. Longer than
  /// ranks may differ in when they make a call, and longer than a step of a product. 0: for ever.
  double mpi_timeout_seconds = 0;
};

/// What an agreement found on some rank, as the exception that all ranks throw.
enum class failure : int { none, argument, memory, other, not_initialized };
/// An agreement's number of a failure on a rank is (size - rank)·failure_kinds + failure: the largest is the lowest rank's.
inline constexpr std::uint64_t failure_kinds = 8;  // at least as many as there are

/// The ranks of an MPI communicator, of which it has a duplicate: its messages meet no others. Collective to make and to
/// destroy, before MPI_Finalize and Kokkos::finalize. MPI must be initialised, and Kokkos, on devices with one for this rank.
/// One thread at a time; MPI_THREAD_FUNNELED will do. Several threads may each use one of their own at the same time if MPI was
/// initialised with MPI_THREAD_MULTIPLE; those of one rank are made and destroyed one after the other, on all ranks in one order.
/// With NCCL kernels must be loaded before, then: CUDA_MODULE_LOADING=EAGER in the environment.
///
/// The errors of MPI are thrown as communication_error, whatever error handler the original has.
class KERAMOS_EXPORT communicator {
 public:
  using execution_space = default_execution_space;
  using queue_type = basic_queue<execution_space>;

  /// @throws with one message on all ranks, whichever rank it is: invalid_argument if options.transport is not possible, with
  ///         the reason; not_initialized if Kokkos is not initialised on a rank; memory_error or error if a rank's device
  ///         has no room for a queue. invalid_argument as well if `of` is no communicator, or an intercommunicator;
  ///         communication_error if a rank does not come within twice options.mpi_timeout_seconds.
  explicit communicator(MPI_Comm of, const communicator_options& options = {});
  ~communicator();
  communicator(communicator&&) noexcept;
  communicator& operator=(communicator&&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The duplicate.
  MPI_Comm mpi() const { return comm_; }
  /// What carries matrices.
  dist::transport& transport() const { return *transport_; }
  /// Another that carries them from here on, on all ranks; it queues what it queues on transfers().
  void use(std::unique_ptr<dist::transport> other) { transport_ = std::move(other); }
  /// Where this rank computes.
  queue_type& queue() { return *queue_; }
  /// Where transfers are ordered, with what is copied for them: a stream of its own on a device.
  queue_type& transfers() { return *transfers_; }

  /// On devices the memory of a call is kept for the next few, which may need as much; this frees it, and what is remembered of
  /// the last calls: their schedules, and which elements go where.
  void free_memory();
  keramos::detail::dist_pool& pool() { return *pool_; }
  keramos::detail::dist_remembered& remembered() { return *remembered_; }

  /// Collective: returns on all ranks, or throws the same message on all of them: if `why` is not `none` on some rank, what
  /// the lowest of them says, or else if the ranks say different things in `call`, what rank 0 and the lowest that differs
  /// say in the first line that differs. Lines are "name: value\n", the first is the function.
  /// @throws invalid_argument, memory_error, not_initialized or error
  void agree(const std::string& call, failure why = failure::none, const std::string& message = "");
  /// Whether the last agreement threw, and so all ranks know what is wrong.
  bool all_know() const { return all_know_; }
  /// Collective: the largest of each number on any rank. @throws communication_error
  void largest(const std::uint64_t* mine, std::uint64_t* most, int count);

 private:
  template <class F>
  void agree_on(const std::string& call, const F& f);
  std::string text_of(int rank, const std::string& text);
  template <class T, class Begin>
  void finish(std::vector<T>& values, const char* function, const Begin& begin);
  void check(int status, const char* function) const;
  void choose_transport(const communicator_options& options);
  std::string connect_devices(const communicator_options& options);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  double timeout_seconds_ = 0;  // of MPI
  bool all_know_ = false;
  bool has_given_up_ = false;  // a collective of MPI's, which cannot be cancelled
  std::unique_ptr<keramos::detail::dist_pool> pool_;
  std::unique_ptr<keramos::detail::dist_remembered> remembered_;  // has memory of the pool
  std::shared_ptr<void> link_;  // owns the stream of transfers_, if there is one
  std::unique_ptr<queue_type> queue_, transfers_;
  std::unique_ptr<dist::transport> transport_;
};

}  // namespace keramos::dist

namespace keramos::detail {

/// Throws communication_error unless `status` is success.
KERAMOS_EXPORT void check_mpi(int status, const char* function, MPI_Comm comm);
/// Waits until all are done. @throws communication_error if one fails, or all take longer than `timeout_seconds`, if that is
/// not 0: it names the ranks that do not answer; or if `carrier` knows that a rank has failed or left the call.
KERAMOS_EXPORT void wait_mpi(std::vector<MPI_Request>& requests, MPI_Comm comm, double timeout_seconds,
                             dist::transport* carrier = nullptr);

/// MPI as a transport, which waits for `transfers` before it begins, and as long as mpi_timeout_seconds says. Where messages
/// cannot be ended after a failure, it abandons `memory`, in which they lie.
KERAMOS_EXPORT std::unique_ptr<dist::transport> mpi_transport(MPI_Comm comm, std::size_t longest_message,
                                                              double timeout_seconds,
                                                              dist::communicator::queue_type& transfers,
                                                              dist_pool& memory);
/// Another through copies in the host's memory. `note` ends its name.
KERAMOS_EXPORT std::unique_ptr<dist::transport> staged_transport(std::unique_ptr<dist::transport> of_hosts,
                                                                 dist::communicator::queue_type& transfers,
                                                                 const std::string& note);

}  // namespace keramos::detail
