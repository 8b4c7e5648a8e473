// The collective of GPUs without producers of their own: all threads of a team stage k-tiles of both operands in local
// memory, asynchronously where the machine can, and multiply them from registers.
#pragma once

#include <cstddef>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/core/local_memory.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/collective/fma.hpp>
#include <keramos/gemm/collective/fragment_panel.hpp>
#include <keramos/gemm/collective/joint_mma.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/gemm/collective/warp_mma.hpp>
#include <keramos/gemm/collective/warp_mma_complex.hpp>
#include <keramos/gemm/collective/warp_mma_short.hpp>
#include <keramos/gemm/collective/wave_mma.hpp>
#include <keramos/gemm/collective/wave_panel.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/pipeline.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

template <class Exec, class Types, tiling::config Config>
inline constexpr bool in_waves =
    Config.math ==
    tiling::math_unit::matrix&& backend::mma<Exec>::template multiplies_in_waves<wave_element<Types>>;

template <class Exec, class Types, tiling::config Config, access A, access B, bool ConjugateA>
constexpr auto accumulator_type() {
  if constexpr (Config.math == tiling::math_unit::fma)
    return std::type_identity<fma_accumulator<Types, Config, Exec, ConjugateA>>();
  else if constexpr (Config.math == tiling::math_unit::joint)
    return std::type_identity<joint_mma_accumulator<Types, Config, Exec>>();
  else if constexpr (in_waves<Exec, Types, Config>)
    return std::type_identity<wave_mma_accumulator<Types, Config, Exec, A.along, B.along>>();
  else if constexpr (Types::is_complex)
    return std::type_identity<warp_mma_complex_accumulator<Types, Config, Exec>>();
  else if constexpr (backend::mma<Exec>::template multiplies_short<typename Types::a>)
    return std::type_identity<warp_mma_short_accumulator<Types, Config, Exec>>();
  else
    return std::type_identity<warp_mma_accumulator<Types, Config, Exec>>();
}
template <class Exec, class Types, tiling::config Config, access A, access B, bool ConjugateA>
using accumulator_for = typename decltype(accumulator_type<Exec, Types, Config, A, B, ConjugateA>())::type;

/// One way to run a GEMM: a tile configuration, and how the operands' memory runs. `ConjugateA` is set where one of two
/// complex operands is conjugated and FMA units must know: where B is, the conjugate of conj(A)·B is the product.
template <class Exec, class Types, tiling::config Config, access A, access B, bool ConjugateA>
class collective {
 public:
  using types = Types;
  static constexpr int team_size = Config.warps() * backend::traits<Exec>::warp_size;
  static constexpr int summing_threads = team_size;
  static constexpr bool splits_k = Config.splits_k, persistent = false;
  static constexpr bool on_several_dies = backend::traits<Exec>::several_dies;

 protected:
  static constexpr int stages = Config.stages;
  using accumulator = accumulator_for<Exec, Types, Config, A, B, ConjugateA>;
  static constexpr tiling::direction rows(const access& x) {
    return accumulator::reads_either ? x.along : tiling::direction::mn;
  }
  using copier = backend::staging<Exec>;
  static constexpr bool jointly = Config.math == tiling::math_unit::joint;
  template <template <class, int, int, tiling::direction> class PanelA,
            template <class, int, int, tiling::direction> class PanelB>
  using stager_of = simt::stager<Types, Config, A, rows(A), B, rows(B), team_size, copier, PanelA, PanelB>;
  using fragments = fragment_panels<Exec>;
  static constexpr auto stager_type() {
    if constexpr (jointly)
      return std::type_identity<stager_of<fragments::template of_a, fragments::template of_b>>();
    else if constexpr (in_waves<Exec, Types, Config>)
      return std::type_identity<stager_of<wave_panel, wave_panel>>();
    else
      return std::type_identity<stager_of<panel, panel>>();
  }
  using stager = typename decltype(stager_type())::type;
  static constexpr std::size_t bytes = stages * stager::slot_bytes;
  /// Whether sums leave few registers for anything else. With fewer of them, to find a tile once more only takes time.
  static constexpr bool fills_registers =
      Config.block.m * Config.block.n * int(sizeof(typename Types::accumulator)) >= 256 * team_size;

 public:
  static constexpr int teams_per_unit = backend::traits<Exec>::teams_per_unit(Config.teams, team_size, bytes);

  KERAMOS_FORCEINLINE_FUNCTION static constexpr tiling::shape block() { return Config.block; }
  KERAMOS_FORCEINLINE_FUNCTION static constexpr std::size_t local_bytes() { return bytes; }
  KERAMOS_FORCEINLINE_FUNCTION static int recompute(int x) { return copier::recompute(x); }

  /// Throws if the compiler's options make `Kernel`, which runs this, compute wrongly.
  template <class Kernel>
  static void check_compiled([[maybe_unused]] const Exec& exec) {
    if constexpr (jointly) backend::mma<Exec>::template check_compiled<Kernel>(exec);
  }

