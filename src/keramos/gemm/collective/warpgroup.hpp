// The collective of GPUs whose tensor cores read both operands from local memory: one warpgroup of a team copies k-tiles,
// the others multiply, and barriers in local memory hand stages from one side to the other. (What CUTLASS calls warp
// specialisation; "fast.cu" of P. Shankhdhar shows what each step gives on an H100.)
//
// Teams are persistent: while a tile's sums are written, the next tile's first k-tiles are already on their way.
//
// Where it can, one thread has the k-tiles copied, by a unit that does it alone: boxes of the operands as they lie, or lines
// that were prepared. Boxes need maps; while a warp makes them, other threads of the copying warpgroup copy the first k-tiles.
// Without maps all of its threads copy 16 bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/core/local_memory.hpp>
#include <keramos/gemm/collective/line_panel.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/gemm/collective/warpgroup_accumulator.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/lines.hpp>
#include <keramos/tile/pipeline.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Barriers of parts of a team: of all that multiply, of warpgroups that multiply in turns, of the threads that copy the first
/// k-tiles.
enum some_threads { multiplying = 1, turn = 2, turn_of_second = 3, copying_first = 4 };

/// The threads of a team that multiply, as split_k needs a team.
template <class Exec, int Threads>
class multiplying_threads {
 public:
  using execution_space = Exec;

  KERAMOS_FORCEINLINE_FUNCTION multiplying_threads(int rank, int* shared) : rank_(rank), shared_(shared) {}

  KERAMOS_FORCEINLINE_FUNCTION int team_rank() const { return rank_; }
  KERAMOS_FORCEINLINE_FUNCTION void team_barrier() const {
    backend::warpgroups<Exec>::meet(some_threads::multiplying, Threads);
  }
  KERAMOS_FORCEINLINE_FUNCTION void team_broadcast(int& x, int from) const {
    if (rank_ == from) *shared_ = x;
    team_barrier();
    x = *shared_;
    team_barrier();
  }

 private:
  int rank_;
  int* shared_;
};

/// Local memory beside the stages: their swizzle counts from multiples of 1,024 bytes, and there are barriers, and maps that are
/// being made.
inline constexpr std::size_t warpgroup_alignment = 1024, warpgroup_barrier_bytes = 256,
                             warpgroup_map_bytes = 256;
inline constexpr std::size_t bytes_beside_stages =
    warpgroup_alignment + warpgroup_barrier_bytes + warpgroup_map_bytes;

/// One way to run a GEMM: a tile of 64 rows for each multiplying warpgroup, and how the operands' memory runs. It must be
/// such that vectors of 16 bytes can be copied. With `InLines` operands lie as tiling::lines says, or as `AlongA` and `AlongB`
/// say where there are `maps`. Where units do not read A along m, each thread loads its part of A and gives it to them. Kinds of
/// elements (tiling::reading) are part of instructions.
template <class Exec, class Types, tiling::config Config, tiling::direction AlongA, tiling::direction AlongB,
          bool KindA, bool KindB, bool InLines>
class warpgroup_collective {
  using atom = backend::warpgroups<Exec>;
  using element = typename Types::a;
  static constexpr int warp = backend::traits<Exec>::warp_size;
  static constexpr int warpgroup = atom::warps * warp;
  static constexpr int multiplying = Config.warps() * warp, copying = warpgroup;  ///< threads
  static_assert(std::is_same_v<element, typename Types::b>);
  static_assert(!Types::splits_elements || (InLines && Config.stages % 2 == 0 && !Config.splits_k),
                "keramos: k-tiles of split elements are lines, and come in pairs");
  static_assert(Config.warp.m == 16 && Config.warp.n == Config.block.n && Config.block.m % 64 == 0,
                "keramos: a warpgroup has 64 rows of a block tile, and all of its columns");
  static constexpr bool loads_a = AlongA == tiling::direction::mn && !atom::template reads_along_mn<element>;
  static_assert(AlongB == tiling::direction::k || atom::template reads_along_mn<element>,
                "keramos: warpgroups read B of these elements along k alone");
  static_assert(!loads_a || (InLines && atom::template takes_loaded_a<element> && !Types::splits_elements),
                "keramos: threads do not load such elements of A along m");

