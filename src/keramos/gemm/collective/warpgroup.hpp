// The collective of GPUs whose tensor cores read both operands from local memory: one warpgroup of a team copies k-tiles,
// the others multiply, and barriers in local memory hand stages from one side to the other. (What CUTLASS calls warp
// specialisation; "fast.cu" of P. Shankhdhar shows what each step gives on an H100.)
//
// Teams are persistent: while a tile's sums are written, the next tile's first k-tiles are already on their way. Where C is read,
// a warp beside the copying one brings it to the cache meanwhile.
//
// The copying side is collective/warpgroup_copier.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/core/local_memory.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/collective/line_panel.hpp>
#include <keramos/gemm/collective/warpgroup_accumulator.hpp>
#include <keramos/gemm/collective/warpgroup_copier.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/pipeline.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

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

/// One way to run a GEMM: a tile of 64 rows for each multiplying warpgroup, and how the operands' memory runs. It must be
/// such that vectors of 16 bytes can be copied. With `InLines` operands lie as tiling::lines says, or as `AlongA` and `AlongB`
/// say where there are `maps`. Where units do not read A along m, each thread loads its part of A and gives it to them. Kinds of
/// elements (tiling::reading) are part of instructions.
template <class Exec, class Types, tiling::config Config, tiling::direction AlongA, tiling::direction AlongB,
          bool KindA, bool KindB, bool InLines>
class warpgroup_collective {
  using atom = backend::warpgroups<Exec>;
  using copier = warpgroup_copier<Exec, Types, Config, AlongA, AlongB, InLines>;
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
  /// Where each team can store its maps of both operands, or for a batch where its maps are. With them, and of lines, one thread
  /// has k-tiles copied; else each of the copying threads copies 16 bytes at a time.
  operand_maps maps;
  /// Counts the tiles that teams have drawn (collective/concept.hpp), if they do and one thread copies. Zero between kernels.
  int* drawn = nullptr;

  static constexpr std::size_t map_bytes = copier::map_bytes;
  static constexpr int mapping_threads = copier::mapping_threads;
  static constexpr int team_size = multiplying + copying;
  static constexpr int summing_threads = multiplying;
  static constexpr bool splits_k = Config.splits_k, persistent = true;

 private:
  using stager = typename copier::stager;
  using pipeline = typename copier::pipeline;
  using panel_a = line_panel<element, Config.block.m, Config.block.k, AlongA>;
  using panel_b = line_panel<element, Config.block.n, Config.block.k, AlongB>;
  /// What instructions know of the operands.
  struct operands {
    using a = panel_a;
    using b = panel_b;
    static constexpr bool kind_a = KindA, kind_b = KindB;
  };
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
  static constexpr std::size_t stages_bytes = copier::stages_bytes;
  static constexpr std::size_t bytes = stages_bytes + bytes_beside_stages(Config.block.m);
  static constexpr std::size_t c_at = stages_bytes + warpgroup_barrier_bytes + warpgroup_map_bytes;
  /// Behind the barriers a number that threads share when they split k, and one of each stage.
  static constexpr std::size_t shared_at = stages_bytes + pipeline::bytes, drawn_at = shared_at + sizeof(int);
  static_assert(drawn_at + Config.stages * sizeof(int) <= stages_bytes + warpgroup_barrier_bytes);

 public:
  static constexpr int teams_per_unit = backend::traits<Exec>::teams_per_unit(Config.teams, team_size, bytes);

  KERAMOS_FORCEINLINE_FUNCTION static constexpr tiling::shape block() { return Config.block; }
  KERAMOS_FORCEINLINE_FUNCTION static constexpr std::size_t local_bytes() { return bytes; }
  KERAMOS_FORCEINLINE_FUNCTION static int recompute(int x) { return backend::staging<Exec>::recompute(x); }

  // What the copying side knows.
  static bool can_shift_m(const gemm_problem<Types>& p) { return copier::can_shift_m(p); }
  static bool can_shift_n(const gemm_problem<Types>& p) { return copier::can_shift_n(p); }
  static bool reads_boxes(const gemm_problem<Types>& p) { return copier::reads_boxes(p); }
  static bool by_one_thread(const operand_maps& maps) { return copier::by_one_thread(maps); }
  KERAMOS_FORCEINLINE_FUNCTION static void make_maps_of_batch(const gemm_problem<Types>& p,
                                                              const repeated_operands& batch, char* local,
                                                              char* to, int lane) {
    copier::template make_maps<true>(p, batch, local, to, lane);
  }

