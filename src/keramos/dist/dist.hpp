// Products over the ranks of an MPI communicator: all of keramos::dist but products with an epilogue, which fused.hpp has. The
// component `dist` of the package, target Keramos::dist; docs/dist.md is a guide.
//
//   keramos::dist::communicator comm(MPI_COMM_WORLD);
//   const keramos::dist::matrix A(layout_of_a, a), B(layout_of_b, b), C(layout_of_c, c);   // this rank's parts
//   keramos::dist::gemm(comm, 1.0, A, B, 0.0, C);                                          // all ranks call it
#pragma once

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/gemm.hpp>
#include <keramos/dist/layout.hpp>
#include <keramos/dist/matrix.hpp>
#include <keramos/dist/redistribute.hpp>
#include <keramos/dist/schedule.hpp>
#include <keramos/dist/timeline.hpp>
