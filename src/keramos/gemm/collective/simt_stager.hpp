// The k-tiles of both operands of a tile, staged in local memory.
#pragma once

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/operand_stager.hpp>
#include <keramos/gemm/collective/panel.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Where an operand's memory runs, and how many elements can be copied from it at once.
struct access {
  tiling::direction along;
  int vector;
};

/// Whether the last tiles along an extent can begin early (tile_order): there is as much before them, and copies of 16 bytes
/// stay aligned.
inline bool can_shift(index_t extent, int tile, const access& x) {
  return extent >= tile && (x.along == tiling::direction::k || extent % x.vector == 0);
}

/// Both operands of a block tile, staged into panels whose rows run along RowsA and RowsB.
template <class Types, tiling::config Config, access A, tiling::direction RowsA, access B,
          tiling::direction RowsB, int Threads, class Copier,
          template <class, int, int, tiling::direction> class PanelA = panel,
          template <class, int, int, tiling::direction> class PanelB = PanelA>
class stager {
  static constexpr tiling::shape block = Config.block;
  using a_type = typename Types::a;
  using b_type = typename Types::b;
  using stager_a = operand_stager<PanelA<a_type, block.m, block.k, RowsA>, a_type, block.m, block.k, Threads,
                                  A.along, RowsA, A.vector, Copier>;
  using stager_b = operand_stager<PanelB<b_type, block.n, block.k, RowsB>, b_type, block.n, block.k, Threads,
                                  B.along, RowsB, B.vector, Copier>;
  static constexpr int a_bytes = int(sizeof(a_type)) * stager_a::panel::size;
  static constexpr int b_bytes = int(sizeof(b_type)) * stager_b::panel::size;
  static_assert(a_bytes % 16 == 0 && b_bytes % 16 == 0, "keramos: panels are aligned to 16 bytes");

 public:
  using panel_a = typename stager_a::panel;
  using panel_b = typename stager_b::panel;
  using panels_type = panel_pair<panel_a, panel_b>;
  static constexpr int slot_bytes = a_bytes + b_bytes, offset_of_b = a_bytes;
  static constexpr bool always_checks = stager_a::always_checks && stager_b::always_checks;
  /// Whether stage<true> can begin a tile, which takes fewer instructions: where it needs no fetch() before it.
  static constexpr bool stages_whole = Copier::most_words_ahead == 0 && !always_checks;

  template <class Problem>
  KERAMOS_FORCEINLINE_FUNCTION stager(const Problem& p, const tiling::position& at, char* local, int thread)
      : a_(p.a, at.m0, at.k0, at.rows, at.k1, p.m + p.pad_m, p.k, thread),
        b_(p.b, at.n0, at.k0, at.cols, at.k1, p.n + p.pad_n, p.k, thread),
        read_a_(p.a),
        read_b_(p.b),
        whole_k_tiles_(at.rows == block.m && at.cols == block.n ? int((at.k1 - at.k0) / block.k) : 0),
        local_(local) {}

  KERAMOS_FORCEINLINE_FUNCTION int whole_k_tiles() const { return whole_k_tiles_; }

  KERAMOS_FORCEINLINE_FUNCTION void fetch() {
    a_.fetch();
    b_.fetch();
    if constexpr (Copier::most_words_ahead > 0) Copier::end_of_loads();
  }
  template <bool Whole>
  KERAMOS_FORCEINLINE_FUNCTION void stage(int k_tile, int slot) {
    a_.template stage<Whole>(a_local(slot), k_tile);
    b_.template stage<Whole>(b_local(slot), k_tile);
  }
  KERAMOS_FORCEINLINE_FUNCTION panels_type panels(int slot) const {
    return {{read_a_, a_local(slot)}, {read_b_, b_local(slot)}};
  }
  /// The same without a stager.
  template <class Problem>
  KERAMOS_FORCEINLINE_FUNCTION static panels_type panels_of(const Problem& p, const char* local, int slot) {
    const char* const at = local + slot * slot_bytes;
    return {{p.a, reinterpret_cast<const a_type*>(at)}, {p.b, reinterpret_cast<const b_type*>(at + a_bytes)}};
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION a_type* a_local(int slot) const {
    return reinterpret_cast<a_type*>(local_) + slot * (slot_bytes / int(sizeof(a_type)));
  }
  KERAMOS_FORCEINLINE_FUNCTION b_type* b_local(int slot) const {
    constexpr int b = int(sizeof(b_type));
    return reinterpret_cast<b_type*>(local_) + slot * (slot_bytes / b) + a_bytes / b;
  }

  stager_a a_;
  stager_b b_;
  tiling::reading<a_type> read_a_;
  tiling::reading<b_type> read_b_;
  int whole_k_tiles_;  // that many need no bounds checks; they come first
  char* local_;        // (stages, {A, B})
};

}  // namespace keramos::detail::simt
