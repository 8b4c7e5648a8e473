// Products of remainders, all moduli in one launch. The kernel is compiled apart, for the one architecture whose warpgroups
// it uses (launch_products.hpp): here it is only named.
#pragma once

#include <keramos/base/integer8.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/kernel/residues/combine.hpp>
#include <keramos/gemm/kernel/residues/moduli.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/lines.hpp>

namespace keramos::detail::residues {

/// The large product, on whose diagonal are those of the moduli: see product_layout.
inline gemm_problem<types::i8> diagonal_product(const integer8* a, const integer8* b, integer8* c,
                                                const product_layout& at, index_t pitch, int count) {
  tiling::reading<integer8> without_sign;
  without_sign.is_signed = false;
  const tiling::lines<integer8> of_a{count * at.a_rows}, of_b{count * at.b_rows};
  return {of_a.as_operand(a, without_sign),
          of_b.as_operand(b, without_sign),
          c,
          at.b_rows,
          1,
          of_a.rows,
          of_b.rows,
          pitch};
}

/// Sums of one modulus become remainders.
struct remainder_epilogue {
  std::uint32_t modulus, magic;

  KERAMOS_FORCEINLINE_FUNCTION std::uint32_t operator()(std::uint32_t sum, index_t, index_t, index_t) const {
    return remainder_of_sum(sum, modulus, magic);
  }
};

/// Does the products of as many moduli as are chosen, in tiles of a row of the backend's table.
template <class Exec>
void launch_products(const Exec& exec, int row, const gemm_problem<types::i8>& diagonal,
                     const product_layout& at, const choice* choice);

}  // namespace keramos::detail::residues
