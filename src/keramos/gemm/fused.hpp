// keramos::gemm and gemm_batched with an epilogue of the caller's: what becomes of an element on its way to C happens
// in the product's own kernel.
//
//   namespace ep = keramos::epilogue;
//   keramos::gemm(q, a, b, c, ep::bias_by_column(bias) | ep::relu());       // C = max(A·B + bias, 0)
//
// These kernels are compiled here, in the source that calls: a source of its own is a good
// place for each epilogue. keramos.hpp does not include this header.
//
// Kernels of warpgroups, the tensor cores of compute capability 9.0, are code for one architecture. A source that CMake's
// function keramos_add_fused_sources adds to a target is compiled for it: there they take a caller's epilogue as well.
// (Functions of such sources have names of their own, by their last parameter.)
#pragma once

#include <type_traits>
#include <utility>

#include <keramos/gemm/batched.hpp>
#include <keramos/gemm/epilogue.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/launch.hpp>
#include <keramos/gemm/launch_batched.hpp>

#if defined(KERAMOS_FUSES_ON_WARPGROUPS)  // by keramos_add_fused_sources
#include <keramos/gemm/kernel/launch_warpgroups.hpp>
#define KERAMOS_HERE_ON_WARPGROUPS true
#else
#define KERAMOS_HERE_ON_WARPGROUPS false
#endif

namespace keramos {

namespace detail {

/// Kernels of integers count in unsigned ones, modulo 2^32; epilogues are given the caller's type, `Element`.
template <class Epilogue, class T, class Element>
struct epilogue_of_integers {
  Epilogue epilogue;

