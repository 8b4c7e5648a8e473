// The main loop of every GEMM on every backend, in two verbs: `stage` brings a slab of k of both
// operands on chip, `multiply` adds the product of two slabs to the accumulators.
//
// A Machine (backends/<name>/copy.hpp and mma.hpp) says what the verbs are there:
//   Machine::stages                        slabs in flight; 1 means stage, use, stage again
//   machine.operands(team, problem, at)    a stager: stage<whole>(slab, slot), commit(),
//                                          arrive<pending>(), panels(slot) -> both operands' panels in
//                                          local memory, whole_slabs() -> how many of the first slabs
//                                          stage<true> may copy without looking at bounds
//   machine.accumulator(team, ...)         start(panels), multiply(panels, next), write(epilogue target)
//   machine.can_shift_m(p), can_shift_n(p)  whether the last tiles may begin early; locate() then gives a
//                                          shifted_position, and write leaves out its first skip_m, skip_n
//   Machine::splits_k                      whether teams may share a tile (split_k.hpp)
//   Machine::recompute(x)                  x, of which a compiler that runs out of registers keeps nothing else
//
// multiply calls next() once, as soon as it has read the last of its panels; that makes the next slab's
// panels ready and returns them. So a GPU loads the first fragments of a slab while the last ones of the
// slab before still multiply (the software pipeline of CUTLASS, "Efficient GEMM in CUDA"). After the
// last slab the panels that next() returns hold nothing of use.
#pragma once

#include <type_traits>

#include <keramos/core/macros.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// Computes the tile of C at `locate()`. `add_up(acc)` says whether this team holds the whole sum and writes
/// it. The place is asked for again at the end: kept, it would take registers from the accumulators.
template <class Machine, class Team, class T, class Locate, class Epilogue, class AddUp>
KERAMOS_FORCEINLINE_FUNCTION void gemm_tile(const Machine& machine, const Team& team,
                                            const gemm_problem<T>& p, const Locate& locate,
                                            const Epilogue& epilogue, const AddUp& add_up) {
  const auto at = locate();
  constexpr int stages = Machine::stages;
  const int slabs = int((at.k1 - at.k0 + machine.block().k - 1) / machine.block().k);

  auto operands = machine.operands(team, p, at);
  auto acc = machine.accumulator(team, p, at, epilogue);

  for (int s = 0; s < stages; ++s) {
    if (s < slabs) operands.template stage<false>(s, s);
    operands.commit();
  }
  operands.template arrive<stages - 1>();
  team.team_barrier();
  acc.start(operands.panels(0));

  int slot = 0;
  const auto multiply = [&](int s, auto whole) {
    acc.multiply(operands.panels(slot), [&] {
      if constexpr (stages > 1) operands.template arrive<stages - 2>();
      team.team_barrier();  // slab s + 1 is complete, and everyone has read slab s: its slot is free
      if (decltype(whole)::value || s + stages < slabs)
        operands.template stage<decltype(whole)::value>(s + stages, slot);
      operands.commit();
      if constexpr (stages == 1) {
        operands.template arrive<0>();
        team.team_barrier();
      }
      slot = slot + 1 == stages ? 0 : slot + 1;
      return operands.panels(slot);
    });
  };
  // Apart from the rest, so that no branch keeps a compiler from spreading copies among the products.
  int s = 0;
  for (; s + stages < operands.whole_slabs(); ++s) multiply(s, std::true_type());
  for (; s < slabs; ++s) multiply(s, std::false_type());
  if (add_up(acc)) acc.write(p, locate(), epilogue);
}

/// The same at a place that is known, by one team.
template <class Machine, class Team, class T, class Epilogue>
KERAMOS_FORCEINLINE_FUNCTION void gemm_tile(const Machine& machine, const Team& team,
                                            const gemm_problem<T>& p, const tiling::position& at,
                                            const Epilogue& epilogue) {
  gemm_tile(
      machine, team, p, [&] { return at; }, epilogue, [](const auto&) { return true; });
}

}  // namespace keramos::detail
