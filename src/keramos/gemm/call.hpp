// From a call of keramos::gemm to a problem that is sound, in types that kernels know. Internal.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <keramos/core/queue.hpp>
#include <keramos/gemm/check.hpp>
#include <keramos/gemm/compiled_types.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/options.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// alpha or beta (`name`) in the compute type. Integers wrap modulo 2^32, and a floating-point scalar of theirs must be
/// one.
template <class T, class S>
T to_compute(const char* name, S scalar) {
  constexpr bool real = is_complex<T> || !complex_like<S>;
  static_assert(real,
                "keramos::gemm: alpha or beta is complex, but the matrices are not; pass its real part");
  if constexpr (!real) {
    return T(0);  // after the one error
  } else if constexpr (!std::is_unsigned_v<T>) {
    return static_cast<T>(scalar);
  } else if constexpr (!std::is_arithmetic_v<S>) {  // float16 and its like
    return to_compute<T>(name, static_cast<float>(scalar));
  } else {
    if constexpr (std::is_floating_point_v<S>) {
      constexpr S limit = S(1ull << 63);
      if (!(scalar >= -limit && scalar < limit) ||
          scalar != static_cast<S>(static_cast<std::int64_t>(scalar)))
        throw invalid_argument("keramos::gemm: " + std::string(name) + " is " + std::to_string(scalar) +
                               " but integers are multiplied; pass a whole number of 64 bits");
    }
    return static_cast<T>(static_cast<std::int64_t>(scalar));
  }
}
template <class T, class Alpha, class Beta>
linear_epilogue<T> linear_of(Alpha alpha, Beta beta) {
  return {to_compute<T>("alpha", alpha), to_compute<T>("beta", beta)};
}
/// BLAS' update for kernels of Types, where C's elements are the caller's `Element`.
template <class Types, class Element, class Alpha, class Beta>
library_epilogue<Types> update_of(Alpha alpha, Beta beta) {
  if constexpr (Types::quantizes)
    return {linear_of<typename Types::number>(alpha, beta), std::is_signed_v<Element>};
  else
    return linear_of<typename Types::accumulator>(alpha, beta);
}

/// Does one problem (launch.hpp). With BLAS' update of known types it is compiled in the library and exported there; not
/// with an epilogue of a user's, which may have no linkage.
template <class Exec, class Types, class Epilogue>
void run_gemm(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
              const Epilogue& epilogue, const gemm_options& options);
/// How run_gemm does it.
template <class Exec, class Types>
KERAMOS_EXPORT gemm_plan choose_plan(const Exec& exec, const gemm_problem<Types>& p,
                                     const gemm_options& options, epilogue_of_product whose);

/// How kernels read the caller's elements of an operand with that op.
template <class Element, class Kernel = kernel_element<Element>>
tiling::reading<Kernel> reading_of([[maybe_unused]] op o) {
  tiling::reading<Kernel> how;
  if constexpr (is_complex<Kernel>)
    how.conjugated = o == op::C;
  else if constexpr (std::is_same_v<Kernel, integer8>)
    how.is_signed = std::is_signed_v<Element>;
  else if constexpr (std::is_same_v<Kernel, float8>)
    how.is_e5m2 = is_e5m2<Element>;
  return how;
}

template <class M>
using matrix_element = typename decltype(as_matrix(std::declval<const M&>()))::value_type;

