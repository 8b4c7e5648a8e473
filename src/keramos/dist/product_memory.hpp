// What a rank keeps in memory while it does its part of a product. Internal.
#pragma once

#include <vector>

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/memory.hpp>
#include <keramos/dist/operand.hpp>
#include <keramos/dist/plan.hpp>

namespace keramos::detail {

/// Rows of A, or columns of B, whose panels travel together. Lines of k stand one behind the other, those of this rank and those
/// of a panel.
struct dist_band {
  index_t begin, end;
  char* own = nullptr;
  char* panel[2] = {};
  index_t size() const { return end - begin; }
};

/// One block of memory for all, in which what is not needed at the same time has the same place: copies of A and B, then
/// panels or messages; sums at the end; the others' sums, and the messages of C, where copies were.
class dist_product_memory {
 public:
  /// `has_sums`: whether products are summed here and not where C lies. @throws memory_error or std::bad_alloc
  dist_product_memory(dist::communicator& comm, const dist_product& p, const dist_plan& plan, bool has_sums);

  /// Of A and of B: one for each stage, or for all.
  std::vector<dist_band> a, b;
  char *sums = nullptr, *messages = nullptr;
  char* others = nullptr;  ///< sums of other ranks, then messages of C
  index_t bytes = 0;       ///< without what aligns its parts

 private:
  dist_account account_;
  dist_memory memory_;
};

/// Of the sums of a rank's block of C: the lines that rank ik of those which share the block adds up. Lines are columns, or rows.
struct dist_shares {
  index_t lines, line;  ///< how many, and elements of each
  int parts;

  explicit dist_shares(const dist_plan& plan);
  index_t begin(int ik) const;
  index_t count(int ik) const { return begin(ik + 1) - begin(ik); }
  index_t elements(int ik) const { return count(ik) * line; }
};

}  // namespace keramos::detail
