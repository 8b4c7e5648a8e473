// The arithmetic peak of the host's cores, measured: the top line of every plot.
#pragma once

#include <cstddef>

#include "problem.hpp"

namespace keramos::perf {

// Operations per second of `threads` threads that multiply and add in registers only, with the
// widest vectors the CPU has: two operations each for f32, f64 and (multiply, then add) i32; c32 and c64 have the rates of
// f32 and f64. 0 for other types: which instructions multiply f16 and bf16, and how fast, differs too much.
double measure_host_peak(data_type type, int threads);

// Bytes per second that `threads` threads read together, each again and again the same `bytes`.
double measure_host_read(std::size_t bytes_of_a_thread, int threads);
// Bytes per second, read and written, that they copy through memory with memcpy.
double measure_host_copy(int threads);

}  // namespace keramos::perf