  /// Whether the last tiles can begin early.
  static bool can_shift_m(const gemm_problem<Types>& p) {
    return simt::can_shift(p.m + p.pad_m, Config.block.m, A);
  }
  static bool can_shift_n(const gemm_problem<Types>& p) {
    return simt::can_shift(p.n + p.pad_n, Config.block.n, B);
  }

  /// The accumulators call back as soon as they have read the last of a k-tile's panels, for those of the next one. So the
  /// first fragments of a k-tile load while the last ones of the k-tile before still multiply (the software pipeline of
  /// CUTLASS, "Efficient GEMM in CUDA"). After the last k-tile these panels hold nothing of use.
  template <class Team, class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void run(const Team& team, const gemm_problem<Types>& p, const Tile& tile,
                                        const Epilogue& epilogue) const {
    const auto at = tile.position();
    const int k_tiles = int((at.k1 - at.k0 + Config.block.k - 1) / Config.block.k);
    char* local = static_cast<char*>(team.team_scratch(0).get_shmem_aligned(local_bytes(), local_alignment));
    constexpr bool of_fmas =
        Config.math == tiling::math_unit::fma;  // whose small tiles are faster as they are
    const int thread = of_fmas ? int(team.team_rank()) : copier::thread_of(team);
    stager operands(p, at, local, thread);
    accumulator acc(thread);
    tiling::team_pipeline<stages, copier> ring;

    for (int s = 0; s < stages; ++s) {
      bool is_whole = false;
      if constexpr (stager::stages_whole) {
        is_whole = s < operands.whole_k_tiles();
        if (is_whole) operands.template stage<true>(s, s);
      }
      if (!is_whole && s < k_tiles) operands.template stage<false>(s, s);
      ring.commit();
    }
    // Not by large tiles that divide k, most of which do not write C: their main loop would get longer.
    if constexpr (!(splits_k && fills_registers))
      prefetch_c<copier, Config.block.m, Config.block.n, team_size>(p, at, thread, epilogue);
    ring.template wait<stages - 1>(team);
    acc.start(operands.panels(0));

    const auto multiply = [&](int s, auto whole, auto... kinds) KERAMOS_INLINED {
      if constexpr (decltype(whole)::value) operands.fetch();
      const auto next = [&]() KERAMOS_INLINED {
        ring.release();
        if constexpr (stages > 1) ring.template wait<stages - 2>(team);
        const int slot = ring.acquire(team);
        if (decltype(whole)::value || s + stages < k_tiles)
          operands.template stage<decltype(whole)::value>(s + stages, slot);
        ring.commit();
        if constexpr (stages == 1) ring.template wait<0>(team);
        ring.advance();
        return operands.panels(ring.current());
      };
      acc.multiply(operands.panels(ring.current()), next, kinds...);
    };
    // Apart from the rest, so that no branch keeps a compiler from spreading copies among the products; but copies that are always
    // checked are loops, which it does not spread.
    with_kinds<accumulator>(operands.panels(0), [&](auto... kinds) KERAMOS_INLINED {
      int s = 0;
      if constexpr (!stager::always_checks)
        for (; s + stages < operands.whole_k_tiles(); ++s) multiply(s, std::true_type(), kinds...);
      for (; s < k_tiles; ++s) multiply(s, std::false_type(), kinds...);
      if constexpr (accumulator::takes_kinds)
        acc.correct(unsigned(k_tiles) * unsigned(Config.block.k), kinds...);
    });
    if constexpr (jointly) {
      static_assert(accumulator::collecting_bytes <= bytes,
                    "keramos: sums are collected in the memory of k-tiles");
      acc.collect(team, local);
    }
    if constexpr (Types::is_complex) acc.finish(p);
    if (!tile.add_up(team, acc)) return;
    constexpr bool through_local = requires { requires accumulator::writes_through_local; };
    constexpr bool from_registers = is_linear<Epilogue> && requires {
      requires accumulator::writes_from_registers;
    };
    constexpr bool of_list = requires { requires Tile::of_list; };
    const auto write = [&](const gemm_problem<Types>& of, const auto& position) KERAMOS_INLINED {
      if constexpr (through_local) {
        static_assert(accumulator::writing_bytes <= bytes, "keramos: C passes through the memory of k-tiles");
        if constexpr (from_registers)
          if (acc.writes_vectors(of, position, epilogue)) return acc.write_vectors(of, position, epilogue);
        copier::barrier(team);
        if constexpr (of_fmas)
          acc.template write_through<of_list>(local, of, position, epilogue);
        else
          acc.write_through(local, of, position, epilogue);
      } else {
        acc.write(of, position, epilogue);
      }
    };
    constexpr bool of_short = through_local && !of_fmas && sizeof(typename Types::accumulator) == 4;
    if constexpr (fills_registers && !of_short && requires { tile.again(); }) {
      const auto found = tile.again();
      write(found.problem(), found.position());
    } else {
      write(p, tile.position());
    }
  }
};

}  // namespace keramos::detail::simt
