// The collective of GPUs whose tensor cores read both operands from local memory: one warpgroup of a team copies k-tiles,
// the others multiply, and barriers in local memory hand stages from one side to the other. (What CUTLASS calls warp
// specialisation; "fast.cu" of P. Shankhdhar shows what each step gives on an H100.)
//
// Teams are persistent: while a tile's sums are written, the next tile's first k-tiles are already on their way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/pipeline.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// A k-tile of one operand as warpgroups read it: lines of 128 bytes, whose runs of 16 bytes change places from line to line,
/// so that any eight neighbouring lines are read from all banks at once. A line is a row along k, or as much of a column of
/// k along m or n; there the panel is columns of lines, beside each other (PTX ISA, "Shared Memory Matrix Layout", swizzling
/// of 128 bytes, "K-major" and "MN-major").
template <class T, int MN, int K, tiling::direction Rows>
class line_panel {
  static constexpr bool along_k = Rows == tiling::direction::k;
  static constexpr int line = 128 / int(sizeof(T)), run_length = 16 / int(sizeof(T));
  static_assert(along_k ? K == line : MN % line == 0);

 public:
  static constexpr bool swizzled = true, along_mn = !along_k;
  static constexpr int stride_mn = along_k ? line : 1,
                       stride_k = along_k ? 1 : line;  ///< inside a column of lines
  static constexpr int size = MN * K, period = 8;
  /// A line is all of a row that lies together; from column to column of lines an element's place moves so far for each.
  static constexpr int most_of_row = line, column_stride = K;
  static constexpr int column_bytes = along_k ? 16 : K * 128;  ///< along k there is one column only

  KERAMOS_FORCEINLINE_FUNCTION static int offset(int mn, int k) {
    if constexpr (along_k)
      return mn * line + (k ^ mn % 8 * run_length);
    else
      return mn / line * (line * K) + k * line + (mn % line ^ k % 8 * run_length);
  }
  /// Bytes from the panel's begin to row or column mn, a multiple of 8 or of a line, and to 32 bytes along k.
  KERAMOS_FORCEINLINE_FUNCTION static int bytes_to(int mn, int step) {
    return along_k ? mn * 128 + step * 32 : mn * K * int(sizeof(T)) + step * (32 / int(sizeof(T))) * 128;
  }
};

/// Sums of a warpgroup, 64 x N.
template <class Types, int N, class Exec>
class warpgroup_accumulator {
  using T = typename Types::accumulator;
  using E = typename Types::a;
  using unit = backend::warpgroups<Exec>;
  static constexpr int fragments = N / 8;  ///< of 64 x 8

 public:
  /// Whether the units' sums are of fewer bits than T has: then those of each k-tile are formed by themselves, 128 columns
  /// at a time, and added to the rest here.
  static constexpr bool adds_k_tiles = std::is_same_v<E, float8>;
  static constexpr int parts = adds_k_tiles ? N / 128 : 1;  ///< of the columns
  static_assert(!adds_k_tiles || N % 128 == 0);
  static constexpr int registers = N / 2 + (adds_k_tiles ? 64 : 0);  ///< of sums

  KERAMOS_FORCEINLINE_FUNCTION explicit warpgroup_accumulator(int thread) : thread_(thread) {}

  /// Begins to multiply a k-tile of 128 bytes, whose panels are described, one part of the columns; `add` to what is there
  /// or not.
  template <class PanelA, class PanelB, bool KindA, bool KindB>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(std::uint64_t a, std::uint64_t b, [[maybe_unused]] int part,
                                             [[maybe_unused]] bool add) {
    unit::begin();
    KERAMOS_UNROLL
    for (int step = 0; step < 4; ++step) {
      const std::uint64_t a_step = unit::advance(a, PanelA::bytes_to(0, step)),
                          b_step = unit::advance(b, PanelB::bytes_to(adds_k_tiles ? part * 128 : 0, step));
      if constexpr (adds_k_tiles)
        unit::template multiply_bytes<KindA, KindB>(of_k_tile_, a_step, b_step, step > 0);
      else if constexpr (sizeof(E) == 1)
        unit::template multiply_bytes<KindA, KindB>(sums_, a_step, b_step, add || step > 0);
      else
        unit::template multiply<E, PanelA::along_mn, PanelB::along_mn>(sums_, a_step, b_step,
                                                                       add || step > 0);
    }
    unit::commit();
  }

