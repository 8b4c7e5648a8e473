// The arithmetic peak of the host's cores, measured: the top line of every plot.
#pragma once

#include "problem.hpp"

namespace keramos::perf {

// Operations per second of `threads` threads that multiply and add in registers only, with the
// widest vectors the CPU has: two operations each for f32, f64 and (multiply, then add) i32.
double measure_host_peak(data_type type, int threads);

}  // namespace keramos::perf
