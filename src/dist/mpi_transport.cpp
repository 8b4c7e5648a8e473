#include <algorithm>

#include <keramos/dist/communicator.hpp>

namespace keramos::dist {
namespace {

constexpr int tag = 1;

class mpi_pending final : public pending {
 public:
  explicit mpi_pending(MPI_Comm comm) : comm_(comm) {}
  mpi_pending(const mpi_pending&) = delete;
  mpi_pending& operator=(const mpi_pending&) = delete;
  // Memory may be freed next. What is still under way then, after an exception, is given up.
  ~mpi_pending() override {
    for (MPI_Request& r : requests_)
      if (r != MPI_REQUEST_NULL) MPI_Cancel(&r), MPI_Request_free(&r);
  }

  void progress() override {
    int done = 0;
    detail::check_mpi(MPI_Testall(int(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
                      "MPI_Testall", comm_);
  }
  void wait() override {
    detail::check_mpi(MPI_Waitall(int(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
                      "MPI_Waitall", comm_);
  }
  MPI_Request* next() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

 private:
  MPI_Comm comm_;
  std::vector<MPI_Request> requests_;
};

/// Calls f(offset, count) for pieces of at most `longest` bytes, which arrive in this order.
template <class F>
void in_pieces(std::size_t bytes, std::size_t longest, const F& f) {
  for (std::size_t at = 0; at < bytes; at += longest) f(at, int(std::min(longest, bytes - at)));
}

class mpi final : public transport {
 public:
  mpi(MPI_Comm comm, std::size_t longest, communicator::queue_type& transfers)
      : comm_(comm), longest_(longest), transfers_(transfers) {}
  std::string name() const override { return "MPI"; }

  std::unique_ptr<pending> start(const std::vector<outgoing>& out, const std::vector<incoming>& in) override {
    transfers_.wait_and_throw();
    auto p = std::make_unique<mpi_pending>(comm_);
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
  communicator::queue_type& transfers_;
};

}  // namespace
}  // namespace keramos::dist

namespace keramos::detail {

std::unique_ptr<dist::transport> mpi_transport(MPI_Comm comm, std::size_t longest_message,
                                               dist::communicator::queue_type& transfers) {
  return std::make_unique<dist::mpi>(comm, std::clamp<std::size_t>(longest_message, 1, std::size_t(1) << 30),
                                     transfers);
}

}  // namespace keramos::detail
