// The main loop of every GEMM on every backend, in two verbs: `stage` brings a slab of k of both
// operands on chip, `multiply` adds the product of two slabs to the accumulators.
//
// A Machine (backends/<name>/copy.hpp and mma.hpp) says what the verbs are there:
//   Machine::stages                        slabs in flight; 1 means stage, use, stage again
//   machine.operands(team, problem, at)    a stager: stage(slab, slot), commit(), arrive<pending>(),
//                                          a(slot), b(slot) -> panels in local memory
//   machine.accumulator(team, ...)         multiply(a_panel, b_panel), write(epilogue target)
#pragma once

#include <keramos/core/macros.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// Computes the tile of C at `at`.
template <class Machine, class Team, class T, class Epilogue>
KERAMOS_FORCEINLINE_FUNCTION void gemm_tile(const Machine& machine, const Team& team,
                                            const gemm_problem<T>& p, const tile::position& at,
                                            const Epilogue& epilogue) {
  constexpr int stages = Machine::stages;
  const int slabs = int((at.k1 - at.k0 + machine.block().k - 1) / machine.block().k);

  auto operands = machine.operands(team, p, at);
  auto acc = machine.accumulator(team, p, at, epilogue);

  // The first slabs are on their way before any is used.
  for (int s = 0; s < stages - 1; ++s) {
    if (s < slabs) operands.stage(s, s);
    operands.commit();
  }
  int slot = 0;                // holds the slab to use
  int next_slot = stages - 1;  // receives the slab to stage
  for (int s = 0; s < slabs; ++s) {
    if constexpr (stages == 1) operands.stage(s, 0);
    operands.template arrive<(stages > 2 ? stages - 2 : 0)>();
    team.team_barrier();  // slab s is complete, and everyone is done with the one before it
    if constexpr (stages > 1) {
      if (s + stages - 1 < slabs) operands.stage(s + stages - 1, next_slot);
      operands.commit();
      next_slot = next_slot + 1 == stages ? 0 : next_slot + 1;
    }
    acc.multiply(operands.panels(slot));
    if constexpr (stages == 1)
      team.team_barrier();
    else
      slot = slot + 1 == stages ? 0 : slot + 1;
  }
  acc.write(p, at, epilogue);
}

}  // namespace keramos::detail
