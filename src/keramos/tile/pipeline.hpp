// The ring of stages through which k-tiles reach local memory ahead of their use, in the field's verbs:
//
//   acquire   the stage to fill next is free: all threads have released it
//   commit    what was copied into it since is one group, that of this stage
//   wait      a stage is there, for all threads
//   release   this thread has read the current stage
#pragma once

#include <cstddef>

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
    if constexpr (Stages == 1) Copier::barrier(team);
    return current_;
  }
  KERAMOS_FORCEINLINE_FUNCTION void commit() const { Copier::commit(); }
  /// All but the last `Pending` stages that were committed are there.
  template <int Pending, class Team>
  KERAMOS_FORCEINLINE_FUNCTION void wait(const Team& team) const {
    Copier::template wait<Pending>();
    Copier::barrier(team);
  }
  /// Nothing to do: a barrier follows, in wait or acquire.
  KERAMOS_FORCEINLINE_FUNCTION void release() const {}

  /// The stage to read, and the step to the next one.
  KERAMOS_FORCEINLINE_FUNCTION int current() const { return current_; }
  KERAMOS_FORCEINLINE_FUNCTION void advance() { current_ = current_ + 1 == Stages ? 0 : current_ + 1; }

 private:
  int current_ = 0;
};

/// A ring between threads that only copy and warps that only multiply. Each side keeps its own copy of this object; what
/// they share are two barriers a stage, in local memory: it is full, or it is free. `Sync` is what a backend has for that
/// (backends/cuda/warpgroup.hpp).
///
/// Copies by all copying threads are asynchronous: up to `ahead` stages are under way before the first of them is waited for
/// and told of. The multiplying side then reads one stage and waits for one.
///
/// Copies of neighbouring bytes (Sync::copy) tell of themselves: one thread says by `expect` how many bytes a stage gets, and
/// may fill all that are free.
template <int Stages, class Copier, class Sync>
class handoff_pipeline {
  using barrier = typename Sync::barrier;

 public:
  static constexpr int ahead = Stages - 2;
  static_assert(ahead > 0);
  static constexpr std::size_t bytes = 2 * Stages * sizeof(barrier);

  KERAMOS_FORCEINLINE_FUNCTION explicit handoff_pipeline(void* local) : full_(static_cast<barrier*>(local)) {}

  /// By one thread of the team, before a barrier of all.
  KERAMOS_FORCEINLINE_FUNCTION void start(int copying_threads, int multiplying_warps) const {
    for (int s = 0; s < Stages; ++s) {
      Sync::start(full_ + s, copying_threads);
      Sync::start(free(s), multiplying_warps);
    }
    Sync::show_to_matrix_units();
  }

  /// Copying threads: the stage to fill next, once it is free.
  KERAMOS_FORCEINLINE_FUNCTION int acquire() const {
    Sync::wait(free(current_), phase_ ^ 1);
    return current_;
  }
  /// The one copying thread: announces the bytes that are copied to the current stage. Returns the barrier that copies are to
  /// tell.
  KERAMOS_FORCEINLINE_FUNCTION barrier* expect(int bytes) const {
    Sync::expect(full_ + current_, bytes);
    return full_ + current_;
  }
  /// The copying thread, before anything else: the first stages, but not all, are filled by others, who say so by `tell_first`.
  KERAMOS_FORCEINLINE_FUNCTION void skip(int stages) { current_ = stages; }
  KERAMOS_FORCEINLINE_FUNCTION void tell_first(int stage) const { Sync::arrive(full_ + stage); }
  /// What was copied since is all of the current stage.
  KERAMOS_FORCEINLINE_FUNCTION void commit() {
    Copier::commit();
    advance();
    if (pending_ < ahead) {
      ++pending_;
    } else {
      Copier::template wait<ahead>();
      tell();
    }
  }
  /// After the last stage.
  KERAMOS_FORCEINLINE_FUNCTION void drain() {
    Copier::template wait<0>();
    for (; pending_ > 0; --pending_) tell();
  }

  /// Multiplying warps: the stage to read next, once it is full.
  KERAMOS_FORCEINLINE_FUNCTION int wait() const {
    Sync::wait(full_ + current_, phase_);
    return current_;
  }
  KERAMOS_FORCEINLINE_FUNCTION void advance() {
    if (++current_ == Stages) current_ = 0, phase_ ^= 1;
  }
  /// Waits until all warps that read have released the stage `back` before the current one, less than `Stages`; this warp has
  /// released it. Before the first stages it does not wait.
  KERAMOS_FORCEINLINE_FUNCTION void wait_until_read(int back) const {
    const bool is_before = current_ < back;
    Sync::wait(free(is_before ? current_ + Stages - back : current_ - back), phase_ ^ int(is_before));
  }
  /// This warp has read a stage; one of its lanes says so.
  KERAMOS_FORCEINLINE_FUNCTION void release(int stage) const { Sync::arrive(free(stage)); }

 private:
  KERAMOS_FORCEINLINE_FUNCTION barrier* free(int stage) const { return full_ + Stages + stage; }
  KERAMOS_FORCEINLINE_FUNCTION void tell() {
    Sync::show_to_matrix_units();
    Sync::arrive(full_ + oldest_);
    if (++oldest_ == Stages) oldest_ = 0;
  }

  barrier* full_;
  int current_ = 0, phase_ = 0;
  int oldest_ = 0, pending_ = 0;  // of stages that were copied but not told of
};

}  // namespace keramos::tiling
