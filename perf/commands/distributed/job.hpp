// Products over the ranks of MPI, timed and verified: seen without MPI and without Kokkos, which job.cpp has.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/core/check.hpp"
#include "measure/core/problem.hpp"
#include "report/result.hpp"
#include "timeline.hpp"

namespace keramos::perf {

// A, B and C are dealt out block by block, rows first, to the first ranks as a grid.
struct distributed_case {
  gemm_case problem;
  int grid_rows = 1, grid_cols = 1;
  int block = 64;
  std::int64_t memory = std::numeric_limits<std::int64_t>::max();  // that a rank may allocate

  int ranks() const { return grid_rows * grid_cols; }
};

// Bytes of one product of Keramos': of the rank that has most, unless it says otherwise.
struct distributed_traffic {
  std::string schedule_grid;      // "2x2x1"
  std::string transport;          // what carried it: "MPI"
  double redistributed = 0;       // received to bring A, B and C from where they are to where they are needed
  double received = 0;            // received of panels and of sums
  double scheduled = 0;           // what the schedule says of that; `as_scheduled` compares each rank's
  double received_by_all = 0;     // all of it, by all ranks
  double touched = 0, bound = 0;  // of A, B and C, and the least that any schedule must
  double memory = 0;              // allocated
  bool as_scheduled = true;
};

struct distributed_result {
  std::string provider;
  outcome status = outcome::unavailable;
  std::string reason;           // why it failed or is unavailable
  std::vector<double> samples;  // seconds, of the slowest rank
  verdict check;
  std::optional<distributed_traffic> traffic;
  timeline_of_ranks timeline;  // rank 0 has it, if it was wanted
};

struct distributed_run {
  std::vector<std::string> providers;
  std::string scalapack;  // the library's path; "": the one installed
  int repetitions = 7;
  double time_limit_s = 10;
  std::uint64_t seed = 1;  // the same on all ranks
  bool timeline = false;   // of one product of Keramos', after those that are timed
};

// MPI, from its start to its end.
class distributed_job {
 public:
  distributed_job(int& argc, char** argv);
  ~distributed_job();
  distributed_job(const distributed_job&) = delete;
  distributed_job& operator=(const distributed_job&) = delete;

  int rank() const;
  int size() const;
  int nodes() const;
  std::string mpi_version() const;
  std::uint64_t same_on_all(std::uint64_t of_rank_0) const;
  // Collective over all ranks; those that have no part in it wait without using a processor. Rank 0 has the results. Kokkos
  // must be initialised.
  std::vector<distributed_result> measure(const distributed_case& c, const distributed_run& run);
  // Ends all ranks.
  [[noreturn]] void abort();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// Where ScaLAPACK is; throws unavailable_error.
std::string scalapack_file(const std::string& path);
// Version and file of the cuBLASMp that would be used; throws unavailable_error.
std::string cublasmp_version();

}  // namespace keramos::perf
