// The ranks of a job. Only messages from rank to rank, none of which waits for its receiver, so that a
// rank that dies stops nobody. MPI is behind it, in a module (mpi.cpp) that is loaded only under a
// launcher: neither workers nor machines without MPI meet it.
#pragma once

#include <sched.h>

#include <memory>
#include <string>
#include <vector>

namespace keramos::perf {

struct rank_message {
  int from = 0;
  int tag = 0;
  std::string text;
};

class communicator {
 public:
  virtual ~communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_rank() const = 0;  // among the ranks on this node
  virtual int local_size() const = 0;
  // What each rank of the node passes; all call it once, at the start.
  virtual std::vector<cpu_set_t> affinities_on_node(const cpu_set_t& own) = 0;
  virtual void send(int to, int tag, const std::string& text) = 0;
  virtual bool poll(rank_message& message) = 0;  // takes a message that has come; false: there is none
  // The end of the job. All ranks: orderly. One rank alone, when others do not answer: ends them too.
  virtual void finish() = 0;
  [[noreturn]] virtual void abort(int status) = 0;
};

// What the module offers, under this name.
extern "C" {
using join_function = communicator*(int* argc, char** argv);
}
constexpr const char* join_symbol = "keramos_perf_join_job";

// Null for a program that was started alone. Throws usage_error if a launcher started several
// ranks and this build cannot tell them apart.
std::unique_ptr<communicator> join_job(int& argc, char** argv);

// How many ranks the launcher says that it started; 1 without a launcher.
int launched_ranks();

}  // namespace keramos::perf
