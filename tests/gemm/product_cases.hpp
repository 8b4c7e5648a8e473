// Cases that products of all types of elements have, each a body that is compiled once.
#pragma once

#include "batched_case.hpp"

namespace keramos::test {

/// What runs and judges products of one kind of elements, and what these take.
struct judged_products {
  testing::AssertionResult (*product)(gemm_case, std::uint64_t seed);
  testing::AssertionResult (*batch)(const batched_case&, std::uint64_t seed);
  testing::AssertionResult (*by_addresses)(const batched_case&, std::uint64_t seed);
  testing::AssertionResult (*list)(const list_case&, std::uint64_t seed);
  bool is_complex;  ///< ops conjugate, and scalars have an imaginary part
  bool is_whole;
  double unit;  ///< see scale_to
};
template <class A, class C = A, class B = A>
judged_products products_of() {
  return {run<A, C, B>,
          run<A, C, B>,
          run_by_addresses<A, C, B>,
          run<A, C, B>,
          complex_like<wider_element<A, B>>,
          std::is_integral_v<A>,
          scale_to<C>};
}

/// Tiny and larger ones, a row, a column; with every op.
void sizes_and_ops(const judged_products& of);
/// A quarter of them in rows of whole sixteens of elements, which GPUs copy at once.
void random_layouts_and_scalars(const judged_products& of);
/// Several k-tiles on hosts, parts of k on GPUs; a row and a column.
void long_k(const judged_products& of);
/// As pack_and_cut has it. Of elements that are packed in groups some are left in each k-tile of seven.
void packed_beforehand_and_cut(const judged_products& of, void (*cut)(gemm_plan&, int k_tile) = pack_and_cut);
/// With each spacing.
void batches(const judged_products& of);
/// Of up to 33 x 33 elements, which GPUs let share teams: as they lie, by addresses, and in lists.
void small_batches(const judged_products& of);
void lists(const judged_products& of);
/// More tiles than a GPU does at once, in rows of whole sixteens of elements: of batches with each spacing, by addresses, and of
/// a list.
void many_tiles(const judged_products& of);
/// Every op of A and B with every mix of layouts, of one product and of a batch: as it lies, by addresses, and in a list.
void every_op_and_layout(const judged_products& of, gemm_compute compute = gemm_compute::standard);

}  // namespace keramos::test
