#include "scalapack.hpp"

#include <dlfcn.h>

#include "job.hpp"
#include "measure/core/cblas_library.hpp"
#include "measure/core/host.hpp"

namespace keramos::perf {
namespace {

const char* name_of_gemm(data_type type) {
  switch (type) {
    case data_type::f32:
      return "psgemm_";
    case data_type::f64:
      return "pdgemm_";
    case data_type::c32:
      return "pcgemm_";
    case data_type::c64:
      return "pzgemm_";
    default:
      return nullptr;
  }
}

}  // namespace

scalapack_library::scalapack_library(const std::string& path) {
#ifdef OPEN_MPI
  const std::string mpi = "openmpi";
#else
  const std::string mpi = "mpich";
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
    for (const std::string version : {"", ".2.2", ".2.1"}) {
      open("libscalapack-" + mpi + ".so" + version);
      open("libscalapack.so" + version);
    }
  }
  if (handle_ == nullptr)
    throw unavailable_error(problem + "; install ScaLAPACK (Debian: libscalapack-" + mpi +
                            "-dev) or name it: --scalapack PATH");
  for (const char* name :
       {"Csys2blacs_handle", "Cblacs_gridinit", "Cblacs_gridexit", "Cfree_blacs_system_handle"})
    if (dlsym(handle_, name) == nullptr) throw unavailable_error(path + " has no " + name);
  file_ = file_of_address(dlsym(handle_, "Cblacs_gridinit"));
}

template <class F>
F* scalapack_library::function(const char* name) const {
  return reinterpret_cast<F*>(dlsym(handle_, name));
}

void require_scalapack_type(data_type type) {
  if (name_of_gemm(type) == nullptr)
    throw unavailable_error("ScaLAPACK has no product of " + std::string(name(type)));
}

scalapack_library::gemm_function* scalapack_library::gemm_of(data_type type) const {
  require_scalapack_type(type);
  if (auto* const found = function<gemm_function>(name_of_gemm(type))) return found;
  throw unavailable_error(file_ + " has no " + name_of_gemm(type));
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
