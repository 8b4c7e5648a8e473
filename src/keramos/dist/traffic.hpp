// What ranks receive and send if a schedule is followed, counted from layouts. Internal.
#pragma once

#include <cstddef>
#include <vector>

#include <keramos/dist/schedule.hpp>

namespace keramos::detail {

/// What each place of a schedule receives and sends, and what each rank would save there by what it has already. Bytes are
/// double, which holds all that fit into memory.
class dist_traffic {
 public:
  /// Panels and sums only; `s` has no ranks_of_places.
  explicit dist_traffic(const dist::schedule& s);
  /// The most that a place receives or sends of panels and sums.
  double scheduled() const;

  void count(const dist::operand_layouts& where);
  /// No less than that, whichever ranks the places have.
  double least_of_places() const;
  /// The rank of each place that has most of what it needs there, one after the other.
  std::vector<int> near_places() const;
  /// Of each rank; ranks_of_places as in a schedule.
  struct bytes {
    double received = 0, sent = 0, redistributed = 0;
  };
  std::vector<bytes> of_ranks(const std::vector<int>& ranks_of_places) const;

 private:
  double& saved(int rank, int place) { return saved_[std::size_t(rank * places_ + place)]; }
  double saved(int rank, int place) const { return saved_[std::size_t(rank * places_ + place)]; }

  dist::schedule s_;
  dist::layout a_, b_, sums_;
  int places_;
  std::vector<bytes> scheduled_;  // of each place: panels and sums
  std::vector<double> needed_,
      has_sums_;                     // of each place: bytes of A and B, and of the sums that it has at last
  std::vector<double> has_, wants_;  // of each rank: bytes of A and B, and of C
  std::vector<double> saved_;        // of each rank and place: what is where it is needed
};

}  // namespace keramos::detail
