// How the copying warpgroup of a team brings k-tiles to local memory (collective/warpgroup.hpp).
//
// Where it can, one thread has them copied, by a unit that does it alone: boxes of the operands as they lie, or lines that were
// prepared. Boxes need maps; while a warp makes them, other threads copy the first k-tiles. Without maps all threads of the
// warpgroup copy 16 bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/line_panel.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/gemm/collective/warpgroup_bytes.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/lines.hpp>
#include <keramos/tile/pipeline.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// How operands of a batch repeat, where one map serves all of its problems: how many there are, and elements from each to the
/// next. One map for each problem has no repetition.
struct repeated_operands {
  index_t count = 1, a_stride = 0, b_stride = 0;
};

/// Where the maps of a product's operands are, in memory that kernels read, if any: of a batch, those of each problem, or with
/// `of_all` one pair for all problems.
struct operand_maps {
  char* first = nullptr;
  bool of_all = false;
};

/// Barriers of parts of a team: of all that multiply, of two warpgroups that multiply in turns (two numbers), of those that
/// copy the first k-tiles.
struct some_threads {
  static constexpr int multiplying = 1, turn = 2, copying_first = 4;
};

/// The copying side of a warpgroup_collective, with the same parameters.
template <class Exec, class Types, tiling::config Config, tiling::direction AlongA, tiling::direction AlongB,
          bool InLines>
class warpgroup_copier {
  using atom = backend::warpgroups<Exec>;
  using element = typename Types::a;
  using units = backend::staging<Exec>;
  static constexpr int warp = backend::traits<Exec>::warp_size;
  static constexpr access in_vectors(tiling::direction along) { return {along, 16 / int(sizeof(element))}; }
  template <int Threads>
  using stager_of = simt::stager<Types, Config, in_vectors(AlongA), AlongA, in_vectors(AlongB), AlongB,
                                 Threads, units, line_panel>;

 public:
  static constexpr int threads = atom::warps * warp, mapping_threads = warp;
  using stager = stager_of<threads>;
  using pipeline = tiling::handoff_pipeline<Config.stages, units, atom>;
  static constexpr std::size_t map_bytes = 2 * atom::map_bytes;  ///< of both operands
  static constexpr std::size_t stages_bytes = Config.stages * std::size_t(stager::slot_bytes);

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

  /// Makes maps of both operands at `to`, by a warp, in local memory at multiples of the bytes of a map; those of a batch with
  /// `OfBatch`.
  template <bool OfBatch>
  KERAMOS_FORCEINLINE_FUNCTION static void make_maps(const gemm_problem<Types>& p,
                                                     const repeated_operands& batch, char* local, char* to,
                                                     int lane) {
    static_assert(map_bytes == warp * sizeof(std::uint64_t) && map_bytes <= warpgroup_map_bytes);
    reinterpret_cast<std::uint64_t*>(local)[lane] = 0;
    atom::meet_warp();
    if (lane == 0)
      make_map<OfBatch, AlongA>(local, p.a, p.m + p.pad_m, p.k, Config.block.m, batch.count, batch.a_stride);
    if (lane == 1)
      make_map<OfBatch, AlongB>(local + atom::map_bytes, p.b, p.n + p.pad_n, p.k, Config.block.n, batch.count,
                                batch.b_stride);
    atom::meet_warp();
    atom::store_map(to, local);
    atom::store_map(to + atom::map_bytes, local + atom::map_bytes);
    atom::meet_warp();
  }

  /// Whether teams draw their next tiles (collective/concept.hpp). Then the one copying thread does, and tells of each tile in
  /// the stage of its first k-tile: `drawn` of that stage is the tile's rank, or negative behind the last.
  template <class Tile>
  static constexpr bool can_draw = requires(Tile& tile) {
    tile.draws();
  };

  /// Tiles of a batch say of which problem they are.
  template <class Tile>
  static constexpr bool is_of_batch = requires(const Tile& tile) {
    tile.problem();
  };
  /// The problem of a tile: of a batch its own, else p.
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

  /// Whether one thread has k-tiles copied: lines, or where there are maps.
  KERAMOS_FORCEINLINE_FUNCTION static bool by_one_thread(const operand_maps& maps) {
    return InLines || maps.first != nullptr;
  }

