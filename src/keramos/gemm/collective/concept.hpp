// What a collective is: the part of a kernel in which a team computes one tile of C. It owns its loop over k: who copies,
// who multiplies, and how many k-tiles are under way is its own affair (CUTLASS calls it a collective mainloop).
// Kernels (kernel/tiled.hpp, kernel/tiled_batch.hpp) give it a tile; planners (plan/) choose among those of their machines.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <keramos/base/macros.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail {

/// The tile that a kernel gives to a collective; this one is a team's alone. Tiles of batches have problem(), and for collectives
/// that are not persistent again(): the same tile, computed afresh, to write C with.
struct own_tile {
  tiling::position at;

  /// Where it is. Asked for again at the end: kept, it would take registers from the accumulators.
  KERAMOS_FORCEINLINE_FUNCTION const tiling::position& position() const { return at; }
  /// Adds this team's sums to those of teams that share the tile. True for the one team that then holds all of k and writes C.
  /// `team`: the threads that hold sums.
  template <class Team, class Accumulator>
  KERAMOS_FORCEINLINE_FUNCTION bool add_up(const Team& /*team*/, Accumulator& /*sums*/) const {
    return true;
  }
  /// Steps to the team's next tile, if it has one. Collectives that are `persistent` ask.
  KERAMOS_FORCEINLINE_FUNCTION bool next() { return false; }
};

/// `types` are those of its products, `team_size` is its threads, `teams_per_unit` how many teams to leave registers for.
///
/// - `block()`, `local_bytes()`: the block tile, and the local memory that a team asks for.
/// - `run(team, problem, tile, epilogue)`: all threads of a team compute and write `tile`, which is like own_tile.
/// - `persistent`: whether run goes on to tile.next() until there is none, so that as few teams as a device holds at once do
///   all tiles. If tile.is_drawn(), teams draw their next tiles instead, so that one which is kept from running has fewer: one
///   thread draws by tile.draws() until there are no more, and all go on to what it drew by tile.take().
/// - `splits_k`: whether several teams may share a tile. Then run hands its accumulators to tile.add_up, which reaches
///   them by `for_each_vector(f)` (kernel/split_k.hpp); `summing_threads` of a team have some.
/// - `can_shift_m(problem)`, `can_shift_n(problem)`: whether the last tiles may begin early, so that they are whole. The
///   tile's position is a shifted_position then, whose first skip_m rows and skip_n columns are not written.
/// - `check_compiled<Kernel>(exec)`, if it is there, throws if the compiler's options make its kernel compute wrongly.
/// - `recompute(x)`: x, so that a compiler short of registers keeps nothing else of it.
template <class C>
concept gemm_collective = requires(const C& c, const gemm_problem<typename C::types>& problem,
                                   const own_tile& tile, const int& any) {
  { C::team_size } -> std::convertible_to<int>;
  { C::teams_per_unit } -> std::convertible_to<int>;
  { C::splits_k } -> std::convertible_to<bool>;
  { C::persistent } -> std::convertible_to<bool>;
  { c.block() } -> std::convertible_to<tiling::shape>;
  { c.local_bytes() } -> std::convertible_to<std::size_t>;
  { C::can_shift_m(problem) } -> std::same_as<bool>;
  { C::can_shift_n(problem) } -> std::same_as<bool>;
  { C::recompute(1) } -> std::same_as<int>;
  c.run(any, problem, tile, any);  // with any team and epilogue
}
// Of a tile that is shared, the size is known when compiling.
&&(!C::splits_k || requires {
  typename std::integral_constant<int, C::block().m * C::block().n>;
  { C::summing_threads } -> std::convertible_to<int>;
});

/// True, or the one error that says what is missing. (Of a concept itself compilers would tell much more.)
template <class C>
consteval bool is_collective() {
  constexpr bool complete = gemm_collective<C>;
  static_assert(complete,
                "keramos: a collective lacks a name of the concept gemm_collective: see "
                "keramos/gemm/collective/concept.hpp");
  return complete;
}

}  // namespace keramos::detail
