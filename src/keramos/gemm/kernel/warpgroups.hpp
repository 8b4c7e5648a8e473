// Products by warpgroups. Their kernels are compiled for one architecture, apart from the rest: here they are only named, for
// planners.
#pragma once

#include <utility>

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

/// The epilogue as tiles of warpgroups are given it; p is the problem before its operands are packed.
template <class Types, class Epilogue>
auto for_warpgroups(const Epilogue& epilogue, [[maybe_unused]] const gemm_problem<Types>& p) {
  static_assert(!Types::splits_elements || is_linear<Epilogue>,
                "keramos: a caller's epilogue is not emulated");
  if constexpr (Types::splits_elements)
    return exact_infinities<Epilogue>{epilogue, p.a, p.b, p.k};
  else
    return epilogue;
}
/// The same for BLAS' update, whose kernels the library has.
template <class Types>
using warpgroup_epilogue = decltype(for_warpgroups(std::declval<const library_epilogue<Types>&>(),
                                                   std::declval<const gemm_problem<Types>&>()));

/// Whether there are kernels of warpgroups for an epilogue.
template <class Epilogue>
inline constexpr bool warpgroups_take = is_linear<Epilogue> || is_on_warpgroups<Epilogue>;

/// Does a product in tiles of a row of the table (kernel/launch_warpgroups.hpp); warpgroups must be able to read its operands.
/// Teams may keep maps of the operands in the queue's memory.
template <class Exec, class Types, class Epilogue>
void launch_warpgroups(const Exec& exec, workspace<Exec>& memory, int row, const gemm_problem<Types>& p,
                       const split_k<typename Types::accumulator>& split, const Epilogue& epilogue);

/// Does a batch in such tiles, of which there are `count`; `shape` stands for all of its problems, whose maps are kept there
/// too.
template <class Exec, class Types, class Tiles, class Epilogue>
void launch_warpgroups_batched(const Exec& exec, workspace<Exec>& memory, int row,
                               const gemm_problem<Types>& shape, int count, const Tiles& tiles,
                               const Epilogue& epilogue);

}  // namespace keramos::detail::simt
