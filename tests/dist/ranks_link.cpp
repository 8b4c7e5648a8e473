// A link between devices that fails: all ranks learn of it, and throw one message. The link here is made of MPI, and of hosts'
// memory or what MPI can copy.
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include <keramos/dist/link_transport.hpp>

#include "ranks.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

class link_by_mpi final : public detail::dist_link {
 public:
  /// What goes wrong in which start on this rank.
  struct mistake {
    int starts_before_a_fault = std::numeric_limits<int>::max();
    int starts_before_a_loss = std::numeric_limits<int>::max();
  };
  explicit link_by_mpi(mistake m) : mistake_(m) { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  ~link_by_mpi() override {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  std::string name() const override { return "a link"; }
  const dist::communicator::execution_space& execution_space() const override { return exec_; }
  bool is_ready() override {
    if (comm_ == MPI_COMM_NULL) throw error("asked after it was aborted");
    int done = 0;
    MPI_Testall(int(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    return done;
  }
  void start(const std::vector<transfer>& transfers) override {
    if (mistake_.starts_before_a_fault-- == 0) throw error("its cable is loose");
    const bool loses = mistake_.starts_before_a_loss-- <= 0;
    for (const transfer& t : transfers) {
      if (loses) continue;
      MPI_Request& r = requests_.emplace_back(MPI_REQUEST_NULL);
      if (t.is_sent)
        MPI_Isend(t.data, int(t.bytes), MPI_BYTE, t.peer, 3, comm_, &r);
      else
        MPI_Irecv(t.data, int(t.bytes), MPI_BYTE, t.peer, 3, comm_, &r);
    }
  }
  void abort() noexcept override {
    if (comm_ == MPI_COMM_NULL) return;
    for (MPI_Request& r : requests_)
      if (r != MPI_REQUEST_NULL) MPI_Cancel(&r), MPI_Request_free(&r);
    comm_ = MPI_COMM_NULL;  // not freed: messages under way must not reach a new one
  }

 private:
  mistake mistake_;
  dist::communicator::execution_space exec_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<MPI_Request> requests_;
};

/// The message of a product over such links, all of which must be given the matrices; "" if it is right.
std::string product_over(link_by_mpi::mistake mistake, double timeout_seconds, index_t step = 0) {
  dist::communicator comm(world().mpi());
  comm.use(detail::dist_link_transport(comm.mpi(), std::make_shared<link_by_mpi>(mistake), comm.transfers(),
                                       timeout_seconds));
  const index_t n = 64;
  const dist::layout layout = dist::block_cyclic{n, n, 3, 3, {1, comm.size()}};
  const device_memory<double> ones(std::vector<double>(std::size_t(n * n), 1.0));
  const device_memory<double> result(std::vector<double>(std::size_t(n * n), 0.0));
  const auto matrix = [&](const device_memory<double>& x) {
    return dist::matrix<double>(layout, matrix_view<double>::column_major(x.data(), n, n));
  };
  dist::gemm_options options;  // in which all is redistributed, so that each rank starts transfers four times
  options.schedule = dist::choose_schedule(n, n, n, comm.size());
  if (step > 0) options.schedule->step = step;
  return message_of<dist::communication_error>([&] {
    dist::gemm(comm, 1.0, matrix(ones), matrix(ones), 0.0, matrix(result), options);
    const auto own = layout.part_extents(comm.rank());
    const auto values = result.get();
    for (index_t j = 0; j < own.cols; ++j)
      for (index_t i = 0; i < own.rows; ++i) ASSERT_EQ(values[std::size_t(j * n + i)], double(n));
  });
}

bool can_run() {
  return world().size() > 1 && backend::traits<default_execution_space>::is_host;  // MPI gets addresses
}

TEST(DistLink, CarriesAProduct) {
  if (!can_run()) return;
  EXPECT_EQ(product_over({}, 60), "");
  EXPECT_EQ(product_over({}, 60, 7), "");  // in steps, each begun before the panels of the last are there
}

TEST(DistLink, ItsFailureOnOneRankIsThrownByAll) {
  if (!can_run()) return;
  const int last = world().size() - 1;
  for (const int starts : {0, 2}) {
    link_by_mpi::mistake mistake;
    if (world().rank() == last) mistake.starts_before_a_fault = starts;
    const std::string text = product_over(mistake, 60);
    EXPECT_NE(text.find("a link on rank " + std::to_string(last) + ": its cable is loose"), std::string::npos)
        << text;
    EXPECT_TRUE(same_everywhere(text)) << text;
  }
}

// In the middle of a product of several steps, or, where there are few, when ranks have agreed that all have multiplied: then those
// that need nothing more have their part of C.
TEST(DistLink, ItsLateFailureIsThrownByAllThatHaveNotFinished) {
  if (!can_run()) return;
  const int last = world().size() - 1;
  link_by_mpi::mistake mistake;
  if (world().rank() == last) mistake.starts_before_a_fault = 4;
  const std::string text = product_over(mistake, 60, 16);
  const std::string why = "a link on rank " + std::to_string(last) + ": its cable is loose";
  EXPECT_TRUE(text.find(why) != std::string::npos || (text.empty() && world().rank() != last)) << text;
}

TEST(DistLink, ALostMessageEndsInTime) {
  if (!can_run()) return;
  link_by_mpi::mistake mistake;
  if (world().rank() == 0) mistake.starts_before_a_loss = 1;
  const auto begin = std::chrono::steady_clock::now();
  const std::string text = product_over(mistake, 1);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 20);
  EXPECT_NE(text.find("took longer than options.timeout_seconds"), std::string::npos) << text;
  EXPECT_TRUE(same_everywhere(text)) << text;
}

// The same of the devices' own link, where ranks have one: rank 0 sends nothing.
TEST(DistLink, OfDevicesEndsInTimeIfARankSendsNothing) {
  if (world().size() == 1 || world().transport().name().rfind("MPI", 0) == 0) return;
  dist::communicator comm(world().mpi(), {.transport = dist::transport_kind::devices, .timeout_seconds = 10});
  device_memory<char> byte(std::vector<char>(1));
  const std::string text = message_of<dist::communication_error>([&] {
    if (comm.rank() > 0) comm.transport().start({}, {{0, byte.data(), 1}})->wait();
    const std::uint64_t mine = 0;
    std::uint64_t most = 0;
    comm.largest(&mine, &most, 1);
  });
  EXPECT_NE(text.find("a transfer took longer than options.timeout_seconds"), std::string::npos) << text;
  EXPECT_TRUE(same_everywhere(text)) << text;
}

// What is asked of ranks that have no such link: a reason, on all of them.
TEST(DistLink, IsRefusedWithAReasonWhereThereIsNone) {
  if (!backend::traits<default_execution_space>::is_host) return;
  const std::string text = message_of<invalid_argument>(
      [] { dist::communicator none(world().mpi(), {.transport = dist::transport_kind::devices}); });
  EXPECT_NE(text.find("options.transport is `devices`, but there is no link: hosts have none"),
            std::string::npos)
      << text;
}

}  // namespace
