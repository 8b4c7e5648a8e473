// expect: dynamic arrays stand last in a local_memory
#include "prelude.hpp"

using memory = keramos::local_memory<keramos::dynamic_local_array<int>, line>;
static_assert(memory::bytes > 0);