 public:
  using types = Types;
  /// Where each team can store its maps of both operands, or for a batch where those of each problem are. With them, and of
  /// lines, one thread has all copied; else each of the copying threads copies 16 bytes at a time.
  char* maps = nullptr;

  static constexpr std::size_t map_bytes = 2 * atom::map_bytes;  ///< of both operands
  static constexpr int mapping_threads = warp;
  static constexpr int team_size = multiplying + copying;
  static constexpr int summing_threads = multiplying;
  static constexpr bool splits_k = Config.splits_k, persistent = true;

 private:
  static constexpr access in_vectors(tiling::direction along) { return {along, 16 / int(sizeof(element))}; }
  using copier = backend::staging<Exec>;
  using stager = simt::stager<Types, Config, in_vectors(AlongA), AlongA, in_vectors(AlongB), AlongB, copying,
                              copier, line_panel>;
  using pipeline = tiling::handoff_pipeline<Config.stages, copier, atom>;
  /// A tile's first k-tiles, and the threads that copy them while a warp makes maps.
  static constexpr int first_k_tiles = Config.stages - 1, copying_first = 64;
  using first_stager = simt::stager<Types, Config, in_vectors(AlongA), AlongA, in_vectors(AlongB), AlongB,
                                    copying_first, copier, line_panel>;
  using panel_a = line_panel<element, Config.block.m, Config.block.k, AlongA>;
  using panel_b = line_panel<element, Config.block.n, Config.block.k, AlongB>;
  using accumulator = warpgroup_accumulator<Types, Config.block.n, Exec, loads_a>;
  static constexpr int multiplying_warps = Config.warps();
  /// Where threads add each k-tile's sums themselves, one of two warpgroups does so while the units multiply for the other.
  static constexpr bool takes_turns = std::is_same_v<element, float8> && multiplying == 2 * warpgroup;
  /// Registers are allotted in eights to all threads alike. Where sums leave too few, the threads that copy give some of
  /// theirs.
  static constexpr int equal_registers = atom::registers / (Config.teams * team_size) / 8 * 8;
  static constexpr int copying_registers = atom::registers_to_copy;
  static constexpr int multiplying_registers =
      (equal_registers * team_size - copying_registers * copying) / multiplying / 8 * 8;
  static constexpr bool moves_registers =
      accumulator::registers > equal_registers - atom::registers_beside_sums;
  static constexpr std::size_t stages_bytes = Config.stages * std::size_t(stager::slot_bytes);
  static constexpr std::size_t bytes = stages_bytes + bytes_beside_stages;
  static_assert(pipeline::bytes + sizeof(int) <= warpgroup_barrier_bytes);

 public:
  static constexpr int teams_per_unit = backend::traits<Exec>::teams_per_unit(Config.teams, team_size, bytes);

  KERAMOS_FORCEINLINE_FUNCTION static constexpr tiling::shape block() { return Config.block; }
  KERAMOS_FORCEINLINE_FUNCTION static constexpr std::size_t local_bytes() { return bytes; }
  KERAMOS_FORCEINLINE_FUNCTION static int recompute(int x) { return copier::recompute(x); }

  /// As of simt::collective. Lines are swizzled in eights of rows, so tiles of them stay where they are.
  static bool can_shift_m(const gemm_problem<Types>& p) {
    return !InLines && simt::can_shift(p.m + p.pad_m, Config.block.m, in_vectors(AlongA));
  }
  static bool can_shift_n(const gemm_problem<Types>& p) {
    return !InLines && simt::can_shift(p.n + p.pad_n, Config.block.n, in_vectors(AlongB));
  }

  /// Whether an operand does not lie in lines, so that maps are of use.
  static bool reads_boxes(const gemm_problem<Types>& p) {
    return !of_lines<AlongA>(p.a) || !of_lines<AlongB>(p.b);
  }