  /// All products are done.
  KERAMOS_FORCEINLINE_FUNCTION void settle() {
    if constexpr (!adds_k_tiles) {
      KERAMOS_UNROLL
      for (int i = 0; i < N / 2; ++i) unit::settle(sums_[i]);
    }
  }

  /// Adds a k-tile's sums of a part, which are done, to what is there or not.
  KERAMOS_FORCEINLINE_FUNCTION void add_k_tile(int part, bool add) requires(adds_k_tiles) {
    KERAMOS_UNROLL
    for (int i = 0; i < 64; ++i) {
      unit::settle(of_k_tile_[i]);
      T& sum = sums_[part * 64 + i];
      sum = add ? sum + of_k_tile_[i] : of_k_tile_[i];
    }
  }

  /// `f(number, run)` for the sums in runs of 16 bytes.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_vector(const F& f) {
    KERAMOS_UNROLL
    for (int i = 0; i < fragments; ++i) {
      T run[4] = {sums_[4 * i], sums_[4 * i + 1], sums_[4 * i + 2], sums_[4 * i + 3]};
      f(i, run);
      KERAMOS_UNROLL
      for (int v = 0; v < 4; ++v) sums_[4 * i + v] = run[v];
    }
  }

  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<Types>& p, const Position& at,
                                          const Epilogue& epilogue) const {
    const int rows = p.m - at.m0 < at.rows ? int(p.m - at.m0) : at.rows,
              cols = p.n - at.n0 < at.cols ? int(p.n - at.n0) : at.cols;
    int skip_m = 0, skip_n = 0;
    if constexpr (std::is_same_v<Position, tiling::shifted_position>) skip_m = at.skip_m, skip_n = at.skip_n;
    const auto c = reinterpret_cast<std::uintptr_t>(p.c);
    if (p.c_col_stride == 1 &&
        ((p.c_row_stride | at.n0 | skip_n | cols) * sizeof(C) | c) % sizeof(vector) == 0) {
      const window there{skip_m, rows, skip_n, cols};
      if (reads_c<T>(epilogue))
        write_vectors<true>(p, at, there, epilogue);
      else
        write_vectors<false>(p, at, there, epilogue);
      return;
    }
    const c_writer<Types, 2, Position> writer(p, at);
    KERAMOS_UNROLL
    for (int j = 0; j < fragments; ++j) KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) {
      const T pair[2] = {sums_[j * 4 + half * 2], sums_[j * 4 + half * 2 + 1]};
      writer.write(first_row() + 8 * half, j * 8 + thread_ % 4 * 2, pair, epilogue);
    }
  }

 private:
  using C = typename Types::c;
  /// Two neighbours of a row of C, which a lane has of each fragment, and those of several fragments: 16 bytes, or all that
  /// the four lanes of a row have.
  using pair = run<C, 2>;
  static constexpr int together = sizeof(pair) < 4 ? 4 : 16 / int(sizeof(pair));
  using vector = run<pair, together>;
  /// Lanes exchange whole words, of which a pair of bytes fills half.
  using pair_bits = run<unsigned, (sizeof(pair) + 3) / 4>;
  using pairs_bits = run<pair_bits, together>;

  /// The rows and columns of the tile that are to be written.
  struct window {
    int row0, row1, col0, col1;
  };

  KERAMOS_FORCEINLINE_FUNCTION int first_row() const { return thread_ / 32 * 16 + thread_ % 32 / 4; }

  /// Lanes that have neighbours change pairs with each other, so that each writes 16 bytes: of four lanes with four
  /// fragments each gets one fragment's eight columns, of two lanes with two fragments half of that.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_vectors(const gemm_problem<Types>& p, const tiling::position& at,
                                                  const window& there, const Epilogue& epilogue) const {
    const int lane = thread_ % 32, first_col = lane % together * 8 + lane % 4 / together * 4;
    C* const c = p.c + (at.m0 + first_row()) * p.c_row_stride + at.n0 + first_col;
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = first_row() + 8 * half;
      const index_t i = at.m0 + row;
      const int end = row >= there.row0 && row < there.row1 ? there.col1 : 0;
      KERAMOS_UNROLL
      for (int j = 0; j < fragments; j += together) {
        vector* const to = reinterpret_cast<vector*>(c + 8 * half * p.c_row_stride + j * 8);
        const bool is_there = first_col + j * 8 >= there.col0 && first_col + j * 8 < end;
        pairs_bits pairs{};
        if constexpr (Reads) {
          if (is_there) pairs = bits_of(*to);
          pairs = exchanged(pairs, lane);
        }
        KERAMOS_UNROLL
        for (int f = 0; f < together; ++f) {
          pair two;
          if constexpr (Reads) std::memcpy(&two, &pairs.value[f], sizeof(two));
          KERAMOS_UNROLL
          for (int v = 0; v < 2; ++v) {
            const T sum = sums_[(j + f) * 4 + half * 2 + v];
            const index_t col = at.n0 + (j + f) * 8 + lane % 4 * 2 + v;
            two.value[v] = Reads ? element_with_c(epilogue, p.place, sum, two.value[v], i, col)
                                 : element_without_c<C>(epilogue, p.place, sum, i, col);
          }
          std::memcpy(&pairs.value[f], &two, sizeof(two));
        }
        pairs = exchanged(pairs, lane);
        if (is_there) *to = vector_of(pairs);
      }
    }
  }

  KERAMOS_FORCEINLINE_FUNCTION static pairs_bits bits_of(const vector& x) {
    pairs_bits bits{};
    KERAMOS_UNROLL
    for (int f = 0; f < together; ++f) std::memcpy(&bits.value[f], &x.value[f], sizeof(pair));
    return bits;
  }
  KERAMOS_FORCEINLINE_FUNCTION static vector vector_of(const pairs_bits& bits) {
    vector x;
    KERAMOS_UNROLL
    for (int f = 0; f < together; ++f) std::memcpy(&x.value[f], &bits.value[f], sizeof(pair));
    return x;
  }
  /// Pairs are a matrix of lanes and fragments; this is its transpose.
  KERAMOS_FORCEINLINE_FUNCTION static pairs_bits exchanged(pairs_bits pairs, int lane) {
    KERAMOS_UNROLL
    for (int mask = 1; mask < together; mask *= 2) {
      const bool upper = (lane & mask) != 0;
      KERAMOS_UNROLL
      for (int f = 0; f < together; ++f) {
        if (f & mask) continue;
        KERAMOS_UNROLL
        for (int w = 0; w < int(sizeof(pair_bits) / sizeof(unsigned)); ++w) {
          unsigned &low = pairs.value[f].value[w], &high = pairs.value[f + mask].value[w];
          const unsigned got = unit::exchange(upper ? low : high, mask);
          low = upper ? got : low;
          high = upper ? high : got;
        }
      }
    }
    return pairs;
  }

  int thread_;     // of those that multiply
  T sums_[N / 2];  // (fragment, half of its rows, column)
  T of_k_tile_[adds_k_tiles ? 64 : 1];
};

