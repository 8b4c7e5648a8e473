// Each rank to its GPU or its share of the cores, unless the launcher has seen to that.
#pragma once

#include <string>

namespace keramos::perf {

class communicator;

// Binds this rank; to be called before Kokkos starts. Returns what was done, in a few words.
std::string bind_rank(communicator& ranks);

}  // namespace keramos::perf
