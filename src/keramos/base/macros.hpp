// The only macros of the public interface: what C++ cannot say without one.
#pragma once

#include <Kokkos_Core.hpp>

#include <keramos/base/compiler.hpp>
#include <keramos/base/index.hpp>

/// A kernel: captures by value and runs on the device. `q.parallel_for("name", r, KERAMOS_LAMBDA(index_t i) {...})`.
#define KERAMOS_LAMBDA KOKKOS_LAMBDA
/// A function callable from kernels.
#define KERAMOS_FUNCTION KOKKOS_FUNCTION
#define KERAMOS_INLINE_FUNCTION KOKKOS_INLINE_FUNCTION
#define KERAMOS_FORCEINLINE_FUNCTION KOKKOS_FORCEINLINE_FUNCTION
