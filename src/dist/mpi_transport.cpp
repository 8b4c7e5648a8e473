#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include <keramos/dist/alarm.hpp>
#include <keramos/dist/communicator.hpp>

namespace keramos::detail {
namespace {

constexpr int roll_call_tag = 4;

/// The ranks that do not answer within the time: each that waits too long calls all others, and so answers their calls.
std::string missing_ranks(MPI_Comm comm, int rank, std::chrono::duration<double> patience) {
  static char sent = 0;  // nobody waits until it is
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<char> heard(std::size_t(size), 0);
  std::vector<MPI_Request> calls(std::size_t(size), MPI_REQUEST_NULL);
  for (int r = 0; r < size; ++r) {
    if (r == rank) continue;
    MPI_Request call = MPI_REQUEST_NULL;
    MPI_Irecv(&heard[std::size_t(r)], 1, MPI_CHAR, r, roll_call_tag, comm, &calls[std::size_t(r)]);
    MPI_Isend(&sent, 1, MPI_CHAR, r, roll_call_tag, comm, &call);
    MPI_Request_free(&call);
  }
  const auto end = std::chrono::steady_clock::now() + patience;
  int is_done = 0;
  while (!is_done && std::chrono::steady_clock::now() < end) {
    is_done = 1;
    for (MPI_Request& r : calls) {
      int has_come = 0;
      MPI_Test(&r, &has_come, MPI_STATUS_IGNORE);
      is_done = is_done && has_come;
    }
  }
  std::string names;
  for (int r = 0; r < size; ++r) {
    MPI_Request& call = calls[std::size_t(r)];
    if (call == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&call), MPI_Request_free(&call);
    names += (names.empty() ? "" : ", ") + std::to_string(r);
  }
  return names;
}

/// Of several requests MPI says only that one has failed: why stands in its status.
void check_all(int status, const std::vector<MPI_Status>& statuses, const char* function, MPI_Comm comm) {
  if (status == MPI_ERR_IN_STATUS)
    for (const MPI_Status& s : statuses)
      if (s.MPI_ERROR != MPI_ERR_PENDING) check_mpi(s.MPI_ERROR, function, comm);
  check_mpi(status, function, comm);
}
bool test_all(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses, MPI_Comm comm) {
  int are_done = 0;
  statuses.resize(requests.size());
  check_all(MPI_Testall(int(requests.size()), requests.data(), &are_done, statuses.data()), statuses,
            "MPI_Testall", comm);
  return are_done;
}

}  // namespace

void wait_mpi(std::vector<MPI_Request>& requests, MPI_Comm comm, double timeout_seconds,
              dist::transport* carrier) {
  std::vector<MPI_Status> statuses(requests.size());
  if (timeout_seconds <= 0 && carrier == nullptr)
    return check_all(MPI_Waitall(int(requests.size()), requests.data(), statuses.data()), statuses,
                     "MPI_Waitall", comm);
  using clock = std::chrono::steady_clock;
  const std::chrono::duration<double> patience(timeout_seconds);
  auto now = clock::now(), next_check = now + std::chrono::milliseconds(1);
  for (const auto end = now + patience; !test_all(requests, statuses, comm);) {
    now = clock::now();
    if (carrier != nullptr && now >= next_check)
      carrier->check(), next_check = now + std::chrono::milliseconds(1);
    if (timeout_seconds <= 0 || now < end) continue;
    int rank = -1;
    MPI_Comm_rank(comm, &rank);
    const std::string missing = missing_ranks(comm, rank, patience);
    if (carrier != nullptr) carrier->check();  // a rank that does not answer may have said why
    throw dist::communication_error(
        "keramos::dist: rank " + std::to_string(rank) +
            " has waited longer than options.mpi_timeout_seconds, " + std::to_string(timeout_seconds) +
            (missing.empty()
                 ? ", though all ranks answer"
                 : "; no answer of rank " + missing + ", which has died, stalls or left the call") +
            dist_of_no_use,
        rank);
  }
}

}  // namespace keramos::detail

