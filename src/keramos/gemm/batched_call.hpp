// From a call of keramos::gemm_batched to problems that are sound, in types that kernels know. Internal.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include <keramos/core/queue.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/call.hpp>
#include <keramos/gemm/check.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/options.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/view/matrix_batch.hpp>

namespace keramos::detail {

/// Compiled once for each of the known types (src/gemm/gemm_batched_type.cpp.in).
template <class Exec, class Types>
KERAMOS_EXPORT void run_gemm_batched(const Exec& exec, workspace<Exec>& memory,
                                     const uniform_batch<Types>& batch, const batch_alignment& alignment,
                                     const library_epilogue<Types>& epilogue, const gemm_batch_plan* plan);
template <class Exec, class Types>
KERAMOS_EXPORT void run_gemm_batched(const Exec& exec, workspace<Exec>& memory,
                                     std::vector<gemm_problem<Types>> problems,
                                     const library_epilogue<Types>& epilogue, const gemm_batch_plan* plan);
/// How these do it if they are given no plan.
template <class Exec, class Types>
KERAMOS_EXPORT gemm_batch_plan choose_batch_plan(const Exec& exec, const uniform_batch<Types>& batch,
                                                 const batch_alignment& alignment, epilogue_of_product whose);
template <class Exec, class Types>
KERAMOS_EXPORT gemm_batch_plan choose_batch_plan(const Exec& exec,
                                                 const std::vector<gemm_problem<Types>>& problems,
                                                 epilogue_of_product whose);

inline const gemm_batch_plan* plan_in(const gemm_batched_options& options) {
  return options.plan ? &*options.plan : nullptr;
}

/// C of a batch, and A and B, which may also be one matrix for all problems.
template <class M>
concept batch_result = matrix_batch_like<M> || is_matrix_array<M>;
template <class M>
concept batch_operand_like = batch_result<M> || matrix_like<M>;
template <class M>
concept list_operand_like = matrix_list_like<M> || matrix_like<M>;

template <class M>
auto element_of() {
  if constexpr (matrix_batch_like<M>)
    return typename decltype(as_batch(std::declval<M>()))::value_type();
  else if constexpr (is_matrix_array<M>)
    return typename M::value_type();
  else if constexpr (matrix_list_like<M>)
    return typename decltype(list_entry(std::declval<M>(), 0))::value_type();
  else
    return typename decltype(as_matrix(std::declval<M>()))::value_type();
}
template <class M>
using element_t = decltype(element_of<M>());

/// Whether elements of C may be written.
template <class C>
constexpr bool has_const_elements() {
  if constexpr (matrix_batch_like<C>)
    return std::is_const_v<std::remove_pointer_t<decltype(as_batch(std::declval<C>()).data)>>;
  else if constexpr (is_matrix_array<C>)
    return !std::is_same_v<C, matrix_array<typename C::value_type>>;
  else
    return std::is_const_v<std::remove_pointer_t<decltype(list_entry(std::declval<C>(), 0).data)>>;
}

template <class Exec, class MA, class MB, class MC>
constexpr bool are_batched_types() {
  static_assert(!has_const_elements<MC>(),
                "keramos::gemm_batched: C is written, so its elements must not be const");
  static_assert(batch_accessible_from<Exec, MA>() && batch_accessible_from<Exec, MB>() &&
                    batch_accessible_from<Exec, MC>(),
                "keramos::gemm_batched: a View lies in memory that this queue's execution space cannot "
                "access; copy it with Kokkos::create_mirror_view_and_copy");
  return is_known_product<element_t<MA>, element_t<MB>, element_t<MC>>();
}

/// An operand of a uniform batch without its kind.
template <class T>
struct batch_operand {
  batch_region region;
  batch_place place;
  std::size_t alignment = 0;
};
template <class M>
auto batch_operand_of(const char* name, const M& m, index_t batch) {
  using element = element_t<M>;
  batch_operand<element> x;
  if constexpr (matrix_batch_like<M>) {
    const auto v = as_batch(m);
    x.region = {
        {name, v.data, sizeof(element), v.rows, v.cols, v.row_stride, v.col_stride}, v.batch, v.batch_stride};
    x.place.stride = v.batch_stride;
  } else if constexpr (is_matrix_array<M>) {
    x.region = {
        {name, m.addresses, sizeof(element), m.rows, m.cols, m.row_stride, m.col_stride}, m.batch, 0, true};
    x.place = {m.step, m.addresses};
    x.alignment = m.alignment;
  } else {
    x.region = {region_of(name, as_matrix(m)), batch, 0};
  }
  return x;
}

/// The matrices of a list, or the one that stands for all.
template <class M>
std::vector<region> regions_of(const char* name, const M& list) {
  std::vector<region> all;
  if constexpr (kokkos_list<M>)
    static_assert(
        Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename M::memory_space>::accessible,
        "keramos::gemm_batched: a View of matrices lies in memory that the host cannot read; wrap it "
        "with matrix_array::from, or copy it with Kokkos::create_mirror_view_and_copy");
  if constexpr (matrix_list_like<M>) {
    const index_t count = list_size(list);
    all.reserve(std::size_t(count));
    for (index_t i = 0; i < count; ++i) all.push_back(region_of(name, list_entry(list, i)));
  } else {
    all.push_back(region_of(name, as_matrix(list)));
  }
  return all;
}

template <class To, class From>
decltype(auto) in_types(const uniform_batch<From>& batch) {
  if constexpr (std::is_same_v<To, From>)
    return (batch);
  else
    return uniform_batch<To>{in_types<To>(batch.shape), batch.a, batch.b, batch.c, batch.count};
}
template <class To, class From>
std::vector<gemm_problem<To>> in_types(std::vector<gemm_problem<From>> problems) {
  if constexpr (std::is_same_v<To, From>) {
    return problems;
  } else {
    std::vector<gemm_problem<To>> all;
    all.reserve(problems.size());
    for (const auto& p : problems) all.push_back(in_types<To>(p));
    return all;
  }
}

/// The problem of A, B and C without types and ops, whose callers' elements are of these types.
template <class Types, class ElementA, class ElementB>
gemm_problem<Types> problem_of(const region& a, op op_a, const region& b, op op_b, const region& c) {
  const bool ta = op_a != op::N, tb = op_b != op::N;
  return problem_of<Types>(
      tiling::operand(static_cast<const kernel_element<ElementA>*>(a.data), ta ? a.col_stride : a.row_stride,
                      ta ? a.row_stride : a.col_stride, reading_of<ElementA>(op_a)),
      tiling::operand(static_cast<const kernel_element<ElementB>*>(b.data), tb ? b.row_stride : b.col_stride,
                      tb ? b.col_stride : b.row_stride, reading_of<ElementB>(op_b)),
      static_cast<typename Types::c*>(const_cast<void*>(c.data)), c.row_stride, c.col_stride, c.rows, c.cols,
      ta ? a.rows : a.cols);
}

/// A batch that is sound, and what is known of its addresses; throws, or does not compile, if it is not.
template <class Types>
struct checked_uniform_batch {
  uniform_batch<Types> batch;
  batch_alignment alignment;
};
template <class Exec, class MA, class MB, class MC>
auto checked_batch(const MA& a, const MB& b, const MC& c, const gemm_batched_options& options) {
  if constexpr (are_batched_types<Exec, MA, MB, MC>()) {
    using types = types_of<element_t<MA>, element_t<MB>, element_t<MC>>;
    const auto co = batch_operand_of("C", c, 0);
    const auto ao = batch_operand_of("A", a, co.region.batch);
    const auto bo = batch_operand_of("B", b, co.region.batch);
    check_gemm_batched(ao.region, options.op_a, bo.region, options.op_b, co.region);
    const auto check = []<class T>(const batch_operand<T>& x) {
      if (!x.region.addressed) check_alignment<kernel_element<T>>(x.region.first.name, x.region.first.data);
    };
    check(ao), check(bo), check(co);
    checked_uniform_batch<types> checked{
        {problem_of<types, element_t<MA>, element_t<MB>>(ao.region.first, options.op_a, bo.region.first,
                                                         options.op_b, co.region.first),
         ao.place, bo.place, co.place, co.region.batch},
        {ao.alignment, bo.alignment, co.alignment}};
    if (checked.batch.shape.place.transposed) {
      std::swap(checked.batch.a, checked.batch.b);
      std::swap(checked.alignment.a, checked.alignment.b);
    }
    return checked;
  } else {
    return checked_uniform_batch<types::f32>{};  // after the one error
  }
}

/// The same of lists.
template <class Exec, class MA, class MB, class MC>
auto checked_list(const MA& a, const MB& b, const MC& c, const gemm_batched_options& options) {
  if constexpr (are_batched_types<Exec, MA, MB, MC>()) {
    using types = types_of<element_t<MA>, element_t<MB>, element_t<MC>>;
    const auto ar = regions_of("A", a), br = regions_of("B", b), cr = regions_of("C", c);
    check_gemm_batched(ar, options.op_a, br, options.op_b, cr,
                       {.a = !matrix_list_like<MA>, .b = !matrix_list_like<MB>});
    const auto check = []<class T>(std::type_identity<T>, const std::vector<region>& list) {
      for (const region& x : list) check_alignment<kernel_element<T>>(x.name, x.data);
    };
    check(std::type_identity<element_t<MA>>(), ar);
    check(std::type_identity<element_t<MB>>(), br);
    check(std::type_identity<element_t<MC>>(), cr);
    std::vector<gemm_problem<types>> problems;
    problems.reserve(cr.size());
    for (std::size_t i = 0; i < cr.size(); ++i)
      problems.push_back(problem_of<types, element_t<MA>, element_t<MB>>(
          ar[ar.size() == 1 ? 0 : i], options.op_a, br[br.size() == 1 ? 0 : i], options.op_b, cr[i]));
    return problems;
  } else {
    return std::vector<gemm_problem<types::f32>>{};
  }
}

}  // namespace keramos::detail