  template <class Team, class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void run(const Team& team, const gemm_problem<Types>& p, const Tile& first,
                                        const Epilogue& epilogue) const {
    // Aligned here: team_launch leaves room for local_alignment alone, local_bytes() for the rest.
    auto address = reinterpret_cast<std::uintptr_t>(
        team.team_scratch(0).get_shmem_aligned(local_bytes(), local_alignment));
    address = (address + warpgroup_alignment - 1) / warpgroup_alignment * warpgroup_alignment;
    char* const local = atom::kept(reinterpret_cast<char*>(address));
    pipeline ring(local + stages_bytes);
    const int thread = backend::staging<Exec>::thread_of(team);
    if (thread == 0)
      ring.start(copier::by_one_thread(maps) ? 1 : copying, multiplying_warps + asks_for_c(epilogue));
    team.team_barrier();
    if (thread < multiplying) {
      if constexpr (moves_registers) atom::template take_registers<multiplying_registers>();
      multiply(p, first, epilogue, local, ring, thread);
    } else {
      if constexpr (moves_registers) atom::template give_registers<copying_registers>();
      int* const drawn = reinterpret_cast<int*>(local + drawn_at);
      copier::run(p, first, maps, int(team.league_rank()), local, ring, drawn, thread - multiplying,
                  [&](int lane) KERAMOS_INLINED {
                    if (asks_for_c(epilogue)) ask_for_c(p, first, epilogue, ring, drawn, lane);
                  });
    }
    // Without this exit the compiler sees the kernel run again for another league rank, and does not use the registers taken.
    if constexpr (moves_registers) atom::exit();
  }

