// What --provider cublasmp says in builds without it.
#include "cublasmp.hpp"
#include "measure/core/cblas_library.hpp"

namespace keramos::perf {
namespace {

constexpr const char* why =
#if defined(KERAMOS_PERF_LACKS_CUBLASMP_HEADER)
    "this build found no cublasmp.h: name the folder of cuBLASMp with -DCUBLASMP_ROOT and configure again";
#elif defined(KERAMOS_PERF_LACKS_NCCL)
    "this build found no NCCL: name its folder with -DNCCL_ROOT and configure again";
#else
    "only in CUDA builds (configure with the preset cuda)";
#endif

}  // namespace

std::string cublasmp_version() { throw unavailable_error(why); }

std::unique_ptr<cublasmp_product> make_cublasmp(const distributed_case&, dist::communicator&,
                                                const cublasmp_matrix&, const cublasmp_matrix&,
                                                const cublasmp_matrix&) {
  throw unavailable_error(why);
}

}  // namespace keramos::perf
