// Products of f32 and f64 by way of integers of eight bits: whether they pay, or what else does, how much of C is done at once,
// and what does a product that they cannot do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>

#include <keramos/backends/interface.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/gemm/collective/concept.hpp>
#include <keramos/gemm/collective/simt_rows.hpp>
#include <keramos/gemm/collective/simt_table.hpp>
#include <keramos/gemm/kernel/pack.hpp>
#include <keramos/gemm/kernel/residues/multiply.hpp>
#include <keramos/gemm/kernel/tiled.hpp>
#include <keramos/gemm/kernel/with_kernel.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/choice_memory.hpp>
#include <keramos/gemm/plan/simt_model.hpp>

namespace keramos::detail::simt {

/// Tiles of a product for which no moduli were chosen; of others nothing is done. Only the device knows.
template <gemm_collective Collective, class Epilogue>
struct fallback_kernel {
  Collective collective;
  gemm_problem<typename Collective::types> p;
  tile_order order;
  Epilogue epilogue;
  const residues::choice* choice;

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    if (choice->count == 0)
      collective.run(team, p, own_tile{order.at(int(team.league_rank()), Collective::block(), p.m, p.n, p.k)},
                     epilogue);
  }
};

template <class Exec>
struct planner;

/// The ways to do a product that may be emulated: with types of its own, by tiles that split its elements, or by residues.
enum class emulation_way { native, split, residues };

template <class Exec, class Types>
struct residues_planner {
  using native = typename Types::native;
  using tiles = backend::tiles<Exec>;
  using rows = table_rows<Exec>;
  static constexpr const auto& table = backend::tiles<Exec>::table;

  /// The row of the table for products of remainders, or -1 where there is none.
  static constexpr int row = [] {
    for (int i = 0; i < int(std::size(table)); ++i)
      if (multiplies_remainders(table[i])) return i;
    return -1;
  }();
  /// The row for products that remainders cannot do. It takes less scratch than `row`.
  static constexpr int fallback_row = [] {
    for (int i = 0; i < int(std::size(table)); ++i)
      if (table[i].types == native::operands && table[i].config.math != tiling::math_unit::warpgroup &&
          table[i].serves != serves::batches && can_fit<Exec>(table[i]))
        return i;
    return -1;
  }();
  static constexpr bool exist = row >= 0 && fallback_row >= 0;

  static bool can(const Exec& exec, int arch, index_t k) {
    if constexpr (exist)
      return rows::template supports<types::i8>(table[row], arch, epilogue_of_product::library) &&
             table[fallback_row].arch <= arch && rows::fits(exec, table[row]) && k <= residues::most_k;
    return false;
  }

  /// Predicted time: the products of as many moduli as are usual; what is read and written besides, a byte for each modulus and
  /// elements; and small kernels.
  static double time(index_t m, index_t n, index_t k, const device_model& device) {
    if constexpr (!exist) return std::numeric_limits<double>::infinity();
    constexpr int element = sizeof(typename Types::a);
    const tile_row& r = table[exist ? row : 0];
    const double products = usual_moduli * predicted_time(r, m, n, k, plan_parts(r, k, 1, device), device);
    const double bytes = double(usual_moduli + 3 * element) * double(m + n) * double(k) +
                         double(usual_moduli + element) * double(m) * double(n);
    return device.remainder_products * products +
           device.remainder_bytes * bytes / (device.copied_bytes * device.units) +
           device.remainder_launches * device.launch_time / 2;
  }

  /// The fastest way to do a product.
  static emulation_way fastest_way(const Exec& exec, const gemm_problem<Types>& p) {
    constexpr auto whose = epilogue_of_product::library;
    if (p.m == 1 || p.n == 1) return emulation_way::native;
    const device_model device = tiles::model(exec);
    const int arch = tiles::arch(exec);
    thread_local choice_memory<choice_key, emulation_way> choices;
    choice_key key = planner<Exec>::key_of(exec, p, whose);
    key.c = c_memory::uncounted;  // all ways write C
    return choices.get(key, [&] {
      double best = planner<Exec>::template best_row<native>(exec, p.m, p.n, p.k, key, device).time;
      emulation_way fastest = emulation_way::native;
      if constexpr (Types::splits_elements)
        if (can_pack<Types>(p.k, device) &&
            std::any_of(std::begin(table), std::end(table), [&](const tile_row& r) {
              return rows::template serves_one<Types>(r, arch, whose) && rows::fits(exec, r);
            })) {
          const double split = planner<Exec>::template best_row<Types>(exec, p.m, p.n, p.k, key, device).time;
          if (split < best) best = split, fastest = emulation_way::split;
        }
      if (can(exec, arch, p.k) && time(p.m, p.n, p.k, device) < best) fastest = emulation_way::residues;
      return fastest;
    });
  }

