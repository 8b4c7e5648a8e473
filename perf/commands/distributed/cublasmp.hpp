// cuBLASMp, NVIDIA's products over ranks by NCCL, loaded while the program runs. Builds without it have no_cublasmp.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include <keramos/dist/communicator.hpp>

#include "job.hpp"

namespace keramos::perf {

// A matrix that is dealt out as a distributed_case says, and this rank's part of it: by columns, in the GPU's memory.
struct cublasmp_matrix {
  std::int64_t rows, cols;
  void* part;
  std::int64_t leading;
};

class cublasmp_product {
 public:
  virtual ~cublasmp_product() = default;  // collective
  // C ← alpha op(A) op(B) + beta C. Collective; returns when this rank's part is there. Throws error.
  virtual void operator()() = 0;
};

// Collective. Throws unavailable_error, on all ranks if on one. The communicator must outlive the product.
std::unique_ptr<cublasmp_product> make_cublasmp(const distributed_case& c, dist::communicator& comm,
                                                const cublasmp_matrix& a, const cublasmp_matrix& b,
                                                const cublasmp_matrix& c_matrix);

}  // namespace keramos::perf
