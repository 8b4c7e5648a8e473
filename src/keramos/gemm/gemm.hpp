// keramos::gemm: C ← alpha·op(A)·op(B) + beta·C.
//
//   keramos::queue q;
//   keramos::gemm(q, 1.0, a, b, 0.0, c).wait();                          // C = A·B, of Views, mdspans or matrix_views
//   keramos::gemm(q, 2.0, a, b, 1.0, c, {.op_a = keramos::op::T});       // C = 2·AᵀB + C; returns at once
//   std::puts(to_string(keramos::plan_gemm(q, a, b, c)).c_str());        // how it would be done
#pragma once

#include <keramos/core/queue.hpp>
#include <keramos/gemm/call.hpp>
#include <keramos/gemm/options.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/view/matrix_view.hpp>

namespace keramos {

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
/// part that is NaN or infinite reaches sums of that part alone. (Alpha and beta are complex: times an infinite part they give NaN
/// in both, as in BLAS.) Halves with float are floats. float16 and bfloat16 are
/// multiplied and summed in f32, with its bound; a C of their type is rounded to the nearest at the end, once. Subnormal
/// bfloat16s count as zeros on hosts that multiply them by AVX512-BF16 or AMX. On GPUs subnormal float16s and bfloat16s count
/// as the smallest normal ones in that bound, for tensor cores lose bits of their products. float8_e4m3 and float8_e5m2 are
/// summed in f32 too, but on GPUs their tensor cores keep fewer bits of sums: k in parts of at most 128 is summed there, and
/// these in f32. To the bound comes 2^-11·|alpha||A||B|. Products and sums of integers are exact modulo 2^32. The same call on
/// the same device and build gives bitwise the same answer.
///
/// options.compute = gemm_compute::tf32, for f32 on CUDA from compute capability 8.0 on, and on GPUs that docs/limits.md
/// names: elements are rounded to eleven bits first, so to the bound comes 2^-10·(1 + 2^-12)·|alpha||A||B|; of subnormal
/// elements fewer bits are left. A matrix times a
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
