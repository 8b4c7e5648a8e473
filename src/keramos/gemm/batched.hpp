// keramos::gemm_batched: many products C[b] ← alpha·op(A[b])·op(B[b]) + beta·C[b] in one call.
//
//   Kokkos::View<double***> a("A", batch, m, k), b("B", batch, k, n), c("C", batch, m, n);
//   keramos::gemm_batched(q, 1.0, a, b, 0.0, c);
#pragma once

#include <utility>

#include <keramos/core/queue.hpp>
#include <keramos/gemm/batched_call.hpp>
#include <keramos/gemm/options.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/view/matrix_batch.hpp>

namespace keramos {

/// C[b] ← alpha·op(A[b])·op(B[b]) + beta·C[b] for every b of a batch, on the queue; returns at once. The
/// promises are those of keramos::gemm (gemm.hpp): edges, beta = 0, k = 0, NaN, accuracy, the same bits from
/// the same call.
///
/// @param c     a batch of m x n matrices: a rank-3 Kokkos View or mdspan (batch, m, n) of any layout, a
///              batched_matrix_view over a bare pointer, or a matrix_array of addresses that the device reads.
/// @param a, b  the same, op(A[b]) m x k and op(B[b]) k x n; or one matrix (rank-2 View, mdspan, matrix_view),
///              or a batch stride of 0, for an operand that all problems share.
///              Element types are those of keramos::gemm. Extents may be 0.
/// @param alpha, beta  as in keramos::gemm.
/// @throws invalid_argument as keramos::gemm, naming the matrix; also if matrices of C overlap one another, or options.plan
///              is not for this batch. What lies behind a matrix_array's addresses cannot be checked.
///              launch_error if the plan's tile does not fit the device.
///
/// Fastest where the batch is the slowest or the fastest index of all three, and strides are multiples of 16
/// bytes. On a GPU matrices up to 32 x 32 share teams (but not of elements of one or two bytes, nor in tf32); larger ones
/// are tiled as in keramos::gemm. One launch in either case. With A or B shared, stacked matrices are multiplied as one
/// large product.
template <class Exec, class Alpha, detail::batch_operand_like MA, detail::batch_operand_like MB, class Beta,
          detail::batch_result MC>
basic_event<Exec> gemm_batched(basic_queue<Exec>& q, Alpha alpha, const MA& a, const MB& b, Beta beta,
                               const MC& c, const gemm_batched_options& options = {}) {
  const auto checked = detail::checked_batch<Exec>(a, b, c, options);
  using types = typename decltype(checked.batch)::types;
  const auto epilogue = detail::update_of<types, detail::element_t<MC>>(alpha, beta);
  detail::with_compute<Exec, types>(options.compute, [&]<class To>(To) {
    detail::run_gemm_batched<Exec, To>(q.execution_space(), detail::workspace_of(q),
                                       detail::in_types<To>(checked.batch), checked.alignment, epilogue,
                                       detail::plan_in(options));
  });
  return q.completion();
}

/// The same for matrices that are listed on the host, each with extents, strides and memory of its own
/// (a grouped batch): problem i multiplies the i-th of each list.
///
/// c is any random-access range, or rank-1 View that the host reads, of rank-2 Views, mdspans or matrix_views,
/// any of which may be empty; a and b the same, of equal length, or one matrix for all problems.
///
/// The lists are read before the call returns; on a GPU they are copied to the device on the queue, through
/// pinned memory that the queue keeps (for a list longer than all before it Kokkos allocates more, and may wait).
/// So such a call cannot be captured in a graph, and throws invalid_argument there.
/// One launch, with one tile for all; problems up to 32 x 32 share teams if all are that small. A batch of one shape
/// and spacing is faster, and a matrix_array needs no copy.
template <class Exec, class Alpha, detail::list_operand_like MA, detail::list_operand_like MB, class Beta,
          matrix_list_like MC>
basic_event<Exec> gemm_batched(basic_queue<Exec>& q, Alpha alpha, const MA& a, const MB& b, Beta beta,
                               const MC& c, const gemm_batched_options& options = {}) {
  auto problems = detail::checked_list<Exec>(a, b, c, options);
  using types = typename decltype(problems)::value_type::types;
  const auto epilogue = detail::update_of<types, detail::element_t<MC>>(alpha, beta);
  detail::with_compute<Exec, types>(options.compute, [&]<class To>(To) {
    detail::run_gemm_batched<Exec, To>(q.execution_space(), detail::workspace_of(q),
                                       detail::in_types<To>(std::move(problems)), epilogue,
                                       detail::plan_in(options));
  });
  return q.completion();
}

/// How keramos::gemm_batched would do this batch: nothing is launched, and no matrix is read.
///
/// What plan_gemm (gemm.hpp) says of a product's plan holds for this one: it can be printed, kept, changed, and given back as
/// gemm_batched_options::plan; with the same plan the same operands give the same bits. It holds for a batch of so many
/// problems of such extents, strides and alignment, or for a list of so many whose largest extents are these; what it does
/// not fit is refused. options.plan is ignored here.
template <class Exec, detail::batch_operand_like MA, detail::batch_operand_like MB, detail::batch_result MC>
gemm_batch_plan plan_gemm_batched(basic_queue<Exec>& q, const MA& a, const MB& b, const MC& c,
                                  const gemm_batched_options& options = {}) {
  const auto checked = detail::checked_batch<Exec>(a, b, c, options);
  using types = typename decltype(checked.batch)::types;
  return detail::with_compute<Exec, types>(options.compute, [&]<class To>(To) {
    return detail::choose_batch_plan(q.execution_space(), detail::in_types<To>(checked.batch),
                                     checked.alignment, detail::epilogue_of_product::library);
  });
}
/// The same for lists.
template <class Exec, detail::list_operand_like MA, detail::list_operand_like MB, matrix_list_like MC>
gemm_batch_plan plan_gemm_batched(basic_queue<Exec>& q, const MA& a, const MB& b, const MC& c,
                                  const gemm_batched_options& options = {}) {
  auto problems = detail::checked_list<Exec>(a, b, c, options);
  using types = typename decltype(problems)::value_type::types;
  return detail::with_compute<Exec, types>(options.compute, [&]<class To>(To) {
    return detail::choose_batch_plan(q.execution_space(), detail::in_types<To>(std::move(problems)),
                                     detail::epilogue_of_product::library);
  });
}

}  // namespace keramos
