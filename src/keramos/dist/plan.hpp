// What a rank does in a product, as far as it follows from layouts and options, without data. Internal.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/path.hpp>
#include <keramos/dist/schedule.hpp>

namespace keramos::dist {
struct gemm_options;
}

namespace keramos::detail {

struct dist_product;

struct dist_plan {
  // From what it is made:
  dist::operand_layouts where;
  index_t memory;
  std::optional<dist::schedule> given;

  dist::schedule schedule;
  std::string text;  ///< of layouts and schedule: lines that all ranks must have alike
  /// This rank's place, its block of C, its lines of k of A and B.
  bool works = false;
  int im = 0, in = 0, ik = 0;
  index_t m = 0, n = 0, own_k_a = 0, own_k_b = 0;
  /// They lie as gemm would copy them: on the same ranks, and in the order of panels. C in that of the sums.
  bool a_stays = false, b_stays = false, c_stays = false;
  /// How A and B get to where the schedule wants them, and sums to C; null if there is nothing to multiply.
  std::unique_ptr<const dist_path> a, b, c;

  dist_plan(dist::communicator& comm, const dist::operand_layouts& of, const dist::schedule& s,
            const dist::gemm_options& options);
  bool is_for(const dist_product& p, const dist::gemm_options& options) const;
  /// Bytes of memory that it holds, by and large.
  std::size_t size() const;
};

/// The plan that the communicator remembers, or a new one. Not collective.
/// @throws invalid_argument if extents disagree, memory_error if options.memory is too little.
KERAMOS_EXPORT std::shared_ptr<const dist_plan> dist_plan_of(dist::communicator& comm, const dist_product& p,
                                                             const dist::gemm_options& options);

}  // namespace keramos::detail
