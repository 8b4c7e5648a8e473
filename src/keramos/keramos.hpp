// All that is public, but for epilogues (gemm/fused.hpp) and products over ranks (dist/dist.hpp):
//
//   #include <keramos/keramos.hpp>
//
//   keramos::runtime guard(argc, argv);                // core/runtime.hpp
//   keramos::queue q;                                  // core/queue.hpp: kernels, copies, events
//   keramos::gemm(q, 1.0, a, b, 0.0, c).wait();        // gemm/gemm.hpp: C = A·B
//
// docs/api.md has the names on a page.
#pragma once

#include <keramos/algorithm/convolution.hpp>
#include <keramos/algorithm/reduce.hpp>
#include <keramos/algorithm/scan.hpp>
#include <keramos/algorithm/stencil.hpp>
#include <keramos/algorithm/transpose.hpp>
#include <keramos/base/device_info.hpp>
#include <keramos/base/error.hpp>
#include <keramos/base/float16.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/config.hpp>
#include <keramos/core/atomic_ref.hpp>
#include <keramos/core/buffer.hpp>
#include <keramos/core/device.hpp>
#include <keramos/core/event.hpp>
#include <keramos/core/functional.hpp>
#include <keramos/core/group.hpp>
#include <keramos/core/group_algorithms.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/core/range.hpp>
#include <keramos/core/reduction.hpp>
#include <keramos/core/runtime.hpp>
#include <keramos/core/tile_copy.hpp>
#include <keramos/core/usm.hpp>
#include <keramos/gemm/batched.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/view/grid_view.hpp>
#include <keramos/view/matrix_batch.hpp>
#include <keramos/view/matrix_view.hpp>