  /// Makes maps of both operands at `to`, by a warp, in local memory at multiples of the bytes of a map.
  KERAMOS_FORCEINLINE_FUNCTION static void make_maps(const gemm_problem<Types>& p, char* local, char* to,
                                                     int lane) {
    static_assert(map_bytes == warp * sizeof(std::uint64_t) && map_bytes <= warpgroup_map_bytes);
    reinterpret_cast<std::uint64_t*>(local)[lane] = 0;
    atom::meet_warp();
    if (lane == 0) make_map<AlongA>(local, p.a, p.m + p.pad_m, p.k, Config.block.m);
    if (lane == 1) make_map<AlongB>(local + atom::map_bytes, p.b, p.n + p.pad_n, p.k, Config.block.n);
    atom::meet_warp();
    atom::store_map(to, local);
    atom::store_map(to + atom::map_bytes, local + atom::map_bytes);
    atom::meet_warp();
  }

  /// Tiles of a batch say of which problem they are.
  template <class Team, class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void run(const Team& team, const gemm_problem<Types>& p, const Tile& first,
                                        const Epilogue& epilogue) const {
    // Aligned here: team_launch leaves room for local_alignment alone, local_bytes() for the rest.
    auto address = reinterpret_cast<std::uintptr_t>(
        team.team_scratch(0).get_shmem_aligned(local_bytes(), local_alignment));
    address = (address + warpgroup_alignment - 1) / warpgroup_alignment * warpgroup_alignment;
    char* const local = atom::kept(reinterpret_cast<char*>(address));
    pipeline ring(local + stages_bytes);
    const int thread = int(team.team_rank());
    const bool by_one_thread = InLines || maps != nullptr;
    if (thread == 0) ring.start(by_one_thread ? 1 : copying, multiplying_warps);
    team.team_barrier();
    if (thread < multiplying) {
      if constexpr (moves_registers) atom::template take_registers<multiplying_registers>();
      multiply(p, first, epilogue, local, ring, thread);
    } else {
      if constexpr (moves_registers) atom::template give_registers<copying_registers>();
      const int copier = thread - multiplying;
      if (by_one_thread) {
        const int ahead = k_tiles_copied_first(first);
        if (copier < warp)
          copy_by_one_thread(p, first, ahead, local, int(team.league_rank()), ring, copier);
        else if (ahead > 0 && copier >= copying - copying_first)
          copy_first(p, first.position(), ahead, local, ring, copier - (copying - copying_first));
      } else if constexpr (!InLines) {
        copy(p, first, local, ring, copier);
      }
    }
    // Without this exit the compiler sees the kernel run again for another league rank, and does not use the registers taken.
    if constexpr (moves_registers) atom::exit();
  }

 private:
  template <class Tile>
  static constexpr bool is_of_batch = requires(const Tile& tile) {
    tile.problem();
  };
  /// That of a tile: of a batch its own, else p.
  template <class Tile>
  KERAMOS_FORCEINLINE_FUNCTION static decltype(auto) problem_of(const gemm_problem<Types>& p,
                                                                const Tile& tile) {
    if constexpr (is_of_batch<Tile>)
      return tile.problem();
    else
      return (p);
  }

  KERAMOS_FORCEINLINE_FUNCTION static int k_tiles(const tiling::position& at) {
    return int((at.k1 - at.k0 + Config.block.k - 1) / Config.block.k);
  }

