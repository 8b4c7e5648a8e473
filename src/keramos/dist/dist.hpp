// Products over the ranks of an MPI communicator: all of keramos::dist. The component `dist` of the package, target
// Keramos::dist; docs/dist.md is a guide.
#pragma once

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/gemm.hpp>
#include <keramos/dist/layout.hpp>
#include <keramos/dist/matrix.hpp>
#include <keramos/dist/redistribute.hpp>
#include <keramos/dist/schedule.hpp>
#include <keramos/dist/timeline.hpp>
