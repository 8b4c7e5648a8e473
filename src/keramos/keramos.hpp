// Everything public.
#pragma once

#include <keramos/algorithm/convolution.hpp>
#include <keramos/algorithm/reduce.hpp>
#include <keramos/algorithm/scan.hpp>
#include <keramos/algorithm/stencil.hpp>
#include <keramos/algorithm/transpose.hpp>
#include <keramos/config.hpp>
#include <keramos/core/device_info.hpp>
#include <keramos/core/error.hpp>
#include <keramos/core/event.hpp>
#include <keramos/core/functional.hpp>
#include <keramos/core/grid_view.hpp>
#include <keramos/core/group.hpp>
#include <keramos/core/group_algorithms.hpp>
#include <keramos/core/macros.hpp>
#include <keramos/core/matrix_batch.hpp>
#include <keramos/core/matrix_view.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/core/range.hpp>
#include <keramos/core/runtime.hpp>
#include <keramos/gemm/batched.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/tile/copy.hpp>