  /// How many k-tiles of a team's first tile other threads copy than the one that has the rest copied: where it waits for maps.
  template <class Tile>
  KERAMOS_FORCEINLINE_FUNCTION int k_tiles_copied_first(const Tile& first) const {
    if constexpr (InLines || is_of_batch<Tile>) {
      return 0;
    } else {
      const int count = k_tiles(first.position());
      return count < first_k_tiles ? count : first_k_tiles;
    }
  }
  /// Copies them into the first stages.
  KERAMOS_FORCEINLINE_FUNCTION static void copy_first(const gemm_problem<Types>& p,
                                                      const tiling::position& at, int count, char* local,
                                                      pipeline ring, int thread) {
    if constexpr (!InLines) {
      first_stager operands(p, at, local, thread);
      KERAMOS_NO_UNROLL
      for (int s = 0; s < first_k_tiles; ++s) {
        if (s < operands.whole_k_tiles())
          operands.template stage<true>(s, s);
        else if (s < count)
          operands.template stage<false>(s, s);
        copier::commit();
      }
      tell_first(std::make_integer_sequence<int, first_k_tiles>(), count, ring, thread);
    }
  }
  /// Tells of each of the first stages as it is there.
  template <int... S>
  KERAMOS_FORCEINLINE_FUNCTION static void tell_first(std::integer_sequence<int, S...>, int count,
                                                      const pipeline& ring, int thread) {
    (tell_first<S>(count, ring, thread), ...);
  }
  template <int S>
  KERAMOS_FORCEINLINE_FUNCTION static void tell_first(int count, const pipeline& ring, int thread) {
    copier::template wait<first_k_tiles - 1 - S>();
    atom::show_to_matrix_units();
    atom::meet(some_threads::copying_first, copying_first);
    if (thread == 0 && S < count) ring.tell_first(S);
  }

  /// The part of the threads that copy.
  template <class Tile>
  KERAMOS_FORCEINLINE_FUNCTION void copy(const gemm_problem<Types>& given, Tile tile, char* local,
                                         pipeline ring, int thread) const {
    do {
      const auto& p = problem_of(given, tile);
      const auto at = tile.position();
      stager operands(p, at, local, thread);
      int s = 0;
      for (; s < operands.whole_k_tiles(); ++s) {
        operands.template stage<true>(s, ring.acquire());
        ring.commit();
      }
      for (; s < k_tiles(at); ++s) {
        operands.template stage<false>(s, ring.acquire());
        ring.commit();
      }
    } while (tile.next());
    ring.drain();
  }

  /// That of one thread which has lines and boxes copied, all but `ahead` k-tiles of the first tile. Its warp makes maps of the
  /// operands that lie otherwise; of a batch they are there.
  template <class Tile>
  KERAMOS_FORCEINLINE_FUNCTION void copy_by_one_thread(const gemm_problem<Types>& given, Tile tile, int ahead,
                                                       char* local, int league_rank, pipeline ring,
                                                       int lane) const {
    const char* map = maps;
    if constexpr (!is_of_batch<Tile>) {
      if (maps != nullptr) {
        char* const of_team = maps + league_rank * map_bytes;
        make_maps(given, local + stages_bytes + warpgroup_barrier_bytes, of_team, lane);
        map = of_team;
      }
    }
    if (lane != 0) return;
    ring.skip(ahead);
    do {
      const auto& p = problem_of(given, tile);
      const auto at = tile.position();
      if constexpr (is_of_batch<Tile>) {
        map = maps + tile.number * map_bytes;
        atom::acquire_map(map);
        atom::acquire_map(map + atom::map_bytes);
      }
      const char* const map_b = map + atom::map_bytes;
      const bool lines_a = of_lines<AlongA>(p.a), lines_b = of_lines<AlongB>(p.b);
      const index_t k_tile = at.k0 / Config.block.k + ahead;
      const element *a = p.a.at(at.m0, k_tile), *b = p.b.at(at.n0, k_tile);  // of lines
      const int a_bytes = lines_a ? at.rows * 128 : stager::offset_of_b;
      const int b_bytes = lines_b ? at.cols * 128 : stager::slot_bytes - stager::offset_of_b;
      int k = int(at.k0) + ahead * Config.block.k;
      for (int s = k_tiles(at) - ahead; s > 0; --s) {
        char* const stage = local + ring.acquire() * stager::slot_bytes;
        const auto full = ring.expect(a_bytes + b_bytes);
        if (lines_a)
          atom::copy(stage, a, a_bytes, full);
        else
          copy_boxes<AlongA, Config.block.m>(stage, map, int(at.m0), k, full);
        if (lines_b)
          atom::copy(stage + stager::offset_of_b, b, b_bytes, full);
        else
          copy_boxes<AlongB, Config.block.n>(stage + stager::offset_of_b, map_b, int(at.n0), k, full);
        a += p.a.stride_k, b += p.b.stride_k, k += Config.block.k;
        ring.advance();
      }
      ahead = 0;
    } while (tile.next());
  }
  template <tiling::direction Along>
  KERAMOS_FORCEINLINE_FUNCTION static bool of_lines(const tiling::operand<element>& x) {
    return InLines && Along == tiling::direction::k && x.stride_k != 1;
  }
  template <tiling::direction Along, int Extent>
  KERAMOS_FORCEINLINE_FUNCTION static void copy_boxes(char* to, const char* map, int mn, int k,
                                                      typename atom::barrier* full) {
    if constexpr (Along == tiling::direction::k) {
      atom::copy_box(to, map, k, mn, full);
    } else {
      constexpr int line = tiling::lines<element>::length;
      KERAMOS_UNROLL
      for (int column = 0; column < Extent / line; ++column)
        atom::copy_box(to + column * (Config.block.k * 128), map, mn + column * line, k, full);
    }
  }

