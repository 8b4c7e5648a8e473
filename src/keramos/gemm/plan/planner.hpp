// Who chooses how a product is done, and does it: the planner of an execution space's family.
#pragma once

#include <type_traits>

#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/plan/host.hpp>
#include <keramos/gemm/plan/simt.hpp>

namespace keramos::detail {

template <class Exec>
using planner = std::conditional_t<backend::traits<Exec>::is_host, host::planner<Exec>, simt::planner<Exec>>;

}  // namespace keramos::detail
