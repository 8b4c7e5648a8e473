// The launch that products.hpp declares.
#pragma once

#include <iterator>

#include <keramos/core/detail/launch.hpp>
#include <keramos/gemm/kernel/launch_warpgroups.hpp>
#include <keramos/gemm/kernel/residues/products.hpp>
#include <keramos/gemm/kernel/tiled.hpp>
#include <keramos/gemm/kernel/with_kernel.hpp>

namespace keramos::detail::residues {

/// Persistent teams take the tiles of one modulus after the other, of as many as are chosen.
template <gemm_collective Collective>
struct products_kernel {
  Collective collective;
  gemm_problem<types::i8> p;
  tile_order order;  ///< of one modulus
  product_layout at;
  index_t pitch;
  const residues::choice* choice;

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int tiles = choice->count * order.count();
    if (int(team.league_rank()) < tiles)
      collective.run(team, p, tile<Team>{*this, team, tiles}, remainder_epilogue());
  }

 private:
  template <class Team>
  struct tile {
    const products_kernel& kernel;
    const Team& team;
    int tiles;
    int steps = 0;  // behind the team's first tile

    KERAMOS_FORCEINLINE_FUNCTION tiling::position position() const {
      const int number = modulus();
      tiling::position x = kernel.order.at(rank() - number * kernel.order.count(), Collective::block(),
                                           kernel.at.a_rows, kernel.at.b_rows, kernel.pitch);
      x.m0 += number * kernel.at.a_rows;
      x.n0 += number * kernel.at.b_rows;
      return x;
    }
    template <class Threads, class Accumulator>
    KERAMOS_FORCEINLINE_FUNCTION bool add_up(const Threads&, Accumulator&) const {
      return true;
    }
    /// That of the tile's modulus, loaded once.
    KERAMOS_FORCEINLINE_FUNCTION remainder_epilogue own(const remainder_epilogue&) const {
      const int number = modulus();
      return {kernel.choice->modulus[number], kernel.choice->magic[number]};
    }
    KERAMOS_FORCEINLINE_FUNCTION bool next() {
      steps += team.league_size();
      return rank() < tiles;
    }

   private:
    KERAMOS_FORCEINLINE_FUNCTION int modulus() const { return rank() / kernel.order.count(); }
    KERAMOS_FORCEINLINE_FUNCTION int rank() const {
      return Collective::recompute(team.league_rank()) + steps;
    }
  };
};

/// The kernels of rows that multiply remainders, whose operands have one access (kernel/with_kernel.hpp).
template <class Exec>
struct products_kernels {
  static constexpr int rows = int(std::size(backend::tiles<Exec>::table)), accesses = 1;
  static constexpr bool exists(int row, int /*access*/) {
    const auto& r = backend::tiles<Exec>::table[row];
    return simt::multiplies_remainders(r) && simt::can_fit<Exec>(r);
  }
};

template <class Exec>
void launch_products(const Exec& exec, int row, const gemm_problem<types::i8>& diagonal,
                     const product_layout& at, const choice* choice) {
  if constexpr (!backend::traits<Exec>::is_host) {
    simt::with_kernel<products_kernels<Exec>>(row, 0, [&](auto known_row, auto) {
      constexpr simt::warpgroup_form without_signs{.a_along_k = true, .b_along_k = true, .in_lines = true};
      using collective = simt::warpgroup_row<Exec, types::i8, known_row(), without_signs.number()>;
      using kernel = products_kernel<collective>;
      const tile_order order = order_of(at.a_rows, at.b_rows, collective::block());
      team_launch<collective::team_size, collective::teams_per_unit, sharing::balanced>(
          "keramos::gemm_residues", exec, teams_at_once<collective>(exec), collective::local_bytes(),
          kernel{{}, diagonal, order, at, diagonal.k, choice});
    });
  }
}

}  // namespace keramos::detail::residues