  /// Halves the larger extent of bands until they fit the memory that the device's model allows.
  static void choose(const gemm_problem<Types>& p, const device_model& device, gemm_part& part) {
    part.path = gemm_path::residues;
    planner<Exec>::set_row(row, part);
    part.band_m = p.m, part.band_n = p.n;
    const auto halve = [](index_t extent) { return ceil_div(extent / 2, band_multiple) * band_multiple; };
    while (residues::memory_map<Types>(p, part).bytes() > device.most_emulation_bytes &&
           std::max(part.band_m, part.band_n) > band_multiple) {
      index_t& larger = part.band_n >= part.band_m ? part.band_n : part.band_m;
      larger = halve(larger);
    }
  }

  /// Throws if a part that a caller gave cannot be done here.
  static void check(const Exec& exec, const gemm_problem<Types>& p, const gemm_part& part, int number) {
    if (!can(exec, tiles::arch(exec), p.k))
      refuse_plan(number,
                  "is for integers of eight bits, which this device does not multiply fast enough for k = " +
                      std::to_string(p.k));
    if (part.row != row || !(part.block == table[row].config.block))
      refuse_plan(number, "names row " + std::to_string(part.row) +
                              " of the tile table; emulated products are done in row " + std::to_string(row));
    if (part.band_m < 1 || part.band_n < 1) refuse_plan(number, "has bands without rows or columns");
    if (part.split.parts > 1 || part.pack_a || part.pack_b)
      refuse_plan(number, "divides k or packs operands, which emulated products do not");
  }

  template <class Epilogue>
  static void run(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
                  const gemm_part& part, const Epilogue& epilogue) {
    if constexpr (exist) {
      const residues::memory_map<Types> map(p, part);
      char* const at = memory.template reserve<char>(exec, map.bytes());
      residues::choose_moduli(exec, p, map, at);
      residues::multiply_chosen(
          exec, p, part, epilogue, map, at,
          [&](const gemm_problem<types::i8>& diagonal, const residues::product_layout& where,
              const residues::choice* choice) {
            residues::launch_products(exec, part.row, diagonal, where, choice);
          },
          [&](const gemm_problem<Types>& q, const residues::choice* choice) {
            launch_fallback(exec, in_types<native>(q), choice, epilogue);
          });
    }
  }

 private:
  /// Moduli that data of like size take. (How many a product takes the device finds out.)
  static constexpr int usual_moduli = sizeof(typename Types::a) == 8 ? 15 : 8;

  /// The kernels of that row (kernel/with_kernel.hpp).
  struct fallback_kernels {
    static constexpr int rows = fallback_row + 1, accesses = simt::accesses<native>;
    static constexpr bool exists(int row_of_tile, int access) {
      return row_of_tile == fallback_row &&
             is_access<native>(access, backend::tiles<Exec>::table[fallback_row].config);
    }
  };
  template <class Epilogue>
  static void launch_fallback(const Exec& exec, const gemm_problem<native>& p, const residues::choice* choice,
                              const Epilogue& epilogue) {
    with_kernel<fallback_kernels>(
        fallback_row, access_number<Exec>(fallback_row, p), [&](auto row_of_tile, auto access) {
          using collective = row_collective<Exec, native, row_of_tile(), access()>;
          using kernel = fallback_kernel<collective, Epilogue>;
          const tile_order order = order_of(p, collective::block(), 1);
          team_launch<collective::team_size, collective::teams_per_unit, sharing::balanced>(
              "keramos::gemm", exec, order.count(), collective::local_bytes(),
              kernel{{}, p, order, epilogue, choice});
        });
  }
};

}  // namespace keramos::detail::simt
