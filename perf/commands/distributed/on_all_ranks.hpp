// What one rank cannot do, none shall begin.
#pragma once

#include <mpi.h>

#include <string>

#include "measure/core/cblas_library.hpp"

namespace keramos::perf {

// Collective: calls f() on each rank. Where it throws unavailable_error on one of them, all throw one: their own, or that
// another has.
template <class F>
void on_all_ranks(MPI_Comm comm, const F& f) {
  std::string why;
  int there = 1;
  try {
    f();
  } catch (const unavailable_error& e) {
    why = e.what();
    there = 0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MIN, comm);
  if (there == 0) throw unavailable_error(why.empty() ? "another rank cannot use it" : why);
}

}  // namespace keramos::perf