namespace keramos::dist {
namespace {

constexpr int tag = 1;

class mpi_pending final : public pending {
 public:
  mpi_pending(transport& of, MPI_Comm comm, double timeout_seconds, std::function<void()> give_up)
      : of_(of), comm_(comm), timeout_seconds_(timeout_seconds), give_up_(std::move(give_up)) {}
  mpi_pending(const mpi_pending&) = delete;
  mpi_pending& operator=(const mpi_pending&) = delete;
  // After an exception messages may be under way: those that have not begun are cancelled. MPI cancels no others.
  ~mpi_pending() override {
    for (MPI_Request& r : requests_) {
      if (r == MPI_REQUEST_NULL) continue;
      int is_done = 0;
      MPI_Cancel(&r);
      MPI_Test(&r, &is_done, MPI_STATUS_IGNORE);
      if (is_done) continue;
      MPI_Request_free(&r);
      give_up_();
    }
  }

  bool progress() override { return detail::test_all(requests_, statuses_, comm_); }
  void wait() override { detail::wait_mpi(requests_, comm_, timeout_seconds_, &of_); }
  MPI_Request* next() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

 private:
  transport& of_;
  MPI_Comm comm_;
  double timeout_seconds_;
  std::function<void()> give_up_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
};

/// Calls f(offset, count) for pieces of at most `longest` bytes, which arrive in this order.
template <class F>
void in_pieces(std::size_t bytes, std::size_t longest, const F& f) {
  for (std::size_t at = 0; at < bytes; at += longest) f(at, int(std::min(longest, bytes - at)));
}

class mpi final : public transport {
 public:
  mpi(MPI_Comm comm, std::size_t longest, double timeout_seconds, communicator::queue_type& transfers,
      detail::dist_pool& memory)
      : comm_(comm),
        longest_(longest),
        timeout_seconds_(timeout_seconds),
        transfers_(transfers),
        memory_(memory),
        alarm_(comm, name(), [] {}) {}
  std::string name() const override { return "MPI"; }
  void check() override {
    if (!has_given_up_ || alarm_.has_failed()) return alarm_.check();  // which knows why
    int rank = -1;
    MPI_Comm_rank(comm_, &rank);
    throw communication_error("keramos::dist: rank " + std::to_string(rank) +
                                  " has given up messages that MPI cannot cancel" + detail::dist_of_no_use,
                              rank);
  }

  void leave(const char* why) noexcept override { alarm_.tell_of_leaving(why); }
  bool has_failed() const noexcept override { return has_given_up_ || alarm_.has_failed(); }

  std::unique_ptr<pending> start(const std::vector<outgoing>& out, const std::vector<incoming>& in) override {
    transfers_.wait_and_throw();
    auto p = std::make_unique<mpi_pending>(*this, comm_, timeout_seconds_, [this] {
      has_given_up_ = true;
      memory_.abandon();
    });
    for (const incoming& x : in)
      in_pieces(x.bytes, longest_, [&](std::size_t at, int count) {
        detail::check_mpi(
            MPI_Irecv(static_cast<char*>(x.data) + at, count, MPI_BYTE, x.from, tag, comm_, p->next()),
            "MPI_Irecv", comm_);
      });
    for (const outgoing& x : out)
      in_pieces(x.bytes, longest_, [&](std::size_t at, int count) {
        detail::check_mpi(
            MPI_Isend(static_cast<const char*>(x.data) + at, count, MPI_BYTE, x.to, tag, comm_, p->next()),
            "MPI_Isend", comm_);
      });
    return p;
  }

 private:
  MPI_Comm comm_;
  std::size_t longest_;
  double timeout_seconds_;
  communicator::queue_type& transfers_;
  detail::dist_pool& memory_;
  detail::dist_alarm alarm_;
  bool has_given_up_ = false;
};

}  // namespace
}  // namespace keramos::dist

namespace keramos::detail {

std::unique_ptr<dist::transport> mpi_transport(MPI_Comm comm, std::size_t longest_message,
                                               double timeout_seconds,
                                               dist::communicator::queue_type& transfers, dist_pool& memory) {
  return std::make_unique<dist::mpi>(comm, std::clamp<std::size_t>(longest_message, 1, std::size_t(1) << 30),
                                     timeout_seconds, transfers, memory);
}

}  // namespace keramos::detail
