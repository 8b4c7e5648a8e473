// When a rank did what in a product: gemm_options::timeline. No MPI and no Kokkos here.
#pragma once

#include <keramos/base/index.hpp>

namespace keramos::dist {

enum class activity : char {
  redistribute_a,  ///< A is brought to where the schedule needs it: packed, sent, unpacked; once, or for each stage
  redistribute_b,  ///< the same of B
  panels,          ///< the panels of A and B of one step arrive; they travel in one group of transfers
  product,         ///< panels are multiplied. A step may have several: on hosts one for each strip of columns
  exchange_sums,   ///< partial sums arrive from the ranks that have other parts of k
  add_sums,        ///< they are added
  write_c,         ///< the result is brought to where C lies, and alpha and beta are applied
};
constexpr const char* to_string(activity a) {
  switch (a) {
    case activity::redistribute_a:
      return "redistribute_a";
    case activity::redistribute_b:
      return "redistribute_b";
    case activity::panels:
      return "panels";
    case activity::product:
      return "product";
    case activity::exchange_sums:
      return "exchange_sums";
    case activity::add_sums:
      return "add_sums";
    case activity::write_c:
      return "write_c";
  }
  return "";
}

/// Seconds are those since all ranks have left one barrier, before the first transfer: ranks agree on it as well as that
/// barrier lets them go at the same time, which is some microseconds.
struct interval {
  activity what = activity::product;
  /// Of panels and products, from 0; of others -1. The only step of a schedule with first_sixteenths counts as two: what comes
  /// first, and the others.
  int step = -1;
  /// On devices when the device began and ended, by events on its streams; on hosts by a clock that never goes back.
  /// Transfers begin when they may: their memory is free and the rank has posted them. So waiting for the other rank counts.
  /// Transfers by MPI end when this rank has noticed, as it does between strips of a product and when it waits for them.
  double begin = 0, end = 0;
  index_t bytes = 0;         ///< received from other ranks
  double multiply_adds = 0;  ///< of products; one of complex numbers is one
};

}  // namespace keramos::dist
