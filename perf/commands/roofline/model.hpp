// The roofline model (Williams, Waterman and Patterson, CACM 52(4), 2009), with a roof for the first-level
// cache beside that of memory (Ilic, Pratas and Sousa, "Cache-aware Roofline model", 2014).
//
// A kernel has two intensities. Memory must bring each operand once and take the result: that is the least
// traffic, so operations over it is the most intensity that memory can see. The loads that a kernel's items
// make go to the first-level cache; results files of the ladder count them (`global_bytes`).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure/core/device_spec.hpp"

namespace keramos::perf {

// A row of a results file as the model needs it.
struct roofline_kernel {
  std::string name;     // the provider, or the ladder's step
  std::string problem;  // "NN 4096x4096x4096"
  std::string type;
  double gflops = 0;            // 0: nobody counts its operations, only what it must move
  double memory_intensity = 0;  // operations a byte of least traffic
  double cache_intensity = 0;   // operations a byte that the items ask for; 0: not known
  double gbytes_per_s = 0;      // of what it must move, where there are no operations
};

struct roofline_bound {
  std::string name;       // "memory", "L1", "f32 peak", "f64 matrix peak"
  double attainable = 0;  // GFLOP/s; GB/s of a kernel without operations
};

struct roofline_place {
  std::vector<roofline_bound> bounds;  // all that are known
  roofline_bound bound;                // the lowest of them; attainable 0 if none is known
  double fraction = 0;                 // of that bound
};

// Gigaoperations per second of the highest unit for products of the type (of f16_f32 that of f16), and its name;
// 0 if the spec does not tell.
roofline_bound compute_roof(const device_spec& spec, const std::string& type);
// The intensity where memory's roof meets it.
double ridge_point(const device_spec& spec, const std::string& type);
roofline_place place(const roofline_kernel& kernel, const device_spec& spec);

// The measured rows of a keramos-perf/1 document that have a place under the roofs: those with `gflops`, and
// with m, n and k (and maybe `batch`) or `memory_bytes`; those with `gbytes_per_s` alone, which have memory's
// bandwidth for a bound (transposes, copies). `left_out` counts the other measured ones. Throws
// usage_error for a document that is none.
std::vector<roofline_kernel> kernels_of(const nlohmann::ordered_json& document, const std::string& file_name,
                                        int& left_out);

std::string ceilings_text(const device_spec& spec);
std::string places_text(const std::vector<roofline_kernel>& kernels, const device_spec& spec);
// {"schema": "keramos-perf-roofline/1", "device": spec, "kernels": [...]}: what plot.py draws.
nlohmann::ordered_json roofline_document(const std::vector<roofline_kernel>& kernels,
                                         const device_spec& spec);

}  // namespace keramos::perf
