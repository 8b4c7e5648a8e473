// The ring of stages through which k-tiles reach local memory ahead of their use, in the field's verbs:
//
//   acquire   the stage to fill next is free: all threads have released it
//   commit    what was copied into it since is one group, that of this stage
//   wait      a stage is there, for all threads
//   release   this thread has read the current stage
#pragma once

#include <keramos/base/macros.hpp>

namespace keramos::tiling {

/// A ring that all threads of a team fill, each with its share of every stage, and all read. The stage that was read last
/// is filled next. One barrier a stage is enough: of several stages the barrier in wait also tells that all have released
/// the one before; a single one must be free before it is filled again, so there acquire has a barrier too.
template <int Stages, class Copier>
class team_pipeline {
 public:
  /// The current stage, free after its release. Of several stages a wait must have come in between.
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION int acquire(const Team& team) const {
    if constexpr (Stages == 1) team.team_barrier();
    return current_;
  }
  KERAMOS_FORCEINLINE_FUNCTION void commit() const { Copier::commit(); }
  /// All but the last `Pending` stages that were committed are there.
  template <int Pending, class Team>
  KERAMOS_FORCEINLINE_FUNCTION void wait(const Team& team) const {
    Copier::template wait<Pending>();
    team.team_barrier();
  }
  /// Nothing to do: a barrier follows, in wait or acquire.
  KERAMOS_FORCEINLINE_FUNCTION void release() const {}

  /// The stage to read, and the step to the next one.
  KERAMOS_FORCEINLINE_FUNCTION int current() const { return current_; }
  KERAMOS_FORCEINLINE_FUNCTION void advance() { current_ = current_ + 1 == Stages ? 0 : current_ + 1; }

 private:
  int current_ = 0;
};

}  // namespace keramos::tiling
