// What Intel's GPUs are counted in. No SYCL here: tests of hosts read it.
#pragma once

namespace keramos::backend::sycl_backend {

/// A work-group runs on one Xe core, which has the local memory and the matrix units that rows of the tile table count on. SYCL's
/// compute units are vector engines there ("EUs"): Level Zero's adapter multiplies slices, sub-slices and their EUs. A stack of
/// the Data Center GPU Max has 512 of them in 64 Xe cores. `engines` is those of a Xe core, or 0 if the device does not tell:
/// processors do not, and their compute units are threads.
constexpr int xe_cores(int compute_units, int engines) {
  const int cores = engines > 0 ? compute_units / engines : compute_units;
  return cores > 0 ? cores : 1;
}

}  // namespace keramos::backend::sycl_backend