/// The threads of a team that multiply, as split_k needs a team.
template <class Exec, int Threads>
class multiplying_threads {
 public:
  using execution_space = Exec;

  KERAMOS_FORCEINLINE_FUNCTION multiplying_threads(int rank, int* shared) : rank_(rank), shared_(shared) {}

  KERAMOS_FORCEINLINE_FUNCTION int team_rank() const { return rank_; }
  KERAMOS_FORCEINLINE_FUNCTION void team_barrier() const { backend::warpgroups<Exec>::meet(Threads); }
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

/// Local memory beside the stages: their swizzle counts from multiples of 1,024 bytes, and there are barriers.
inline constexpr std::size_t warpgroup_alignment = 1024, warpgroup_barrier_bytes = 256;

/// One way to run a GEMM: a tile of 64 rows for each multiplying warpgroup, and how the operands' memory runs. It must be
/// such that vectors of 16 bytes can be copied; bytes must lie along k. Kinds of bytes (tiling::reading) are part of instructions.
template <class Exec, class Types, tiling::config Config, tiling::direction AlongA, tiling::direction AlongB,
          bool KindA, bool KindB>
class warpgroup_collective {
  using unit = backend::warpgroups<Exec>;
  using element = typename Types::a;
  static constexpr int warp = backend::traits<Exec>::warp_size;
  static constexpr int warpgroup = unit::warps * warp;
  static constexpr int multiplying = Config.warps() * warp, copying = warpgroup;  ///< threads
  static_assert(std::is_same_v<element, typename Types::b>);
  static_assert(Config.warp.m == 16 && Config.warp.n == Config.block.n && Config.block.m % 64 == 0,
                "keramos: a warpgroup has 64 rows of a block tile, and all of its columns");
  static_assert(sizeof(element) == 2 || (AlongA == tiling::direction::k && AlongB == tiling::direction::k),
                "keramos: warpgroups read only elements of two bytes along m or n");

