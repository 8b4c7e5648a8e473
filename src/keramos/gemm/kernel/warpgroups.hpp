// Products by warpgroups. Their kernels are compiled apart, for one architecture: here they are only named, for planners.
#pragma once

#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/gemm/epilogue/exact_infinities.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/kernel/split_k.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Whether a backend's table has tiles of warpgroups for a product.
template <class Exec, class Types>
inline constexpr bool has_warpgroup_rows = [] {
  if constexpr (!backend::traits<Exec>::is_host)
    for (const auto& row : backend::tiles<Exec>::table)
      if (row.types == Types::operands && row.config.math == tiling::math_unit::warpgroup) return true;
  return false;
}();

/// What tiles of warpgroups are given for BLAS' update.
template <class Types>
using warpgroup_epilogue =
    std::conditional_t<Types::splits_elements, exact_infinities<library_epilogue<Types>>,
                       library_epilogue<Types>>;
/// The same for a problem, before its operands are packed.
template <class Types>
warpgroup_epilogue<Types> for_warpgroups(const library_epilogue<Types>& epilogue,
                                         [[maybe_unused]] const gemm_problem<Types>& p) {
  if constexpr (Types::splits_elements)
    return {epilogue, p.a, p.b, p.k};
  else
    return epilogue;
}

/// Does a product in tiles of a row of the table, which warpgroups can read its operands for
/// (kernel/launch_warpgroups.hpp). Teams may keep maps of the operands in the queue's memory.
template <class Exec, class Types>
void launch_warpgroups(const Exec& exec, workspace<Exec>& memory, int row, const gemm_problem<Types>& p,
                       const split_k<typename Types::accumulator>& split,
                       const warpgroup_epilogue<Types>& epilogue);

/// Does a batch in such tiles, of which there are `count`; `shape` stands for all of its problems, whose maps are kept there
/// too.
template <class Exec, class Types, class Tiles>
void launch_warpgroups_batched(const Exec& exec, workspace<Exec>& memory, int row,
                               const gemm_problem<Types>& shape, int count, const Tiles& tiles,
                               const library_epilogue<Types>& epilogue);

}  // namespace keramos::detail::simt
