// The main loop of every GEMM on every backend, in two verbs: `stage` brings a k-tile of both operands on chip,
// `multiply` adds the product of two k-tiles to the accumulators. A collective (simt.hpp, host_panels.hpp) says what
// they are on its machines:
//
//   Collective::stages                      k-tiles in flight; 1 means stage, use, stage again
//   collective.operands(team, problem, at)  a stager:
//                                             stage<whole>(k-tile, slot), commit(), wait<pending>();
//                                             panels(slot): both operands' panels in local memory;
//                                             whole_k_tiles(): how many of the first k-tiles stage<true> may copy
//                                             without looking at bounds
//   collective.accumulator(team, ...)       start(panels), multiply(panels, next), write(epilogue target)
//   collective.can_shift_m(p), can_shift_n(p)
//                                           whether the last tiles may begin early: locate() then gives a
//                                           shifted_position, and write leaves out its first skip_m, skip_n
//   Collective::splits_k                    whether teams may share a tile (kernel/split_k.hpp)
//   Collective::recompute(x)                x, so that a compiler short of registers keeps nothing else of it
//
// multiply calls next() once, as soon as it has read the last of its panels; that makes the next k-tile's panels ready
// and returns them. So a GPU loads the first fragments of a k-tile while the last ones of the k-tile before still
// multiply (the software pipeline of CUTLASS, "Efficient GEMM in CUDA"). After the last k-tile the panels that next()
// returns hold nothing of use.
#pragma once

#include <type_traits>

#include <keramos/base/macros.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// Computes the tile of C at `locate()`. `add_up(acc)` says whether this team holds the whole sum and writes
/// it. The place is asked for again at the end: kept, it would take registers from the accumulators.
template <class Collective, class Team, class T, class Locate, class Epilogue, class AddUp>
KERAMOS_FORCEINLINE_FUNCTION void gemm_tile(const Collective& collective, const Team& team,
                                            const gemm_problem<T>& p, const Locate& locate,
                                            const Epilogue& epilogue, const AddUp& add_up) {
  const auto at = locate();
  constexpr int stages = Collective::stages;
  const int k_tiles = int((at.k1 - at.k0 + collective.block().k - 1) / collective.block().k);

  auto operands = collective.operands(team, p, at);
  auto acc = collective.accumulator(team, p, at, epilogue);

  for (int s = 0; s < stages; ++s) {
    if (s < k_tiles) operands.template stage<false>(s, s);
    operands.commit();
  }
  operands.template wait<stages - 1>();
  team.team_barrier();
  acc.start(operands.panels(0));

  int slot = 0;
  const auto multiply = [&](int s, auto whole) {
    acc.multiply(operands.panels(slot), [&] {
      if constexpr (stages > 1) operands.template wait<stages - 2>();
      team.team_barrier();  // k-tile s + 1 is complete, and everyone has read k-tile s: its slot is free
      if (decltype(whole)::value || s + stages < k_tiles)
        operands.template stage<decltype(whole)::value>(s + stages, slot);
      operands.commit();
      if constexpr (stages == 1) {
        operands.template wait<0>();
        team.team_barrier();
      }
      slot = slot + 1 == stages ? 0 : slot + 1;
      return operands.panels(slot);
    });
  };
  // Apart from the rest, so that no branch keeps a compiler from spreading copies among the products.
  int s = 0;
  for (; s + stages < operands.whole_k_tiles(); ++s) multiply(s, std::true_type());
  for (; s < k_tiles; ++s) multiply(s, std::false_type());
  if (add_up(acc)) acc.write(p, locate(), epilogue);
}

/// The same at a place that is known, by one team.
template <class Collective, class Team, class T, class Epilogue>
KERAMOS_FORCEINLINE_FUNCTION void gemm_tile(const Collective& collective, const Team& team,
                                            const gemm_problem<T>& p, const tiling::position& at,
                                            const Epilogue& epilogue) {
  gemm_tile(
      collective, team, p, [&] { return at; }, epilogue, [](const auto&) { return true; });
}

}  // namespace keramos::detail
