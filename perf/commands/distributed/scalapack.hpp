// ScaLAPACK loaded while the program runs.
#pragma once

#include <mpi.h>

#include <string>

#include "measure/core/problem.hpp"

namespace keramos::perf {

// Throws unavailable_error unless ScaLAPACK has products of the type.
void require_scalapack_type(data_type type);

class scalapack_library {
 public:
  // `path`: "" for the installed one of this MPI. Throws unavailable_error.
  explicit scalapack_library(const std::string& path);

  const std::string& file() const { return file_; }

  // p?gemm of whole matrices, which begin at element (1, 1).
  using gemm_function = void(const char*, const char*, const int* m, const int* n, const int* k,
                             const void* alpha, const void* a, const int*, const int*, const int*,
                             const void* b, const int*, const int*, const int*, const void* beta, void* c,
                             const int*, const int*, const int*);
  gemm_function* gemm_of(data_type type) const;

  // A grid of all ranks, row by row: BLACS' context.
  class grid {
   public:
    grid(const scalapack_library& library, MPI_Comm comm, int rows, int cols);
    ~grid();
    grid(const grid&) = delete;
    grid& operator=(const grid&) = delete;
    int context() const { return context_; }

   private:
    const scalapack_library& library_;
    int system_ = 0, context_ = 0;
  };

 private:
  template <class F>
  F* function(const char* name) const;

  void* handle_ = nullptr;
  std::string file_;
};

}  // namespace keramos::perf