 public:
  using types = Types;
  static constexpr int team_size = multiplying + copying;
  static constexpr int summing_threads = multiplying;
  static constexpr bool splits_k = Config.splits_k, persistent = true;

 private:
  static constexpr access in_vectors(tiling::direction along) { return {along, 16 / int(sizeof(element))}; }
  using copier = backend::staging<Exec>;
  using stager = simt::stager<Types, Config, in_vectors(AlongA), AlongA, in_vectors(AlongB), AlongB, copying,
                              copier, line_panel>;
  using pipeline = tiling::handoff_pipeline<Config.stages, copier, unit>;
  using panel_a = line_panel<element, Config.block.m, Config.block.k, AlongA>;
  using panel_b = line_panel<element, Config.block.n, Config.block.k, AlongB>;
  using accumulator = warpgroup_accumulator<Types, Config.block.n, Exec>;
  static constexpr int multiplying_warps = Config.warps();
  /// Registers are allotted in eights to all threads alike. Where sums leave too few of them, those that copy give some of
  /// theirs.
  static constexpr int equal_registers = unit::registers / (Config.teams * team_size) / 8 * 8;
  static constexpr int copying_registers = 40;
  static constexpr int multiplying_registers =
      (equal_registers * team_size - copying_registers * copying) / multiplying / 8 * 8;
  static constexpr bool moves_registers = accumulator::registers > equal_registers - 48;
  static constexpr std::size_t stages_bytes = Config.stages * std::size_t(stager::slot_bytes);
  static constexpr std::size_t bytes = stages_bytes + warpgroup_alignment + warpgroup_barrier_bytes;
  static_assert(pipeline::bytes + sizeof(int) <= warpgroup_barrier_bytes);

 public:
  static constexpr int teams_per_unit = backend::traits<Exec>::teams_per_unit(Config.teams, team_size, bytes);

  KERAMOS_FORCEINLINE_FUNCTION static constexpr tiling::shape block() { return Config.block; }
  KERAMOS_FORCEINLINE_FUNCTION static constexpr std::size_t local_bytes() { return bytes; }
  KERAMOS_FORCEINLINE_FUNCTION static int recompute(int x) { return copier::recompute(x); }

