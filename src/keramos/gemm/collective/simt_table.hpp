// What rows of a GPU backend's tile table can be used for, and of which of them there are kernels.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/tiles.hpp>
#include <keramos/base/error.hpp>
#include <keramos/gemm/collective/simt_bytes.hpp>
#include <keramos/gemm/collective/simt_rows.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

template <class Exec>
struct table_rows {
  static constexpr const auto& table = backend::tiles<Exec>::table;

  /// Whether a row has kernels for these types, architecture and epilogue. Those of warpgroups are for their architecture alone,
  /// and not for any epilogue.
  template <class Types>
  static bool supports(const tile_row& r, int arch, epilogue_of_product whose) {
    if (r.config.math == tiling::math_unit::warpgroup &&
        (r.arch != arch || whose == epilogue_of_product::caller))
      return false;
    return r.types == Types::operands && r.arch <= arch;
  }
  template <class Types>
  static bool serves_one(const tile_row& r, int arch, epilogue_of_product whose) {
    return supports<Types>(r, arch, whose) && r.serves != serves::batches;
  }
  static bool of_warpgroups(int row) { return table[row].config.math == tiling::math_unit::warpgroup; }
  /// Whether there are such rows for these types, a block that is asked for and an epilogue on this device, which has the local
  /// memory for them.
  template <class Types>
  static bool has_warpgroups(const Exec& exec, int arch, const std::optional<tiling::shape>& requested,
                             epilogue_of_product whose) {
    return std::any_of(std::begin(table), std::end(table), [&](const tile_row& r) {
      return r.config.math == tiling::math_unit::warpgroup && supports<Types>(r, arch, whose) &&
             (!requested || r.config.block == *requested) && fits(exec, r);
    });
  }
  /// Whether they read A or B of such a product along m or n.
  template <class Types>
  static constexpr bool warpgroups_read_along_mn(bool a) {
    using E = typename Types::a;
    return backend::warpgroups<Exec>::template reads_along_mn<E> ||
           (a && backend::warpgroups<Exec>::template takes_loaded_a<E> && !Types::splits_elements);
  }
  /// Whether they read A or B of p in place; else a copy of it that runs along `packed_along`. Elements that are not
  /// split are rounded by the unit that copies boxes.
  template <class Types>
  static bool warpgroups_read_a(const gemm_problem<Types>& p) {
    using unit = backend::warpgroups<Exec>;
    using E = typename Types::a;
    const operand_layout a(p.a);
    if constexpr (unit::template takes_loaded_a<E>)
      if (!a.along_k && p.a.stride_k * index_t(sizeof(E)) % unit::loaded_a_pitch != 0) return false;
    return warpgroups_read(p, a, warpgroups_read_along_mn<Types>(true));
  }
  template <class Types>
  static bool warpgroups_read_b(const gemm_problem<Types>& p) {
    return warpgroups_read(p, operand_layout(p.b), warpgroups_read_along_mn<Types>(false));
  }
  template <class Types>
  static constexpr tiling::direction packed_along =
      backend::warpgroups<Exec>::template reads_along_mn<typename Types::a> ? tiling::direction::mn
                                                                            : tiling::direction::k;
  static bool fits(const Exec& exec, const tile_row& r) {
    return can_fit<Exec>(r) &&
           local_bytes(r) <= backend::traits<Exec>::local_memory_limit(
                                 exec, r.config.team_warps() * backend::traits<Exec>::warp_size);
  }

  /// Batches have tiles enough for the large ones; each more is many kernels more. A complex number counts as two.
  static constexpr bool serves_batches(const tile_row& r) {
    const bool is_complex = r.types.b == scalar_type::c32 || r.types.b == scalar_type::c64;
    return r.serves != serves::single &&
           r.config.block.m * r.config.block.n * (is_complex ? 2 : 1) >= least_tile_of_batch;
  }

  /// The first row that fits, or else the first, whose launch says why not.
  template <class Types>
  static int requested(const Exec& exec, int arch, const tiling::shape& block, epilogue_of_product whose) {
    int row = -1;
    std::string known;
    for (int i = 0; i < int(std::size(table)); ++i) {
      if (!serves_one<Types>(table[i], arch, whose)) continue;
      const std::string shape = to_string(table[i].config.block);
      if (known.find(shape) == std::string::npos) known += (known.empty() ? "" : ", ") + shape;
      if (table[i].config.block == block && (row < 0 || (!fits(exec, table[row]) && fits(exec, table[i]))))
        row = i;
    }
    if (row < 0)
      throw launch_error("keramos::gemm: options.block is " + to_string(block) +
                         " but the tiles for this type and device are " + known +
                         "; pass one of them or none");
    return row;
  }

 private:
  template <class Types>
  static bool warpgroups_read(const gemm_problem<Types>& p, const operand_layout& x, bool along_mn) {
    return x.vectors() && (x.along_k || along_mn) &&
           (!Types::needs_matrix_units || (!Types::splits_elements && can_map(p)));
  }

  static constexpr int least_tile_of_batch = 64 * 64;  // elements of C
};

/// The kernels of rows that are not for warpgroups, for one problem or for batches (kernel/with_kernel.hpp).
template <class Exec, class Types, bool OfBatch>
struct tiled_kernels {
  static constexpr int rows = int(std::size(table_rows<Exec>::table)), accesses = simt::accesses<Types>;

  static constexpr bool exists(int row, int access) {
    const tile_row& r = table_rows<Exec>::table[row];
    return r.types == Types::operands && r.config.math != tiling::math_unit::warpgroup && can_fit<Exec>(r) &&
           (OfBatch ? table_rows<Exec>::serves_batches(r) : r.serves != serves::batches) &&
           is_access<Types>(access, r.config);
  }
  static constexpr bool any() {
    for (int row = 0; row < rows; ++row)
      for (int access = 0; access < accesses; ++access)
        if (exists(row, access)) return true;
    return false;
  }
};

}  // namespace keramos::detail::simt
