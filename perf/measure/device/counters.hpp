// Who can count the bytes that the default device moves, seen without Kokkos.
#pragma once

namespace keramos::perf {

enum class byte_counting { nobody, cache_misses, ncu };

// The name of the kernel by which calls are told apart in ncu's list.
constexpr const char* profiler_mark_name = "profiler_mark";

// What differs from device to device: device/<backend>.cpp.
byte_counting device_byte_counting();
// NVIDIA GPUs: from here on the profiler counts, first of all a kernel with the name above. Nothing elsewhere.
void start_profiler();
void stop_profiler();

}  // namespace keramos::perf