  KERAMOS_FORCEINLINE_FUNCTION bool reads_c() const { return detail::reads_c<Element>(epilogue); }
  KERAMOS_FORCEINLINE_FUNCTION T operator()(T acc, T c, index_t i, index_t j,
                                            index_t batch) const requires may_read_c<Epilogue, Element> {
    return static_cast<T>(
        static_cast<Element>(epilogue(static_cast<Element>(acc), static_cast<Element>(c), i, j, batch)));
  }
  KERAMOS_FORCEINLINE_FUNCTION T operator()(T acc, index_t i, index_t j,
                                            index_t batch) const requires may_skip_c<Epilogue, Element> {
    return static_cast<T>(static_cast<Element>(epilogue(static_cast<Element>(acc), i, j, batch)));
  }
};

/// In what a caller's epilogue computes.
template <class Types>
struct epilogue_number : std::type_identity<typename Types::number> {};
template <>
struct epilogue_number<void> : std::type_identity<float> {};  // of a product that does not compile
template <class A, class B, class C>
using epilogue_number_t = typename epilogue_number<types_of<A, B, C>>::type;

/// With a caller's epilogue products are not rounded to tf32, for which each epilogue would be compiled once more, nor emulated:
/// what may be emulated is computed plainly.
template <class Exec, class Types>
void refuse_other_compute(gemm_compute compute) {
  if (compute == gemm_compute::tf32)
    throw invalid_argument(
        "keramos::gemm: options.compute is tf32, which products with an epilogue of the caller's "
        "do not have; pass gemm_compute::standard");
  check_compute<Exec, Types>(compute);
}

/// An epilogue as kernels are given it, in sources that are compiled for warpgroups or in others.
template <bool OnWarpgroups, class T, class Epilogue>
auto for_source(const Epilogue& epilogue) {
  if constexpr (OnWarpgroups)
    return on_warpgroups<Epilogue, T>{epilogue};
  else
    return epilogue;
}
template <bool OnWarpgroups, class Epilogue>
inline constexpr epilogue_of_product whose_epilogue_in =
    is_linear<Epilogue> ? epilogue_of_product::library
    : OnWarpgroups      ? epilogue_of_product::caller_on_warpgroups
                        : epilogue_of_product::caller;

/// What kernels of `Types` are given for a caller's epilogue, where C's elements are the caller's `Element`: BLAS' update by
/// itself has kernels in the library.
template <bool OnWarpgroups, class Types, class Element, class Epilogue>
auto kernel_epilogue(const Epilogue& epilogue) {
  using T = typename Types::accumulator;
  using number = typename Types::number;
  static_assert(
      sizeof(Epilogue) <= most_epilogue_bytes,
      "keramos: an epilogue may have at most 104 bytes; keep large data in memory and a pointer in it");
  if constexpr (is_linear<Epilogue>)
    return update_of<Types, Element>(epilogue.alpha, epilogue.beta);
  else if constexpr (Types::quantizes)
    return for_source<OnWarpgroups, T>(quantized_epilogue<Epilogue>{epilogue, std::is_signed_v<Element>});
  else if constexpr (std::is_same_v<T, number>)
    return for_source<OnWarpgroups, T>(for_elements<typename Types::c>(epilogue));
  else
    return for_source<OnWarpgroups, T>(epilogue_of_integers<Epilogue, T, number>{epilogue});
}

}  // namespace detail

/// C(i, j) ← epilogue(Σ_k op(A)(i, k)·op(B)(k, j), C(i, j), i, j, 0) on the queue; returns at once.
///
/// Operands, options and errors are those of keramos::gemm with alpha and beta (gemm.hpp); these are part of the
/// epilogue here, if they are needed: epilogue::linear(alpha, beta). The epilogue (epilogue.hpp: the library's own, which
/// compose, or any callable that is an epilogue_for the type of sums) is called for each element of C, with its row
/// and column in the caller's C, whatever the library transposes, cuts or divides. The type of sums is that of C's
/// elements, or float for shorter ones (with integers of eight bits sums are formed in std::int32_t, and given as float):
/// its result is rounded to them, and kept within the range of integers. With k = 0 the sum is 0. What it reads must
/// live until the product is done, and must not be C, but for the element that it is given.
template <class Exec, matrix_like MA, matrix_like MB, matrix_like MC, class Epilogue,
          bool OnWarpgroups = KERAMOS_HERE_ON_WARPGROUPS>
basic_event<Exec> gemm(basic_queue<Exec>& q, const MA& a, const MB& b, const MC& c, const Epilogue& epilogue,
                       const gemm_options& options = {}) {
  using number = detail::epilogue_number_t<detail::matrix_element<MA>, detail::matrix_element<MB>,
                                           detail::matrix_element<MC>>;
  if constexpr (detail::check_epilogue<Epilogue, number, Exec>()) {
    const auto problem = detail::checked_problem<Exec>(a, b, c, options);
    using types = typename decltype(problem)::types;
    detail::refuse_other_compute<Exec, types>(options.compute);
    detail::run_gemm(q.execution_space(), detail::workspace_of(q), problem,
                     detail::kernel_epilogue<OnWarpgroups, types, detail::matrix_element<MC>>(epilogue),
                     options);
  }
  return q.completion();
}

/// The plan of such a product (gemm.hpp, plan_gemm): one of a product with alpha and beta may need kernels that are compiled
/// in the library alone.
template <class Exec, matrix_like MA, matrix_like MB, matrix_like MC, class Epilogue,
          bool OnWarpgroups = KERAMOS_HERE_ON_WARPGROUPS>
requires(!std::is_same_v<Epilogue, gemm_options>) gemm_plan
    plan_gemm(basic_queue<Exec>& q, const MA& a, const MB& b, const MC& c, const Epilogue&,
              const gemm_options& options = {}) {
  using number = detail::epilogue_number_t<detail::matrix_element<MA>, detail::matrix_element<MB>,
                                           detail::matrix_element<MC>>;
  if constexpr (detail::check_epilogue<Epilogue, number, Exec>()) {
    const auto problem = detail::checked_problem<Exec>(a, b, c, options);
    detail::refuse_other_compute<Exec, typename decltype(problem)::types>(options.compute);
    return detail::choose_plan(q.execution_space(), problem, options,
                               detail::whose_epilogue_in<OnWarpgroups, Epilogue>);
  } else {
    return gemm_plan();
  }
}

/// C[b](i, j) ← epilogue(Σ_k op(A[b])(i, k)·op(B[b])(k, j), C[b](i, j), i, j, b) for every b of a batch, on the queue;
/// returns at once. Operands, options and errors are those of keramos::gemm_batched (batched.hpp).
template <class Exec, detail::batch_operand_like MA, detail::batch_operand_like MB, detail::batch_result MC,
          class Epilogue, bool OnWarpgroups = KERAMOS_HERE_ON_WARPGROUPS>
basic_event<Exec> gemm_batched(basic_queue<Exec>& q, const MA& a, const MB& b, const MC& c,
                               const Epilogue& epilogue, const gemm_batched_options& options = {}) {
  using number =
      detail::epilogue_number_t<detail::element_t<MA>, detail::element_t<MB>, detail::element_t<MC>>;
  if constexpr (detail::check_epilogue<Epilogue, number, Exec>()) {
    const auto checked = detail::checked_batch<Exec>(a, b, c, options);
    using types = typename decltype(checked.batch)::types;
    detail::refuse_other_compute<Exec, types>(options.compute);
    detail::dispatch_gemm_batched(
        q.execution_space(), detail::workspace_of(q), checked.batch, checked.alignment,
        detail::kernel_epilogue<OnWarpgroups, types, detail::element_t<MC>>(epilogue),
        detail::plan_in(options));
  }
  return q.completion();
}

/// The same for matrices that are listed on the host: b is the place in the lists.
template <class Exec, detail::list_operand_like MA, detail::list_operand_like MB, matrix_list_like MC,
          class Epilogue, bool OnWarpgroups = KERAMOS_HERE_ON_WARPGROUPS>
basic_event<Exec> gemm_batched(basic_queue<Exec>& q, const MA& a, const MB& b, const MC& c,
                               const Epilogue& epilogue, const gemm_batched_options& options = {}) {
  using number =
      detail::epilogue_number_t<detail::element_t<MA>, detail::element_t<MB>, detail::element_t<MC>>;
  if constexpr (detail::check_epilogue<Epilogue, number, Exec>()) {
    const auto problems = detail::checked_list<Exec>(a, b, c, options);
    using types = typename decltype(problems)::value_type::types;
    detail::refuse_other_compute<Exec, types>(options.compute);
    detail::dispatch_gemm_batched(
        q.execution_space(), detail::workspace_of(q), problems,
        detail::kernel_epilogue<OnWarpgroups, types, detail::element_t<MC>>(epilogue),
        detail::plan_in(options));
  }
  return q.completion();
}

/// The plan of such a batch (batched.hpp, plan_gemm_batched): one of a batch with alpha and beta may need kernels that are
/// compiled in the library alone.
template <class Exec, detail::batch_operand_like MA, detail::batch_operand_like MB, detail::batch_result MC,
          class Epilogue, bool OnWarpgroups = KERAMOS_HERE_ON_WARPGROUPS>
requires(!std::is_same_v<Epilogue, gemm_batched_options>) gemm_batch_plan
    plan_gemm_batched(basic_queue<Exec>& q, const MA& a, const MB& b, const MC& c, const Epilogue&,
                      const gemm_batched_options& options = {}) {
  using number =
      detail::epilogue_number_t<detail::element_t<MA>, detail::element_t<MB>, detail::element_t<MC>>;
  if constexpr (detail::check_epilogue<Epilogue, number, Exec>()) {
    const auto checked = detail::checked_batch<Exec>(a, b, c, options);
    detail::refuse_other_compute<Exec, typename decltype(checked.batch)::types>(options.compute);
    return detail::choose_batch_plan(q.execution_space(), checked.batch, checked.alignment,
                                     detail::whose_epilogue_in<OnWarpgroups, Epilogue>);
  } else {
    return gemm_batch_plan();
  }
}
/// The same for lists.
template <class Exec, detail::list_operand_like MA, detail::list_operand_like MB, matrix_list_like MC,
          class Epilogue, bool OnWarpgroups = KERAMOS_HERE_ON_WARPGROUPS>
requires(!std::is_same_v<Epilogue, gemm_batched_options>) gemm_batch_plan
    plan_gemm_batched(basic_queue<Exec>& q, const MA& a, const MB& b, const MC& c, const Epilogue&,
                      const gemm_batched_options& options = {}) {
  using number =
      detail::epilogue_number_t<detail::element_t<MA>, detail::element_t<MB>, detail::element_t<MC>>;
  if constexpr (detail::check_epilogue<Epilogue, number, Exec>()) {
    const auto problems = detail::checked_list<Exec>(a, b, c, options);
    detail::refuse_other_compute<Exec, typename decltype(problems)::value_type::types>(options.compute);
    return detail::choose_batch_plan(q.execution_space(), problems,
                                     detail::whose_epilogue_in<OnWarpgroups, Epilogue>);
  } else {
    return gemm_batch_plan();
  }
}

}  // namespace keramos

#undef KERAMOS_HERE_ON_WARPGROUPS
