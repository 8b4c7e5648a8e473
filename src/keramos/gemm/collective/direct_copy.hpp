// Copies of k-tiles from global to local memory that pass through no registers, where a wavefront's lanes fill neighbouring bytes
// of local memory, from addresses of their own (AMD: global_load_lds).
#pragma once

#include <cstdint>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// A thread's share of the k-tiles, MN x K, of one operand whose rows run along `Rows` in memory and in panels. In a pass all
/// threads fill neighbouring bytes of a panel. A panel's runs of 16 bytes change places, so a thread looks up which element
/// belongs there.
template <class Panel, class T, int MN, int K, int Threads, tiling::direction Rows, class Copier>
class direct_copy {
  static constexpr bool along_k = Rows == tiling::direction::k;
  static constexpr int extent = along_k ? K : MN;
  static constexpr int width = Copier::direct_bytes / int(sizeof(T));  ///< elements of a thread
  static constexpr int pass = Threads * width;
  /// Passes after which places are changed as before, and the rows that these fill.
  static constexpr int ways = Panel::period * extent > pass ? Panel::period* extent / pass : 1;
  static constexpr int rows_of_ways = ways * pass / extent;

 public:
  static constexpr int passes = Panel::size / pass;
  static_assert(Panel::size % pass == 0 && passes % ways == 0 && ways * pass % (Panel::period * extent) == 0,
                "keramos: a panel is filled in whole passes, which repeat");
  /// The rows of the panel that a pass fills, in whole or in part.
  static constexpr int first_row(int i) { return i * pass / extent; }
  static constexpr int last_row(int i) { return ((i + 1) * pass - 1) / extent; }

  /// Whether offsets have 32 bits.
  KERAMOS_FORCEINLINE_FUNCTION static bool reaches(const tiling::operand<T>& from) {
    constexpr index_t most =
        ((index_t(1) << 32) - extent * index_t(sizeof(T))) / (rows_of_ways * int(sizeof(T)));
    const index_t pitch = along_k ? from.stride_mn : from.stride_k;
    return pitch >= 0 && pitch < most;
  }

  KERAMOS_FORCEINLINE_FUNCTION direct_copy(const tiling::operand<T>& from, index_t mn0, index_t k0,
                                           int thread)
      : pitch_((along_k ? from.stride_mn : from.stride_k) * index_t(sizeof(T))),
        from_(reinterpret_cast<const char*>(from.at(mn0, k0))) {
    KERAMOS_UNROLL
    for (int w = 0; w < ways; ++w) {
      const auto e = Panel::element_at(w * pass + thread * width);
      offset_[w] = std::uint32_t(e.row * pitch_ + e.i * int(sizeof(T)));
    }
  }

  /// Begins to copy those passes of the k-tile `ahead` of this one that are wanted, to a panel of which this wavefront's first
  /// byte is `local`.
  template <class Wanted>
  KERAMOS_FORCEINLINE_FUNCTION void copy(char* local, int ahead, const Wanted& wanted) const {
    const char* const from = from_ + ahead * k_tile();
    KERAMOS_UNROLL
    for (int i = 0; i < passes; ++i)
      if (wanted(i))
        Copier::copy_direct(local + i * pass * int(sizeof(T)), from + i / ways * rows_of_ways * pitch_,
                            offset_[i % ways]);
  }
  KERAMOS_FORCEINLINE_FUNCTION void next_k_tile() { from_ += k_tile(); }

 private:
  KERAMOS_FORCEINLINE_FUNCTION index_t k_tile() const {
    return along_k ? K * index_t(sizeof(T)) : K * pitch_;
  }

  index_t pitch_;     // bytes from row to row
  const char* from_;  // this k-tile's first element, the same for all threads
  std::uint32_t
      offset_[ways];  // bytes from there to this thread's first element, of each way to change places
};

/// The same of both operands, with two slots for k-tiles where `Stager` has them too, for the clusters of `Accumulator`.
template <class Types, tiling::config Config, tiling::direction RowsA, tiling::direction RowsB, int Threads,
          class Exec, class Stager, class Accumulator>
class direct_copies {
  using copier = backend::staging<Exec>;
  static constexpr tiling::shape block = Config.block;
  using copy_a =
      direct_copy<typename Stager::panel_a, typename Types::a, block.m, block.k, Threads, RowsA, copier>;
  using copy_b =
      direct_copy<typename Stager::panel_b, typename Types::b, block.n, block.k, Threads, RowsB, copier>;
  static constexpr int lanes = backend::traits<Exec>::warp_size;
  static constexpr auto readers_of_a(int pass) {
    return Accumulator::readers_of_a(copy_a::first_row(pass), copy_a::last_row(pass));
  }
  static constexpr auto readers_of_b(int pass) {
    return Accumulator::readers_of_b(copy_b::first_row(pass), copy_b::last_row(pass));
  }

 public:
  /// Copies of a k-tile, by the first and the last cluster that reads them.
  template <class Counts>
  static constexpr Counts counts() {
    Counts n{};
    for (int i = 0; i < copy_a::passes; ++i) ++n.of[readers_of_a(i).first][readers_of_a(i).last];
    for (int i = 0; i < copy_b::passes; ++i) ++n.of[readers_of_b(i).first][readers_of_b(i).last];
    return n;
  }

  KERAMOS_FORCEINLINE_FUNCTION static bool reaches(const gemm_problem<Types>& p) {
    return copy_a::reaches(p.a) && copy_b::reaches(p.b);
  }

  KERAMOS_FORCEINLINE_FUNCTION direct_copies(const gemm_problem<Types>& p, const tiling::position& at,
                                             char* local, int thread)
      : p_(p),
        a_(p.a, at.m0, at.k0, thread),
        b_(p.b, at.n0, at.k0, thread),
        local_(local),
        first_(backend::mma<Exec>::of_wave(thread / lanes) * lanes * copier::direct_bytes) {}

  /// Begins to copy to a slot, of the k-tile `ahead` of this one, what cluster `last` is the last to read.
  KERAMOS_FORCEINLINE_FUNCTION void copy(int last, int slot, int ahead) const {
    char* const to = local_ + slot * Stager::slot_bytes + first_;
    a_.copy(to, ahead, [=](int pass) KERAMOS_INLINED { return readers_of_a(pass).last == last; });
    b_.copy(to + Stager::offset_of_b, ahead,
            [=](int pass) KERAMOS_INLINED { return readers_of_b(pass).last == last; });
  }
  KERAMOS_FORCEINLINE_FUNCTION void next_k_tile() {
    a_.next_k_tile();
    b_.next_k_tile();
  }
  KERAMOS_FORCEINLINE_FUNCTION typename Stager::panels_type panels(int slot) const {
    return Stager::panels_of(p_, local_, slot);
  }

 private:
  const gemm_problem<Types>& p_;
  copy_a a_;
  copy_b b_;
  char* local_;
  int first_;  // byte of a pass that this wavefront fills first
};

}  // namespace keramos::detail::simt
