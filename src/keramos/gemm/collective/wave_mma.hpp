// Accumulators on matrix units whose lanes have runs of k of one row, and sums of one column: AMD's MFMA and WMMA.
#pragma once

#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/wave_fragment.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

template <class Types>
using wave_element = backend::simt::wave_element<typename Types::a, Types::operands.compute>;

/// Which rows of A, or columns of B, of a wavefront's tile are in its fragments of 16, so that local memory is read 16 bytes a
/// lane, or as many as a group has.
///
/// Where a panel's rows run along k, a lane reads its run of k; fragments follow each other. Where they run along m or n, it
/// reads neighbours, one for each fragment of a group, for every k of its run.
template <tiling::direction Along, int Fragments, int Vector>
struct wave_rows {
  static constexpr bool along_k = Along == tiling::direction::k;
  static constexpr int group = along_k ? 1 : Fragments < Vector ? Fragments : Vector;
  static_assert(Fragments % group == 0);

  KERAMOS_FORCEINLINE_FUNCTION static constexpr int at(int fragment, int i) {
    return fragment / group * group * 16 + i * group + fragment % group;
  }

  /// Row `i` of all fragments at the panel's row `mn`, from k on.
  template <class E, int Run, class Panel>
  KERAMOS_FORCEINLINE_FUNCTION static void load(E (&to)[Fragments][Run], const Panel& p, int mn, int i,
                                                int k) {
    if constexpr (along_k) {
      constexpr int count = 16 / int(sizeof(E)) < Run ? 16 / int(sizeof(E)) : Run;
      static_assert(16 % Panel::period == 0, "keramos: a row has the same place in each fragment");
      KERAMOS_UNROLL
      for (int e = 0; e < Run; e += count) KERAMOS_UNROLL
      for (int f = 0; f < Fragments; ++f) {
        const auto v =
            *reinterpret_cast<const run<E, count>*>(p.at(mn + i, k + e) + f * 16 * Panel::stride_mn);
        KERAMOS_UNROLL
        for (int n = 0; n < count; ++n) to[f][e + n] = v.value[n];
      }
    } else {
      static_assert(Run % Panel::period == 0);
      KERAMOS_UNROLL
      for (int f = 0; f < Fragments; f += group) KERAMOS_UNROLL
      for (int e = 0; e < Run; ++e) {
        const auto v = *reinterpret_cast<const run<E, group>*>(p.at(mn + at(f, i), k, e));
        KERAMOS_UNROLL
        for (int n = 0; n < group; ++n) to[f + n][e] = v.value[n];
      }
    }
  }
};