  /// What thread `thread` of the copying warpgroup does, from the first of a team's tiles to the last. If one thread copies, the
  /// warp behind its own does `meanwhile(lane)`.
  template <class Tile, class Meanwhile>
  KERAMOS_FORCEINLINE_FUNCTION static void run(const gemm_problem<Types>& p, const Tile& first,
                                               const operand_maps& maps, int league_rank, char* local,
                                               const pipeline& ring, int* drawn, int thread,
                                               const Meanwhile& meanwhile) {
    static_assert(threads - first_threads == 2 * warp);
    if (by_one_thread(maps)) {
      const int ahead = k_tiles_copied_first(first);
      if (thread < warp)
        copy_by_one_thread(p, first, ahead, maps, league_rank, local, ring, drawn, thread);
      else if (thread < 2 * warp)
        meanwhile(thread % warp);
      else if (ahead > 0)
        copy_first(p, first.position(), ahead, local, ring, thread - (threads - first_threads));
    } else if constexpr (!InLines) {
      copy(p, first, local, ring, thread);
    }
  }

 private:
  /// A team draws its next tile when so many k-tiles are left to copy. Earlier, a slow team would hold a tile that another could
  /// do; later, it would wait for the draw.
  static constexpr int left_at_draw = 2;
  /// A tile's first k-tiles, and the threads that copy them while a warp makes maps.
  static constexpr int first_k_tiles = Config.stages - 1, first_threads = 2 * warp;

