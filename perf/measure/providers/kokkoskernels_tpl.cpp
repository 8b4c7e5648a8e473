// Kokkos Kernels' gemm as its package makes it: with a TPL, that library's behind a wrapper.
#include <KokkosKernels_config.h>

#include "kokkoskernels.hpp"

#if defined(KOKKOSKERNELS_ENABLE_TPL_BLAS) || defined(KOKKOSKERNELS_ENABLE_TPL_CUBLAS)
#define KERAMOS_PERF_KK tpl
#include "kokkoskernels_call.hpp"

namespace keramos::perf::tpl {
namespace {

constexpr bool on_host = std::is_same_v<keramos::default_execution_space::memory_space, Kokkos::HostSpace>;
#ifdef KOKKOSKERNELS_ENABLE_TPL_BLAS
constexpr const char* on_hosts = "blas";
#else
constexpr const char* on_hosts = "";
#endif
#ifdef KOKKOSKERNELS_ENABLE_TPL_CUBLAS
constexpr const char* on_devices = "cublas";
#else
constexpr const char* on_devices = "";
#endif

}  // namespace

const char* name() { return on_host ? on_hosts : on_devices; }

kokkoskernels_call pick(data_type type, matrix_layout layout) {
  if (type == data_type::f32) return pick<float>(layout);
  if (type == data_type::f64) return pick<double>(layout);
  if (type == data_type::c32) return pick<Kokkos::complex<float>>(layout);
  if (type == data_type::c64) return pick<Kokkos::complex<double>>(layout);
  return nullptr;
}

}  // namespace keramos::perf::tpl

#else

namespace keramos::perf::tpl {
const char* name() { return ""; }
kokkoskernels_call pick(data_type, matrix_layout) { return nullptr; }
}  // namespace keramos::perf::tpl

#endif
