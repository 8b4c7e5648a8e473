#include "scalapack.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "job.hpp"
#include "measure/core/cblas_library.hpp"
#include "measure/core/host.hpp"

namespace keramos::perf {

scalapack_library::scalapack_library(const std::string& path) {
#ifdef OPEN_MPI
  const char* const mpi = "openmpi";
#else
  const char* const mpi = "mpich";
#endif
  std::string problem;
  const auto open = [&](const std::string& name) {
    if (handle_ != nullptr) return;
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr && problem.empty()) problem = dlerror();
  };
  if (!path.empty()) {
    open(path);
  } else {
    for (const char* version : {"", ".2.2", ".2.1"}) {
      open(fmt::format("libscalapack-{}.so{}", mpi, version));
      open(fmt::format("libscalapack.so{}", version));
    }
  }
  if (handle_ == nullptr)
    throw unavailable_error(fmt::format(
        "{}; install ScaLAPACK (Debian: libscalapack-{}-dev) or name it: --scalapack PATH", problem, mpi));
  for (const char* name :
       {"Csys2blacs_handle", "Cblacs_gridinit", "Cblacs_gridexit", "Cfree_blacs_system_handle"})
    if (dlsym(handle_, name) == nullptr) throw unavailable_error(fmt::format("{} has no {}", path, name));
  file_ = file_of_address(dlsym(handle_, "Cblacs_gridinit"));
}

template <class F>
F* scalapack_library::function(const char* name) const {
  return reinterpret_cast<F*>(dlsym(handle_, name));
}

scalapack_library::gemm_function* scalapack_library::gemm_of(data_type type) const {
  const char* const name = type == data_type::f32   ? "psgemm_"
                           : type == data_type::f64 ? "pdgemm_"
                           : type == data_type::c32 ? "pcgemm_"
                                                    : "pzgemm_";
  if (auto* const found = function<gemm_function>(name)) return found;
  throw unavailable_error(fmt::format("{} has no {}", file_, name));
}

scalapack_library::grid::grid(const scalapack_library& library, MPI_Comm comm, int rows, int cols)
    : library_(library) {
  system_ = library.function<int(MPI_Comm)>("Csys2blacs_handle")(comm);
  context_ = system_;
  library.function<void(int*, const char*, int, int)>("Cblacs_gridinit")(&context_, "Row", rows, cols);
}

scalapack_library::grid::~grid() {
  library_.function<void(int)>("Cblacs_gridexit")(context_);
  library_.function<void(int)>("Cfree_blacs_system_handle")(system_);
}

std::string scalapack_file(const std::string& path) { return scalapack_library(path).file(); }

}  // namespace keramos::perf