  /// How many k-tiles of a team's first tile other threads copy while a warp makes maps: 0 where nobody waits for maps. Not of
  /// tf32, whose elements only the copying unit rounds.
  template <class Tile>
  KERAMOS_FORCEINLINE_FUNCTION static int k_tiles_copied_first(const Tile& first) {
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
      stager_of<first_threads> operands(p, at, local, thread);
      KERAMOS_NO_UNROLL
      for (int s = 0; s < first_k_tiles; ++s) {
        if (s < operands.whole_k_tiles())
          operands.template stage<true>(s, s);
        else if (s < count)
          operands.template stage<false>(s, s);
        units::commit();
      }
      tell_first(std::make_integer_sequence<int, first_k_tiles>(), count, ring, thread);
    }
  }
  /// Tells of each of the first stages as it is there. Each time another thread does, so that compilers see no branch which lasts
  /// from barrier to barrier.
  template <int... S>
  KERAMOS_FORCEINLINE_FUNCTION static void tell_first(std::integer_sequence<int, S...>, int count,
                                                      const pipeline& ring, int thread) {
    (tell_first<S>(count, ring, thread), ...);
  }
  template <int S>
  KERAMOS_FORCEINLINE_FUNCTION static void tell_first(int count, const pipeline& ring, int thread) {
    units::template wait<first_k_tiles - 1 - S>();
    atom::show_to_matrix_units();
    atom::meet(some_threads::copying_first, first_threads);
    if (thread == S && S < count) ring.tell_first(S);
  }

  /// The part of the threads that copy.
  template <class Tile>
  KERAMOS_FORCEINLINE_FUNCTION static void copy(const gemm_problem<Types>& given, Tile tile, char* local,
                                                pipeline ring, int thread) {
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
  KERAMOS_FORCEINLINE_FUNCTION static void copy_by_one_thread(const gemm_problem<Types>& given, Tile tile,
                                                              int ahead, const operand_maps& maps,
                                                              int league_rank, char* local, pipeline ring,
                                                              int* drawn, int lane) {
    const char* map = maps.first;
    if constexpr (!is_of_batch<Tile>) {
      if (maps.first != nullptr) {
        char* const of_team = maps.first + league_rank * map_bytes;
        make_maps<false>(given, {}, local + stages_bytes + warpgroup_barrier_bytes, of_team, lane);
        map = of_team;
      }
    }
    if (lane != 0) return;
    if (is_of_batch<Tile> && maps.of_all) acquire_maps(map);
    ring.skip(ahead);
    int number_drawn = 0;
    do {
      const auto& p = problem_of(given, tile);
      const auto at = tile.position();
      [[maybe_unused]] int number = 0;  // of a map's matrices
      if constexpr (is_of_batch<Tile>) {
        if (maps.of_all)
          number = tile.number;
        else
          acquire_maps(map = maps.first + tile.number * map_bytes);
      }
      const char* const map_b = map + atom::map_bytes;
      const bool lines_a = of_lines<AlongA>(p.a), lines_b = of_lines<AlongB>(p.b);
      const index_t k_tile = at.k0 / Config.block.k + ahead;
      const element *a = p.a.at(at.m0, k_tile), *b = p.b.at(at.n0, k_tile);  // of lines
      const int a_bytes = lines_a ? at.rows * 128 : stager::offset_of_b;
      const int b_bytes = lines_b ? at.cols * 128 : stager::slot_bytes - stager::offset_of_b;
      int k = int(at.k0) + ahead * Config.block.k;
      const int count = k_tiles(at) - ahead;
      const int draw_at = left_when_drawn(tile, count);
      if (draw_at == 0) number_drawn = draw(tile);
      for (int s = count; s > 0; --s) {
        if (s == draw_at) number_drawn = draw(tile);
        char* const stage = local + ring.acquire() * stager::slot_bytes;
        const auto full = ring.expect(a_bytes + b_bytes);
        if (lines_a)
          atom::copy(stage, a, a_bytes, full);
        else
          copy_boxes<is_of_batch<Tile>, AlongA, Config.block.m>(stage, map, int(at.m0), k, number, full);
        if (lines_b)
          atom::copy(stage + stager::offset_of_b, b, b_bytes, full);
        else
          copy_boxes<is_of_batch<Tile>, AlongB, Config.block.n>(stage + stager::offset_of_b, map_b,
                                                                int(at.n0), k, number, full);
        a += p.a.stride_k, b += p.b.stride_k, k += Config.block.k;
        ring.advance();
      }
      ahead = 0;
    } while (go_on(tile, number_drawn, ring, drawn));
  }
  /// How many of a tile's last `count` k-tiles are left to copy when its team draws the next tile; negative where teams do not.
  template <class Tile>
  KERAMOS_FORCEINLINE_FUNCTION static int left_when_drawn([[maybe_unused]] const Tile& tile,
                                                          [[maybe_unused]] int count) {
    if constexpr (can_draw<Tile>)
      if (tile.is_drawn()) return count < left_at_draw ? count : left_at_draw;
    return -1;
  }
  template <class Tile>
  KERAMOS_FORCEINLINE_FUNCTION static int draw([[maybe_unused]] const Tile& tile) {
    if constexpr (can_draw<Tile>)
      return tile.draws().draw();
    else
      return -1;
  }
  /// Steps to the next tile, if there is one. Of one that was drawn the next stage tells; behind the last it has no k-tile.
  template <class Tile>
  KERAMOS_FORCEINLINE_FUNCTION static bool go_on(Tile& tile, [[maybe_unused]] int number_drawn,
                                                 [[maybe_unused]] const pipeline& ring,
                                                 [[maybe_unused]] int* drawn) {
    if constexpr (can_draw<Tile>)
      if (tile.is_drawn()) {
        const int slot = ring.acquire(), next = tile.draws().rank(number_drawn);
        drawn[slot] = next;
        if (next < 0)
          ring.expect(0);
        else
          tile.take(next);
        return next >= 0;
      }
    return tile.next();
  }
  template <tiling::direction Along>
  KERAMOS_FORCEINLINE_FUNCTION static bool of_lines(const tiling::operand<element>& x) {
    return InLines && Along == tiling::direction::k && x.stride_k != 1;
  }
  KERAMOS_FORCEINLINE_FUNCTION static void acquire_maps(const char* maps) {
    atom::acquire_map(maps);
    atom::acquire_map(maps + atom::map_bytes);
  }
  template <bool OfBatch, tiling::direction Along, int Extent>
  KERAMOS_FORCEINLINE_FUNCTION static void copy_boxes(char* to, const char* map, int mn, int k,
                                                      [[maybe_unused]] int number,
                                                      typename atom::barrier* full) {
    const auto copy_box = [&](char* box, int column, int row) {
      if constexpr (OfBatch)
        atom::copy_box(box, map, column, row, number, full);
      else
        atom::copy_box(box, map, column, row, full);
    };
    if constexpr (Along == tiling::direction::k) {
      copy_box(to, k, mn);
    } else {
      constexpr int line = tiling::lines<element>::length;
      KERAMOS_UNROLL
      for (int column = 0; column < Extent / line; ++column)
        copy_box(to + column * (Config.block.k * 128), mn + column * line, k);
    }
  }

  template <bool OfBatch, tiling::direction Along>
  KERAMOS_FORCEINLINE_FUNCTION static void make_map(void* local, const tiling::operand<element>& x,
                                                    index_t extent, index_t k, int tile, index_t count,
                                                    index_t stride) {
    constexpr bool along_k = Along == tiling::direction::k;
    const auto columns = std::uint32_t(along_k ? k : extent), rows = std::uint32_t(along_k ? extent : k);
    const index_t pitch = along_k ? x.stride_mn : x.stride_k;
    const std::uint64_t bytes = stride > 0 ? std::uint64_t(stride) * sizeof(element) : 16;  // of one, any
    atom::template make_map<element, OfBatch>(
        local, {x.data, columns, rows, std::uint64_t(pitch) * sizeof(element), std::uint32_t(count), bytes},
        along_k ? tile : Config.block.k);
  }
};

}  // namespace keramos::detail::simt
