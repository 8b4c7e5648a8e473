// keramos::gemm: C ← alpha·op(A)·op(B) + beta·C.
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

namespace keramos {

namespace detail {

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

}  // namespace detail

/// C ← alpha·op(A)·op(B) + beta·C on the queue; returns at once.
///
/// @param a, b, c  rank-2 Kokkos Views of any layout, mdspans, or matrix_view over bare pointers, all of one
///                 element type: float, double, std::int32_t, float16 or bfloat16; of the last two C may be float.
///                 _Float16, __half and Kokkos' half_t are float16 under other names, __bf16, __nv_bfloat16,
///                 __hip_bfloat16 and bhalf_t are bfloat16.
///                 Or A and B of float8_e4m3 or float8_e5m2 (CUDA's __nv_fp8_e4m3 and __nv_fp8_e5m2 are the same), each
///                 of either, and C of float16, bfloat16 or float; alpha is where their scales go, or an epilogue's
///                 scale of rows and columns.
///                 Or A and B of std::int8_t or std::uint8_t, each of either, and C of std::int32_t, or of one of these
///                 two again: sums are of std::int32_t, alpha and beta of float, and alpha·sum + beta·C is computed in
///                 float, rounded to the nearest integer (ties to even) and kept within C's range; NaN becomes 0.
///                 Or complex numbers of float or double: std::complex, Kokkos::complex or keramos::complex, at
///                 addresses that are multiples of their size. op::C conjugates them.
///                 Or one of A and B float16 or bfloat16 and the other float, as C is; or one of float or double and the
///                 other complex of the same, as C is.
///                 op(A) is m x k, op(B) k x n, C m x n; any may be a sub-matrix; extents may be 0.
/// @param alpha, beta  converted to the type of sums (the element type; float for shorter floats; of integers
///                 std::int32_t, modulo 2^32, whole numbers; real or complex for complex numbers); to float where C
///                 has eight bits.
///                 beta = 0 does not read C; alpha = 0 or k = 0 does not read A or B.
/// @throws invalid_argument if extents disagree, data is null, C overlaps A or B or itself, or alpha or
///                 beta is no whole number where integers are multiplied, or options.plan is not for this product,
///                 or options.compute cannot be had for these elements or this backend,
///                 or complex numbers are not aligned to their size;
///                 C is untouched then. launch_error if the tile that options ask for does not fit the device.
///
/// f32 and f64 are IEEE arithmetic of that precision, |Ĉ − C| ≤ γ(k + 2)·(|alpha||A||B| + |beta||C|)
/// with γ(j) = j·u / (1 − j·u) (Higham, Accuracy and Stability of Numerical Algorithms, 3.5). Of complex numbers each
/// part of Ĉ keeps that bound with 2k + 4 for k + 2 and |z| for |Re z| + |Im z|. That holds for real with complex too; a
/// part that is NaN or infinite reaches sums of that part alone. Halves with float are floats. float16 and bfloat16 are
/// multiplied and summed in f32, with its bound; a C of their type is rounded to the nearest at the end, once. Subnormal
/// bfloat16s count as zeros on hosts that multiply them by AVX512-BF16 or AMX. On GPUs subnormal float16s and bfloat16s count
/// as the smallest normal ones in that bound, for tensor cores lose bits of their products. float8_e4m3 and float8_e5m2 are
/// summed in f32 too, but on GPUs their tensor cores keep fewer bits of sums: k in parts of at most 128 is summed there, and
/// these in f32. To the bound comes 2^-11·|alpha||A||B|. Products and sums of integers are exact modulo 2^32. The same call on
/// the same device and build gives bitwise the same answer.
///
/// options.compute = gemm_compute::tf32, for f32 on CUDA from compute capability 8.0 on: elements are rounded to eleven bits
/// first, so to the bound comes 2^-10·(1 + 2^-12)·|alpha||A||B|; of subnormal elements fewer bits are left. A matrix times a
/// vector is computed as without.
///
/// options.compute = gemm_compute::f32_emulated, for f32, and f64_emulated, for f64: on GPUs of compute capability 9.0 whose
/// Kokkos gives a team 198 KB of scratch (5.2), where it is faster, by one of two ways. Everywhere else, for batches and with
/// epilogues of the caller's, it is f32 and f64 as without. NaN and infinities are as in IEEE arithmetic.
///
/// - Large products of f32 and f64 by integers of eight bits (kernel/residues/; Ozaki, Uchino, Imamura, "Ozaki Scheme II",
///   arXiv 2504.08009). Each row of A and column of B is rounded to integers of b bits beside the largest of its elements,
///   below 2^e and 2^f; their product is exact, and rounded once: |Ĉ − C| ≤ |alpha|·2^-b·(2^f·Σ|a| + 2^e·Σ|b|) + 2u|C| and
///   what the update adds. The device chooses b from samples of the data so that, by chance, these errors are a quarter of
///   those of sums in f32 or f64. Where it needs more than 18 moduli (f32: 12), as for exponents far apart in a row, or an
///   element is not finite, it forms the product as without, and asks nobody. Takes up to a sixteenth of the device's memory.
/// - Products of f32 of middle size: each element is split in the nearest of eleven bits and the nearest to the rest, three of
///   the four products of these parts are formed on tensor cores, and sums of 32 columns of k are added in f32 (3xTF32: Ootomo
///   and Yokota, Int. J. High Perform. Comput. Appl. 36(4), 2022, who say why those sums are not left to the tensor cores). To
///   the bound comes 2^-18·|alpha||A||B|: 2^-21 for what is left of elements, the rest for sums of tensor cores, which are
///   truncated (Fasi, Higham, Mikaitis, Pranesh, PeerJ Comput. Sci. 7:e330, 2021; a bit more than f32's is taken for granted).
///   Errors are smaller than those of f32 where many terms of like size are summed, since fewer sums are rounded, but may be
///   larger where one term is most of a sum. Elements below 2^-103 may lose bits, for their second parts are subnormal.
///
/// The call can be captured in a CUDA graph once the same call was made before, outside: by then the queue has
/// the memory that it needs. The graph uses that memory, so the queue must outlive it, and a run of the graph must
/// not overlap other work of the queue or another run.
template <class Exec, class Alpha, matrix_like MA, matrix_like MB, class Beta, matrix_like MC>
basic_event<Exec> gemm(basic_queue<Exec>& q, Alpha alpha, const MA& a, const MB& b, Beta beta, const MC& c,
                       const gemm_options& options = {}) {
  const auto problem = detail::checked_problem<Exec>(a, b, c, options);
  using types = typename decltype(problem)::types;
  const auto epilogue = detail::update_of<types, detail::matrix_element<MC>>(alpha, beta);
  if constexpr (detail::emulates<Exec, types>())
    if (options.compute == detail::asks_to_emulate<types>) {
      detail::run_emulated(q.execution_space(), detail::workspace_of(q), problem, epilogue, options);
      return q.completion();
    }
  if constexpr (detail::rounds_to_tf32<Exec, types>())
    if (options.compute == gemm_compute::tf32) {
      detail::run_gemm(q.execution_space(), detail::workspace_of(q),
                       detail::in_types<keramos::types::tf32>(problem), epilogue, options);
      return q.completion();
    }
  detail::check_compute<Exec, types>(options.compute);
  detail::run_gemm(q.execution_space(), detail::workspace_of(q), problem, epilogue, options);
  return q.completion();
}

/// How keramos::gemm would do this product: nothing is launched, and neither A, B nor C is read.
///
/// The plan can be printed (to_string), kept, changed, and given back as gemm_options::plan, which saves the choice and
/// fixes the order of all additions: with the same plan the same operands give the same bits, whatever the library
/// would choose. It holds for extents, strides and alignment like these; a product that it does not fit is refused.
/// With alpha = 0 or k = 0 a plan is not used. options.plan is ignored here.
template <class Exec, matrix_like MA, matrix_like MB, matrix_like MC>
gemm_plan plan_gemm(basic_queue<Exec>& q, const MA& a, const MB& b, const MC& c,
                    const gemm_options& options = {}) {
  const auto problem = detail::checked_problem<Exec>(a, b, c, options);
  using types = typename decltype(problem)::types;
  if constexpr (detail::emulates<Exec, types>())
    if (options.compute == detail::asks_to_emulate<types>)
      return detail::choose_plan(q.execution_space(),
                                 detail::in_types<typename detail::emulation<types>::type>(problem), options,
                                 detail::epilogue_of_product::library);
  return detail::with_compute<Exec, types>(options.compute, [&]<class To>(To) {
    return detail::choose_plan(q.execution_space(), detail::in_types<To>(problem), options,
                               detail::epilogue_of_product::library);
  });
}

}  // namespace keramos