 private:
  /// What the multiplying threads do: tile after tile they sum its k-tiles and write it.
  template <class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const gemm_problem<Types>& given, Tile tile,
                                             const Epilogue& epilogue, char* local, pipeline ring,
                                             int thread) const {
    const multiplying_threads<Exec, multiplying> team(thread, reinterpret_cast<int*>(local + shared_at));
    const int row = atom::same_in_warp(thread / warpgroup) * 64;
    const std::uint64_t a = atom::describe(local + panel_a::bytes_to(row, 0), panel_a::column_bytes);
    const std::uint64_t b = atom::describe(local + stager::offset_of_b, panel_b::column_bytes);
    do {
      accumulator sums(thread);
      const int count = copier::k_tiles(tile.position());
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
        sum(sums, count, a, b, ring, thread,
            [&]() KERAMOS_INLINED { read_c(sums, given, tile, epilogue, local + c_at); });
      sums.settle();
      if (backend::mma<Exec>::any_in_warp(tile.add_up(team, sums)))
        sums.write(copier::problem_of(given, tile), tile.position(), epilogue_of(tile, epilogue),
                   local + c_at);
    } while (go_on(tile, ring, reinterpret_cast<const int*>(local + drawn_at), thread));
  }
  /// Reads what will be read first of a tile's C, if the tile has all of k: most parts of it do not write C.
  template <class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION static void read_c(accumulator& sums, const gemm_problem<Types>& given,
                                                  const Tile& tile, const Epilogue& epilogue, char* local) {
    if constexpr (accumulator::template reads_early<Epilogue>) {
      if (!reads_c<typename Types::accumulator>(epilogue)) return;
      const auto& p = copier::problem_of(given, tile);
      const auto at = tile.position();
      if (at.k1 - at.k0 == p.k) sums.read_c(p, at, local);
    }
  }
  /// The epilogue, or a tile's own, of which it then knows what all of its elements share.
  template <class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION static decltype(auto) epilogue_of([[maybe_unused]] const Tile& tile,
                                                                 const Epilogue& epilogue) {
    if constexpr (requires { tile.own(epilogue); })
      return tile.own(epilogue);
    else
      return (epilogue);
  }

  /// Steps to the next tile, if there is one: that which the copying thread drew, if it does.
  template <class Tile>
  KERAMOS_FORCEINLINE_FUNCTION static bool go_on(Tile& tile, [[maybe_unused]] const pipeline& ring,
                                                 [[maybe_unused]] const int* drawn,
                                                 [[maybe_unused]] int thread) {
    if constexpr (copier::template can_draw<Tile>)
      if (tile.is_drawn()) {
        int next = 0;
        const int slot = ring.wait();
        if (thread % warp == 0) next = drawn[slot];  // by the lane that releases the stage
        next = atom::same_in_warp(next);
        if (next >= 0) tile.take(next);
        return next >= 0;
      }
    return tile.next();
  }

  /// Whether the warp behind that of the copying thread asks for C, which the epilogue reads.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION bool asks_for_c(const Epilogue& epilogue) const {
    return copier::by_one_thread(maps) && reads_c<typename Types::accumulator>(epilogue);
  }
  /// It does so for each tile when one of its last k-tiles is there, usually before those that multiply have read it. It releases
  /// stages as they do. (The copying thread cannot ask: prefetches of whole rows held up its copies, up to a fifth of a product's
  /// time.)
  template <class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION static void ask_for_c(const gemm_problem<Types>& given, Tile tile,
                                                     const Epilogue& epilogue, pipeline ring,
                                                     const int* drawn, int lane) {
    constexpr int last_k_tiles = 6;
    do {
      const auto& p = copier::problem_of(given, tile);
      const auto at = tile.position();
      const int count = copier::k_tiles(at), ask_at = count < last_k_tiles ? count : last_k_tiles;
      for (int left = count; left > 0; --left) {
        const int slot = ring.wait();
        atom::meet_warp();  // all lanes have waited
        if (lane == 0) ring.release(slot);
        ring.advance();
        if (left != ask_at) continue;
        // Tiles of few k-tiles: first the last k-tile of the tile before must have been read. Else C of several tiles would be
        // asked for, and leave the cache before it is read (bf16, 8192 x 8192 x 64 on an H200: 138 us instead of 93).
        if (left == count) ring.wait_until_read(2);
        prefetch_c<backend::staging<Exec>, Config.block.m, Config.block.n, warp>(p, at, lane, epilogue);
      }
    } while (go_on(tile, ring, drawn, lane));
  }

  /// From the description of a panel in the first stage to that of another stage's.
  KERAMOS_FORCEINLINE_FUNCTION static std::uint64_t in_stage(int stage, std::uint64_t panel) {
    return atom::advance(panel, stage * stager::slot_bytes);
  }

  /// Sums `count` k-tiles, whose panels in the first stage are described. Where the units have all of the sums, `before_last()` is
  /// called when they have the last k-tile but one to do.
  template <class BeforeLast>
  KERAMOS_FORCEINLINE_FUNCTION static void sum(accumulator& sums, int count, std::uint64_t a, std::uint64_t b,
                                               pipeline& ring, int thread,
                                               [[maybe_unused]] const BeforeLast& before_last) {
    if constexpr (accumulator::adds_k_tiles) {
      sum_k_tiles(sums, count, a, b, ring, thread);
    } else {
      int previous = 0;
      const auto add = [&](int s) KERAMOS_INLINED {
        const int slot = ring.wait();
        atom::begin();
        sums.template multiply<operands>(in_stage(slot, a), in_stage(slot, b), 0, s > 0);
        atom::commit();
        // The units have the next k-tile to do before the last one's stage is given back.
        atom::template finish<1>();
        if (s > 0) release(ring, previous, thread);
        previous = slot;
        ring.advance();
      };
      for (int s = 0; s < count - 1; ++s) add(s);
      before_last();
      add(count - 1);
      atom::template finish<0>();
      release(ring, previous, thread);
    }
  }

  /// The same where each k-tile is summed by itself and then added.
  KERAMOS_FORCEINLINE_FUNCTION static void sum_k_tiles(accumulator& sums, int count, std::uint64_t a,
                                                       std::uint64_t b, pipeline& ring, int thread) {
    [[maybe_unused]] const int group = takes_turns ? atom::same_in_warp(thread / warpgroup) : 0;
    if constexpr (takes_turns)
      if (group == 1) atom::arrive_at(some_threads::turn, multiplying);
    for (int s = 0; s < count; ++s) {
      const int slot = ring.wait();
      KERAMOS_UNROLL
      for (int part = 0; part < accumulator::parts; ++part) {
        if constexpr (takes_turns) atom::meet(some_threads::turn + group, multiplying);
        atom::begin();
        sums.template multiply<operands>(in_stage(slot, a), in_stage(slot, b), part, false);
        atom::commit();
        if constexpr (takes_turns) {
          const bool last = s + 1 == count && part + 1 == accumulator::parts;
          if (group == 0 || !last) atom::arrive_at(some_threads::turn + 1 - group, multiplying);
        }
        atom::template finish<0>();
        if (part + 1 == accumulator::parts) release(ring, slot, thread);
        sums.add_k_tile(part);
      }
      ring.advance();
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
        sums.template multiply<operands>(in_stage(high, a), in_stage(rest, b), part, false);
        sums.template multiply<operands>(in_stage(rest, a), in_stage(high, b), part, true);
        sums.template multiply<operands>(in_stage(high, a), in_stage(high, b), part, true);
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
    sums.template multiply<panel_b>(a, in_stage(slot, b), add);
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