  template <tiling::direction Along>
  KERAMOS_FORCEINLINE_FUNCTION static void make_map(void* local, const tiling::operand<element>& x,
                                                    index_t extent, index_t k, int tile) {
    constexpr bool along_k = Along == tiling::direction::k;
    const auto columns = std::uint32_t(along_k ? k : extent), rows = std::uint32_t(along_k ? extent : k);
    const index_t pitch = along_k ? x.stride_mn : x.stride_k;
    atom::template make_map<element>(local, {x.data, columns, rows, std::uint64_t(pitch) * sizeof(element)},
                                     along_k ? tile : Config.block.k);
  }

  /// That of those that multiply.
  template <class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const gemm_problem<Types>& given, Tile tile,
                                             const Epilogue& epilogue, char* local, pipeline ring,
                                             int thread) const {
    const multiplying_threads<Exec, multiplying> team(
        thread, reinterpret_cast<int*>(local + stages_bytes + pipeline::bytes));
    const int row = atom::same_in_warp(thread / warpgroup) * 64;
    const std::uint64_t a = atom::describe(local + panel_a::bytes_to(row, 0), panel_a::column_bytes);
    const std::uint64_t b = atom::describe(local + stager::offset_of_b, panel_b::column_bytes);
    do {
      accumulator sums(thread);
      const int count = k_tiles(tile.position());
      if constexpr (requires { tile.write_without_terms(thread, multiplying, epilogue); }) {
        if (count == 0) {
          tile.write_without_terms(thread, multiplying, epilogue);
          continue;
        }
      }
      if constexpr (Types::splits_elements)
        sum_split(sums, count, a, b, ring, thread);
      else if constexpr (loads_a)
        sum_loaded(sums, count, local, b, ring, thread);
      else
        sum(sums, count, a, b, ring, thread);
      sums.settle();
      if (tile.add_up(team, sums)) sums.write(problem_of(given, tile), tile.position(), epilogue);
    } while (tile.next());
  }

  /// Begins to multiply the k-tiles of A in one stage and of B in another.
  KERAMOS_FORCEINLINE_FUNCTION static void multiply_k_tile(accumulator& sums, std::uint64_t a, int stage_a,
                                                           std::uint64_t b, int stage_b, int part, bool add) {
    sums.template multiply<panel_a, panel_b, KindA, KindB>(atom::advance(a, stage_a * stager::slot_bytes),
                                                           atom::advance(b, stage_b * stager::slot_bytes),
                                                           part, add);
  }

  /// Sums `count` k-tiles, whose panels in the first stage are described.
  KERAMOS_FORCEINLINE_FUNCTION static void sum(accumulator& sums, int count, std::uint64_t a, std::uint64_t b,
                                               pipeline& ring, int thread) {
    [[maybe_unused]] int previous = 0;
    [[maybe_unused]] const int group = atom::same_in_warp(thread / warpgroup);
    if constexpr (takes_turns)
      if (group == 1) atom::arrive_at(some_threads::turn, multiplying);
    for (int s = 0; s < count; ++s) {
      const int slot = ring.wait();
      if constexpr (accumulator::adds_k_tiles) {
        KERAMOS_UNROLL
        for (int part = 0; part < accumulator::parts; ++part) {
          if constexpr (takes_turns) atom::meet(some_threads::turn + group, multiplying);
          atom::begin();
          multiply_k_tile(sums, a, slot, b, slot, part, false);
          atom::commit();
          if constexpr (takes_turns) {
            const bool last = s + 1 == count && part + 1 == accumulator::parts;
            if (group == 0 || !last) atom::arrive_at(some_threads::turn + 1 - group, multiplying);
          }
          atom::template finish<0>();
          if (part + 1 == accumulator::parts) release(ring, slot, thread);
          sums.add_k_tile(part);
        }
      } else {
        atom::begin();
        multiply_k_tile(sums, a, slot, b, slot, 0, s > 0);
        atom::commit();
        // The units have the next k-tile to do before the last one's stage is given back.
        atom::template finish<1>();
        if (s > 0) release(ring, previous, thread);
        previous = slot;
      }
      ring.advance();
    }
    if constexpr (!accumulator::adds_k_tiles) {
      atom::template finish<0>();
      release(ring, previous, thread);
    }
  }

  /// The same where elements are split: k-tiles come in pairs, of what elements were rounded to and of the rest. Products
  /// with a rest come first, since what they are added to is truncated; that of two rests is left out.
  KERAMOS_FORCEINLINE_FUNCTION static void sum_split(accumulator& sums, int count, std::uint64_t a,
                                                     std::uint64_t b, pipeline& ring, int thread) {
    for (int s = 0; s < count; s += 2) {
      const int high = ring.wait();
      ring.advance();
      const int rest = ring.wait();
      ring.advance();
      KERAMOS_UNROLL
      for (int part = 0; part < accumulator::parts; ++part) {
        atom::begin();
        multiply_k_tile(sums, a, high, b, rest, part, false);
        multiply_k_tile(sums, a, rest, b, high, part, true);
        multiply_k_tile(sums, a, high, b, high, part, true);
        atom::commit();
        atom::template finish<0>();
        if (part + 1 == accumulator::parts) {
          release(ring, high, thread);
          release(ring, rest, thread);
        }
        sums.add_k_tile(part);
      }
    }
  }

  /// The same where threads load A. What they have loaded of one k-tile stays until its products are done; meanwhile they load
  /// the next.
  KERAMOS_FORCEINLINE_FUNCTION static void sum_loaded(accumulator& sums, int count, const char* local,
                                                      std::uint64_t b, pipeline& ring, int thread) {
    typename accumulator::loaded_a even, odd;
    int previous = 0;
    for (int s = 0; s < count; s += 2) {
      const int slot = multiply_loaded(sums, even, local, b, ring, thread, s > 0);
      if (s > 0) odd.settle(), release(ring, previous, thread);
      previous = slot;
      if (s + 1 == count) break;
      const int next = multiply_loaded(sums, odd, local, b, ring, thread, true);
      even.settle(), release(ring, previous, thread);
      previous = next;
    }
    atom::template finish<0>();
    even.settle(), odd.settle();
    release(ring, previous, thread);
  }
  /// Loads a k-tile's A, begins to multiply it, and waits for the end of the products before. Returns its stage.
  KERAMOS_FORCEINLINE_FUNCTION static int multiply_loaded(accumulator& sums,
                                                          typename accumulator::loaded_a& a,
                                                          const char* local, std::uint64_t b, pipeline& ring,
                                                          int thread, bool add) {
    const int slot = ring.wait();
    a.template load<panel_a>(local, slot * stager::slot_bytes, thread);
    atom::begin();
    sums.template multiply<panel_b>(a, atom::advance(b, slot * stager::slot_bytes), add);
    atom::commit();
    atom::template finish<1>();
    ring.advance();
    return slot;
  }

  KERAMOS_FORCEINLINE_FUNCTION static void release(const pipeline& ring, int slot, int thread) {
    if constexpr (loads_a) atom::meet_warp();  // the other lanes have read it, too
    if (thread % warp == 0) ring.release(slot);
  }
};

}  // namespace keramos::detail::simt
