#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "communicator.hpp"
#include "measure/core/host.hpp"
#include "measure/core/problem.hpp"

namespace keramos::perf {

int launched_ranks() {
  // Open MPI; MPICH, Intel, Cray and Flux; Slurm (SLURM_NTASKS would be set in a batch script too).
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (const char* value = std::getenv(variable)) {
      if (const int ranks = std::atoi(value); ranks > 1) return ranks;
    }
  }
  return 1;
}

std::unique_ptr<communicator> join_job(int& argc, char** argv) {
  if (launched_ranks() <= 1) return nullptr;
  const auto module = std::filesystem::path(executable_path()).parent_path() / "keramos_perf_mpi.so";
  if (!std::filesystem::exists(module)) {
    throw usage_error(
        fmt::format("{} ranks were started, but this build has no MPI: install it (libopenmpi-dev "
                    "openmpi-bin, say), configure "
                    "and build again, or write keramos-perf gemm without a launcher",
                    launched_ranks()));
  }
  // Open MPI's own plugins want to see its symbols.
  void* const handle = dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
  auto* const join =
      handle != nullptr ? reinterpret_cast<join_function*>(dlsym(handle, join_symbol)) : nullptr;
  if (join == nullptr) throw std::runtime_error(fmt::format("MPI cannot be loaded: {}", dlerror()));
  return std::unique_ptr<communicator>(join(&argc, argv));
}

}  // namespace keramos::perf