  /// As of simt::collective.
  static bool can_shift_m(const gemm_problem<Types>& p) {
    return simt::can_shift(p.m + p.pad_m, Config.block.m, in_vectors(AlongA));
  }
  static bool can_shift_n(const gemm_problem<Types>& p) {
    return simt::can_shift(p.n + p.pad_n, Config.block.n, in_vectors(AlongB));
  }

  template <class Team, class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void run(const Team& team, const gemm_problem<Types>& p, const Tile& first,
                                        const Epilogue& epilogue) const {
    auto address =
        reinterpret_cast<std::uintptr_t>(team.team_scratch(0).get_shmem_aligned(local_bytes(), 128));
    address = (address + warpgroup_alignment - 1) / warpgroup_alignment * warpgroup_alignment;
    char* const local = reinterpret_cast<char*>(address);
    pipeline ring(local + stages_bytes);
    const int thread = int(team.team_rank());
    if (thread == 0) ring.start(copying, multiplying_warps);
    team.team_barrier();
    if (thread < multiplying) {
      if constexpr (moves_registers) unit::template take_registers<multiplying_registers>();
      multiply(p, first, epilogue, local, ring, thread);
    } else {
      if constexpr (moves_registers) unit::template give_registers<copying_registers>();
      copy(p, first, local, ring, thread - multiplying);
    }
    // Else the compiler does not use them: it sees the team begin once more, with another rank in the league.
    if constexpr (moves_registers) unit::exit();
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static int k_tiles(const tiling::position& at) {
    return int((at.k1 - at.k0 + Config.block.k - 1) / Config.block.k);
  }

  /// The part of the threads that copy.
  template <class Tile>
  KERAMOS_FORCEINLINE_FUNCTION void copy(const gemm_problem<Types>& p, Tile tile, char* local, pipeline ring,
                                         int thread) const {
    do {
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

  /// That of those that multiply.
  template <class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const gemm_problem<Types>& p, Tile tile,
                                             const Epilogue& epilogue, char* local, pipeline ring,
                                             int thread) const {
    const multiplying_threads<Exec, multiplying> team(
        thread, reinterpret_cast<int*>(local + stages_bytes + pipeline::bytes));
    const int row = unit::same_in_warp(thread / warpgroup) * 64;
    const std::uint64_t a = unit::describe(local + panel_a::bytes_to(row, 0), panel_a::column_bytes);
    const std::uint64_t b = unit::describe(local + stager::offset_of_b, panel_b::column_bytes);
    do {
      accumulator sums(thread);
      const int count = k_tiles(tile.position());
      [[maybe_unused]] int previous = 0;
      for (int s = 0; s < count; ++s) {
        const int slot = ring.wait(), offset = slot * stager::slot_bytes;
        const auto begin = [&](int part) {
          sums.template multiply<panel_a, panel_b, KindA, KindB>(unit::advance(a, offset),
                                                                 unit::advance(b, offset), part, s > 0);
        };
        if constexpr (accumulator::adds_k_tiles) {
          KERAMOS_UNROLL
          for (int part = 0; part < accumulator::parts; ++part) {
            begin(part);
            unit::template finish<0>();
            if (part + 1 == accumulator::parts) release(ring, slot, thread);
            sums.add_k_tile(part, s > 0);
          }
        } else {
          begin(0);
          // The units have the next k-tile to do before the last one's stage is given back.
          unit::template finish<1>();
          if (s > 0) release(ring, previous, thread);
          previous = slot;
        }
        ring.advance();
      }
      if constexpr (!accumulator::adds_k_tiles) {
        unit::template finish<0>();
        release(ring, previous, thread);
      }
      sums.settle();
      if (tile.add_up(team, sums)) sums.write(p, tile.position(), epilogue);
    } while (tile.next());
  }

  KERAMOS_FORCEINLINE_FUNCTION static void release(const pipeline& ring, int slot, int thread) {
    if (thread % warp == 0) ring.release(slot);
  }
};

}  // namespace keramos::detail::simt
