// What rows of a GPU backend's tile table can be used for.
#pragma once

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/tiles.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/simt_model.hpp>
#include <keramos/gemm/plan/simt_rows.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

template <class Exec>
struct table_rows {
  static constexpr const auto& table = backend::tiles<Exec>::table;

  /// Kernels of warpgroups run on their architecture alone, and are compiled for the library's epilogue.
  template <class Types>
  static bool runs(const tile_row& r, int arch, epilogue_of_product whose) {
    if (r.config.math == tiling::math_unit::warpgroup &&
        (r.arch != arch || whose != epilogue_of_product::library))
      return false;
    return r.types == Types::operands && r.arch <= arch;
  }
  template <class Types>
  static bool serves_one(const tile_row& r, int arch, epilogue_of_product whose) {
    return runs<Types>(r, arch, whose) && r.serves != serves::batches;
  }
  static bool of_warpgroups(int row) { return table[row].config.math == tiling::math_unit::warpgroup; }
  /// Whether they read an operand as it lies; else a copy of it that runs along `packed_along`. Units that ignore some bits
  /// do not round: the copy is rounded.
  template <class Types>
  static bool warpgroups_read(const operand_layout& x) {
    return x.vectors && (x.along_k || packed_along<Types> == tiling::direction::mn) &&
           !Types::needs_matrix_units;
  }
  template <class Types>
  static constexpr tiling::direction packed_along =
      backend::warpgroups<Exec>::template reads_along_mn<typename Types::a> ? tiling::direction::mn
                                                                            : tiling::direction::k;
  static bool fits(const Exec& exec, const tile_row& r) {
    return local_bytes(r) <= backend::traits<Exec>::local_memory_limit(
                                 exec, r.config.team_warps() * backend::traits<Exec>::warp_size);
  }

  /// Batches have tiles enough for the large ones; each more is many kernels more. A complex number counts as two.
  static constexpr bool serves_batches(const tile_row& r) {
    const bool is_complex = r.types.b == scalar_type::c32 || r.types.b == scalar_type::c64;
    return r.serves != serves::single &&
           r.config.block.m * r.config.block.n * (is_complex ? 2 : 1) >= 64 * 64;
  }
};

}  // namespace keramos::detail::simt
