// keramos-perf gemm on the ranks of a job: rank 0 tells the others what to measure, gathers their rows
// and writes the one file. Ranks only ever wait for messages, with a limit, so that one that fails,
// dies or hangs is named and the others' rows are kept.
#pragma once

#include <cstdint>

#include "commands/gemm/options.hpp"
#include "communicator.hpp"

namespace keramos::perf {

// The exit status: 0, or 1 if a result was wrong or a rank failed.
int run_job(communicator& ranks, const gemm_command_options& options, std::uint64_t seed, int& argc,
            char** argv);

}  // namespace keramos::perf
