// `stage` on CUDA: asynchronous copies.
#pragma once

#include <keramos/backends/cuda/staging.hpp>
#include <keramos/backends/simt/copy.hpp>

namespace keramos::backend {

template <>
struct copy<Kokkos::Cuda> : simt::copy<cuda::async_copier> {};

}  // namespace keramos::backend
