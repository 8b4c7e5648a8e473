// Products of f32 and f64 by way of integers of eight bits: whether they pay, how much of C is done at once, and what does a
// product that they cannot do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>

#include <keramos/backends/interface.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/gemm/collective/concept.hpp>
#include <keramos/gemm/kernel/residues/multiply.hpp>
#include <keramos/gemm/kernel/tiled.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/simt_model.hpp>
#include <keramos/gemm/plan/simt_rows.hpp>
#include <keramos/gemm/plan/simt_table.hpp>

namespace keramos::detail::simt {

/// A team's tile of a product, unless moduli were chosen for it.
template <gemm_collective Collective, class Epilogue>
struct otherwise_kernel {
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

template <class Exec, class Types>
struct residues_planner {
  using native = typename Types::native;
  using rows = table_rows<Exec>;
  static constexpr const auto& table = backend::tiles<Exec>::table;

  /// The row of the table for products of remainders, or -1 where there is none.
  static constexpr int row = [] {
    for (int i = 0; i < int(std::size(table)); ++i)
      if (table[i].types == types::i8::operands && table[i].config.math == tiling::math_unit::warpgroup &&
          table[i].config.block.n == 256)
        return i;
    return -1;
  }();
  /// That for what is done without: the first whose scratch any Kokkos gives.
  static constexpr int other_row = [] {
    for (int i = 0; i < int(std::size(table)); ++i)
      if (table[i].types == native::operands && table[i].config.math != tiling::math_unit::warpgroup &&
          table[i].serves != serves::batches && local_bytes(table[i]) < 40000)
        return i;
    return -1;
  }();
  static constexpr bool exist = row >= 0 && other_row >= 0;

  static bool can(const Exec& exec, int arch, index_t k) {
    if constexpr (exist)
      return rows::template runs<types::i8>(table[row], arch, epilogue_of_product::library) &&
             table[other_row].arch <= arch && rows::fits(exec, table[row]) && k <= residues::most_k;
    return false;
  }

  /// Predicted time: as many moduli as data of like size take; what is read and written besides, in kernels that compute as
  /// well; launches of small kernels. Fits to the times of these kernels on an H100 at n = 2048, 4096 and 8192.
  static double time(index_t m, index_t n, index_t k, const device_model& device) {
    if constexpr (!exist) return std::numeric_limits<double>::infinity();
    constexpr int element = sizeof(typename Types::a), count = element == 8 ? 15 : 8, launches = 40;
    constexpr double of_products = 1.15, of_bytes = 1.6;
    const tile_row& r = table[exist ? row : 0];
    const double products = count * predicted_time(r, m, n, k, plan_parts(r, k, 1, device), device);
    const double bytes = double(count + 3 * element) * double(m + n) * double(k) +
                         double(count + element) * double(m) * double(n);
    return of_products * products + of_bytes * bytes / (device.copied_bytes * device.units) +
           launches * device.launch_time / 2;
  }

  /// Halves the larger extent of bands until they fit the memory that the device's model allows.
  template <class Problem>
  static void choose(const Problem& p, const device_model& device, gemm_part& part) {
    part.path = gemm_path::residues;
    part.row = row;
    part.block = table[row].config.block, part.stages = table[row].config.stages,
    part.math = table[row].config.math;
    part.team_size = table[row].config.team_warps() * backend::traits<Exec>::warp_size;
    part.local_bytes = local_bytes(table[row]);
    part.band_m = p.m, part.band_n = p.n;
    const auto halve = [](index_t extent) { return (extent / 2 + 255) / 256 * 256; };
    while (residues::memory_map<Types>(p, part).bytes() > device.most_emulation_bytes &&
           std::max(part.band_m, part.band_n) > 256) {
      index_t& larger = part.band_n >= part.band_m ? part.band_n : part.band_m;
      larger = halve(larger);
    }
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
            launch_otherwise(exec, in_native(q), choice, epilogue);
          });
    }
  }

 private:
  static gemm_problem<native> in_native(const gemm_problem<Types>& p) {
    return {p.a, p.b, p.c, p.c_row_stride, p.c_col_stride, p.m, p.n, p.k, p.pad_m, p.pad_n, p.place};
  }

  template <class Epilogue>
  static void launch_otherwise(const Exec& exec, const gemm_problem<native>& p,
                               const residues::choice* choice, const Epilogue& epilogue) {
    const operand_layout a(p.a), b(p.b);
    constexpr bool fma = uses_fma<Exec, other_row>;
    const bool in_vectors =
        fma ? (a.along_k || a.vectors) && (b.along_k || b.vectors) && !(a.along_k && b.along_k)
            : a.vectors && b.vectors;
    const int access = int(a.along_k) + 2 * int(b.along_k) + 4 * int(in_vectors);
    any_of_first<8>([&](auto number) {
      if constexpr (!(fma && number() == 7)) {
        using collective = simt::row<Exec, native, other_row, number()>;
        using kernel = otherwise_kernel<collective, Epilogue>;
        static_assert(sizeof(kernel) <= 350,
                      "keramos: with more Kokkos would pass the functor through constant memory and wait");
        if (number() == access) {
          const tile_order order = order_of(p, collective::block(), 1);
          team_launch<collective::team_size, collective::teams_per_unit, sharing::balanced>(
              "keramos::gemm", exec, order.count(), collective::local_bytes(),
              kernel{{}, p, order, epilogue, choice});
        }
      }
      return number() == access;
    });
  }
};

}  // namespace keramos::detail::simt
