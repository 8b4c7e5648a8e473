#include <mpi.h>

#include <list>

#include "communicator.hpp"

namespace keramos::perf {
namespace {

class mpi_communicator : public communicator {
 public:
  mpi_communicator(int& argc, char** argv) {
    int given = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    // A rank that dies must not take this one along.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_);
    rank_ = value(MPI_Comm_rank, MPI_COMM_WORLD);
    size_ = value(MPI_Comm_size, MPI_COMM_WORLD);
    local_rank_ = value(MPI_Comm_rank, node_);
    local_size_ = value(MPI_Comm_size, node_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  int local_size() const override { return local_size_; }

  std::vector<cpu_set_t> affinities_on_node(const cpu_set_t& own) override {
    std::vector<cpu_set_t> all(local_size_);
    MPI_Allgather(&own, sizeof(cpu_set_t), MPI_BYTE, all.data(), sizeof(cpu_set_t), MPI_BYTE, node_);
    return all;
  }

  void send(int to, int tag, const std::string& text) override {
    auto& out = under_way_.emplace_back();
    out.text = text;
    MPI_Isend(out.text.data(), int(out.text.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, &out.request);
    forget_what_arrived();
  }

  bool poll(rank_message& message) override {
    forget_what_arrived();
    int there = 0;
    MPI_Status status;
    const int failed = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (failed != MPI_SUCCESS || there == 0) return false;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    message.from = status.MPI_SOURCE;
    message.tag = status.MPI_TAG;
    message.text.resize(std::size_t(bytes));
    return MPI_Recv(message.text.data(), bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE) == MPI_SUCCESS;
  }

  void finish() override {
    for (auto& out : under_way_) MPI_Wait(&out.request, MPI_STATUS_IGNORE);
    MPI_Finalize();
  }
  [[noreturn]] void abort(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

 private:
  struct outgoing {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  static int value(int (*ask)(MPI_Comm, int*), MPI_Comm c) {
    int v = 0;
    ask(c, &v);
    return v;
  }
  void forget_what_arrived() {
    under_way_.remove_if([](outgoing& out) {
      int done = 0;
      return MPI_Test(&out.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
    });
  }

  MPI_Comm node_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  std::list<outgoing> under_way_;
};

}  // namespace

extern "C" communicator* keramos_perf_join_job(int* argc, char** argv) {
  return new mpi_communicator(*argc, argv);
}

}  // namespace keramos::perf