/// The problem of operands that are sound; throws, or does not compile, if they are not.
template <class Exec, matrix_like MA, matrix_like MB, matrix_like MC>
auto checked_problem(const MA& a, const MB& b, const MC& c, const gemm_options& options) {
  static_assert(!std::is_const_v<std::remove_pointer_t<decltype(as_matrix(c).data)>>,
                "keramos::gemm: C is written, so its elements must not be const");
  static_assert(accessible_from<Exec, MA>() && accessible_from<Exec, MB>() && accessible_from<Exec, MC>(),
                "keramos::gemm: a View lies in memory that this queue's execution space cannot access; "
                "copy it with Kokkos::create_mirror_view_and_copy");
  if constexpr (is_known_product<matrix_element<MA>, matrix_element<MB>, matrix_element<MC>>()) {
    using types = types_of<matrix_element<MA>, matrix_element<MB>, matrix_element<MC>>;
    const matrix_view<const matrix_element<MA>> av = as_matrix(a);
    const matrix_view<const matrix_element<MB>> bv = as_matrix(b);
    const matrix_view<matrix_element<MC>> cv = as_matrix(c);
    if (!plainly_sound(av, options.op_a, bv, options.op_b, cv))
      check_gemm(region_of("A", av), options.op_a, region_of("B", bv), options.op_b, region_of("C", cv));

    const auto op_av = options.op_a == op::N ? av : av.transposed();
    const auto op_bv = options.op_b == op::N ? bv : bv.transposed();
    return problem_of<types>(
        tiling::operand(as_kernel_type<kernel_element<matrix_element<MA>>>("A", op_av.data), op_av.row_stride,
                        op_av.col_stride, reading_of<matrix_element<MA>>(options.op_a)),
        tiling::operand(as_kernel_type<kernel_element<matrix_element<MB>>>("B", op_bv.data), op_bv.col_stride,
                        op_bv.row_stride, reading_of<matrix_element<MB>>(options.op_b)),
        as_kernel_type<typename types::c>("C", cv.data), cv.row_stride, cv.col_stride, cv.rows, cv.cols,
        op_av.cols);
  } else {
    return gemm_problem<types::f32>{};  // after the one error
  }
}

/// Whether products of such types are computed there: what only matrix units do hosts do not.
template <class Exec, class Types>
inline constexpr bool computes = !Types::needs_matrix_units || !backend::traits<Exec>::is_host;

/// Whether some products of Types are emulated there if `compute` asks for it.
template <class Exec, class Types>
constexpr bool emulates() {
  using emulated = typename emulation<Types>::type;
  if constexpr (std::is_void_v<emulated>)
    return false;
  else
    return computes<Exec, emulated> && is_compiled<emulated>;
}
/// What asks for it, of elements like these.
template <class Types>
inline constexpr gemm_compute asks_to_emulate =
    std::is_same_v<Types, types::f32>   ? gemm_compute::f32_emulated
    : std::is_same_v<Types, types::f64> ? gemm_compute::f64_emulated
                                        : gemm_compute::standard;

/// Throws what `compute` asks for if it cannot be had for elements of Types.
template <class Exec, class Types>
[[noreturn]] void refuse_compute(gemm_compute compute) {
  std::string why = "the backend " + std::string(backend::traits<Exec>::name) + " does not have";
  const bool of_double = compute == gemm_compute::f64_emulated;
  if (of_double || !std::is_same_v<Types, types::f32>)
    why = "is for matrices of " + std::string(of_double ? "double" : "float") + ", but these are " +
          Types::name;
  else if (computes<Exec, types::tf32>)
    why = "KERAMOS_TYPES left out when the library was configured";
  throw invalid_argument("keramos::gemm: options.compute is " + std::string(to_string(compute)) + ", which " +
                         why + "; pass gemm_compute::standard");
}

/// Whether elements of Types can be rounded to TF32 there if `compute` asks for it.
template <class Exec, class Types>
constexpr bool rounds_to_tf32() {
  return std::is_same_v<Types, types::f32> && computes<Exec, types::tf32> && is_compiled<types::tf32>;
}

/// Throws unless `compute` is `standard`, or the emulation that Types has.
template <class Exec, class Types>
void check_compute(gemm_compute compute) {
  if (compute != gemm_compute::standard && compute != asks_to_emulate<Types>)
    refuse_compute<Exec, Types>(compute);
}

/// Calls `f` with the types, as a value, that `compute` asks for where elements are those of Types, and nothing is emulated.
template <class Exec, class Types, class F>
decltype(auto) with_compute(gemm_compute compute, const F& f) {
  if constexpr (rounds_to_tf32<Exec, Types>())
    if (compute == gemm_compute::tf32) return f(types::tf32());
  check_compute<Exec, Types>(compute);
  return f(Types());
}

/// Does a product as the plan says that options give or choose_plan finds: emulated, or not.
template <class Exec, class Types>
void run_emulated(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
                  const library_epilogue<Types>& epilogue, gemm_options options) {
  using emulated_types = typename emulation<Types>::type;
  const auto emulated = in_types<emulated_types>(p);
  if (!options.plan) options.plan = choose_plan(exec, emulated, options, epilogue_of_product::library);
  if (options.plan->type == emulated_types::name)
    run_gemm(exec, memory, emulated, epilogue, options);
  else
    run_gemm(exec, memory, p, epilogue, options);
}

}  // namespace keramos::detail