/// A warp's tile of accumulators, which its wavefronts (two where they have 32 lanes) halve along m, as 16 x 16 fragments. They
/// are transposed, X of the atom is B: so a lane has several columns of a row of C. A panel of A has its rows along `RowsA`, one
/// of B along `RowsB`.
///
/// There is one set of fragments, loaded right before their products: other wavefronts of the processor multiply while one loads.
/// So loads of the next k-tile from global memory, which come before, are on their way first.
template <class Types, tiling::config Config, class Exec, tiling::direction RowsA, tiling::direction RowsB>
class wave_mma_accumulator {
  using E = wave_element<Types>;
  using T = typename Types::accumulator;
  using atom = backend::mma<Exec>;
  static constexpr backend::simt::wave_fragment fragment = atom::template fragment<E>;
  /// That, where a kernel calls its functions: the constant itself would lie in memory then, which HIP's compiler takes for
  /// changeable.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr backend::simt::wave_fragment layout() {
    constexpr backend::simt::wave_fragment here = fragment;
    return here;
  }
  static constexpr int fragment_k = fragment.k();
  static constexpr bool are_bytes = std::is_integral_v<T> && tiling::reading<E>::has_kinds;
  static constexpr int warp_size = backend::traits<Exec>::warp_size, waves = warp_size / fragment.lanes;
  static constexpr int wave_m = Config.warp.m / waves;
  static constexpr int fm = wave_m / 16, fn = Config.warp.n / 16;
  static constexpr int warps_n = Config.block.n / Config.warp.n;
  static constexpr int steps = Config.block.k / fragment_k;
  /// Where wavefronts take turns there are several in a k-tile, of at most 16 fragments' products: those of half of the rows, if
  /// need be.
  static constexpr int parts = Config.ping_pong && (steps == 1 || fm * fn > 16) ? 2 : 1, part_m = fm / parts;
  static constexpr int vector = 16 / int(sizeof(T)), vectors = fragment.sums() / vector;
  using rows = wave_rows<RowsA, part_m, vector>;
  using cols = wave_rows<RowsB, fn, vector>;
  static_assert(std::is_same_v<typename Types::a, typename Types::b>);
  static_assert(wave_m % 16 == 0 && Config.warp.n % 16 == 0 && Config.block.k % fragment_k == 0,
                "keramos: warp tiles are multiples of the fragment");
  static_assert(fm % parts == 0);

 public:
  /// The products of a k-tile are done in so many pieces, of which each has fragments of its own.
  static constexpr int clusters = steps * parts;
  static constexpr bool reads_either = true, takes_kinds = tiling::reading<E>::has_kinds;

  /// The clusters that read what lies in rows `first` to `last` of a panel.
  struct readers {
    int first, last;
  };
  static constexpr readers readers_of_a(int first, int last) {
    if (!rows::along_k) return {first / fragment_k * parts, last / fragment_k * parts + parts - 1};
    const auto part = [](int row) { return row % wave_m / 16 / part_m; };
    const bool all = first / wave_m != last / wave_m;
    return {all ? 0 : part(first), clusters - parts + (all ? parts - 1 : part(last))};
  }
  static constexpr readers readers_of_b(int first, int last) {
    if (cols::along_k) return {0, clusters - parts};
    return {first / fragment_k * parts, last / fragment_k * parts};
  }

  KERAMOS_FORCEINLINE_FUNCTION explicit wave_mma_accumulator(int thread)
      : m_(atom::of_wave(thread / warp_size / warps_n * Config.warp.m +
                         thread % warp_size / fragment.lanes * wave_m)),
        n_(atom::of_wave(thread / warp_size % warps_n * Config.warp.n)),
        i_(thread % 16),
        q_(thread % fragment.lanes / 16),
        j_(cols::along_k ? place(layout().sum_of(i_), layout().q_of(i_)) : i_),
        acc_{},
        of_a_{},
        of_b_{} {}

  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void start(const Panels&) {}
  /// From here on places are computed anew, so that they take no registers before.
  KERAMOS_FORCEINLINE_FUNCTION void refresh() {
    i_ = atom::opaque(i_), q_ = atom::opaque(q_), j_ = atom::opaque(j_);
  }

  /// `Kinds` are those of the elements of B and of A, if it takes them. Then `correct` follows the last k-tile.
  template <class Panels, class Next, class... Kinds>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const Panels& now, const Next& next, Kinds... kinds) {
    KERAMOS_UNROLL
    for (int c = 0; c < clusters; ++c) {
      load(now, c);
      multiply_cluster(c, kinds...);
    }
    next();
  }
  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void load(const Panels& p, int cluster) {
    static_assert((decltype(p.a)::stride_k == 1) == rows::along_k &&
                  (decltype(p.b)::stride_k == 1) == cols::along_k);
    const int part = cluster % parts;
    const int k = cluster / parts * fragment_k + layout().k_part(q_) * fragment.run;
    rows::load(a_frag_, p.a, m_ + part * part_m * 16, i_, k);
    prepare(a_frag_);
    if (part == 0) cols::load(b_frag_, p.b, n_, j_, k), prepare(b_frag_);
  }
  template <class... Kinds>
  KERAMOS_FORCEINLINE_FUNCTION void multiply_cluster(int cluster, Kinds... kinds) {
    const int part = cluster % parts, first = part * part_m;
    KERAMOS_UNROLL
    for (int i = 0; i < part_m; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) atom::multiply_16x16(acc_[first + i][j], b_frag_[j], a_frag_[i], kinds...);
    if constexpr (are_bytes && atom::multiplies_signed) multiply_ones(part, kinds...);
    atom::end_of_products();
  }

  /// Adds what is missing of `k` products, modulo 2^32, where elements of A or B are unsigned, and the atom multiplied them less
  /// 128.
  template <class KindB, class KindA>
  KERAMOS_FORCEINLINE_FUNCTION void correct([[maybe_unused]] unsigned k, KindB, KindA) {
    if constexpr (are_bytes && atom::multiplies_signed && !(KindB::value && KindA::value)) {
      KERAMOS_UNROLL
      for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
      for (int v = 0; v < vectors; ++v) KERAMOS_UNROLL
      for (int s = 0; s < vector; ++s) {
        unsigned sum = unsigned(acc_[i][j][v][s]);
        if constexpr (!KindB::value) sum += 128 * unsigned(of_a_[i][v][s]);
        if constexpr (!KindA::value) sum += 128 * unsigned(of_b_[j][v][s]);
        if constexpr (!KindB::value && !KindA::value) sum += 128 * 128 * k;
        acc_[i][j][v][s] = T(sum);
      }
    }
  }

  /// `f(number, run)` for the accumulators in runs of 16 bytes.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_vector(const F& f) {
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int v = 0; v < vectors; ++v) f((i * fn + j) * vectors + v, acc_[i][j][v]);
  }

  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<Types>& p, const Position& at,
                                          const Epilogue& epilogue) const {
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) {
      const int row = m_ + i / part_m * part_m * 16 + rows::at(i % part_m, i_);
      if constexpr (cols::along_k) {
        const c_writer<Types, vector, Position> writer(p, at);
        KERAMOS_UNROLL
        for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
        for (int v = 0; v < vectors; ++v)
          writer.write(row, n_ + j * 16 + place(v * vector, q_), acc_[i][j][v], epilogue);
      } else {
        constexpr int group = cols::group;
        const c_writer<Types, group, Position> writer(p, at);
        KERAMOS_UNROLL
        for (int j = 0; j < fn; j += group) KERAMOS_UNROLL
        for (int s = 0; s < vectors; ++s) KERAMOS_UNROLL
        for (int v = 0; v < vector; ++v) {
          T of_group[group];
          KERAMOS_UNROLL
          for (int g = 0; g < group; ++g) of_group[g] = acc_[i][j + g][s][v];
          writer.write(row, n_ + cols::at(j, layout().row(q_, s * vector + v)), of_group, epilogue);
        }
      }
    }
  }

 private:
  /// Elements as the instructions take them.
  template <int Fragments>
  KERAMOS_FORCEINLINE_FUNCTION static void prepare([[maybe_unused]] E (&of)[Fragments][fragment.run]) {
    if constexpr (std::is_same_v<E, backend::simt::tf32_number>) {
      KERAMOS_UNROLL
      for (int f = 0; f < Fragments; ++f) KERAMOS_UNROLL
      for (int e = 0; e < fragment.run; ++e) of[f][e].value = atom::rounded(of[f][e].value);
    }
  }

  /// (b + 128)·(a + 128) = b·a + 128·a + 128·b + 128·128: sums of A's elements meet B's 128, and sums of B's meet A's.
  template <class KindB, class KindA>
  KERAMOS_FORCEINLINE_FUNCTION void multiply_ones(int part, KindB b, KindA a) {
    const std::true_type is_signed;
    E ones[fragment.run];
    KERAMOS_UNROLL
    for (int e = 0; e < fragment.run; ++e) ones[e] = E(1);
    if constexpr (!KindB::value) {
      KERAMOS_UNROLL
      for (int i = 0; i < part_m; ++i)
        atom::multiply_16x16(of_a_[part * part_m + i], ones, a_frag_[i], is_signed, a);
    }
    if constexpr (!KindA::value) {
      if (part > 0) return;
      KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j) atom::multiply_16x16(of_b_[j], b_frag_[j], ones, b, is_signed);
    }
  }

  /// Columns of B along k are in the order in which a lane's sums are neighbours, `vector` of them.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int place(int sum, int q) {
    return sum / vector * vector * layout().parts() + q * vector + sum % vector;
  }

  int m_, n_, i_, q_,
      j_;  // the wavefront's first row and column; this lane's of a fragment's rows, sums and columns
  T acc_[fm][fn][vectors][vector];  // (fragment row, fragment column, sums)
  T of_a_[are_bytes ? fm : 1][vectors][vector],
      of_b_[are_bytes ? fn : 1][vectors][vector];              // sums of elements
  E a_frag_[part_m][fragment.run], b_frag_[fn][fragment.run];  // (fragment, k)
};

/// Calls `f(kind of B, kind of A)` with constants, for accumulators whose instructions are others for each of them
/// (tiling::reading): so that there is a loop for each, not one with branches. For other accumulators calls `f()`.
template <class Accumulator, class Panels, class F>
KERAMOS_FORCEINLINE_FUNCTION void with_kinds([[maybe_unused]] const Panels& p, const F& f) {
  if constexpr (Accumulator::takes_kinds) {
    using yes = std::true_type;
    using no = std::false_type;
    if (p.a.kind())
      p.b.kind() ? f(yes(), yes()) : f(no(), yes());
    else
      p.b.kind() ? f(yes(), no()) : f(no(), no());
  } else {
    f();
  }
}

}  // namespace keramos::detail::simt
