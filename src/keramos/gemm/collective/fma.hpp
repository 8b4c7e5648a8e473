// Accumulators on FMA units: outer products of register fragments.
#pragma once

#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/collective/run.hpp>
#include <keramos/gemm/collective/sum_block.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// A thread's fragment.m x fragment.n accumulators on FMA units, for elements that convert to their type. Its rows and
/// columns come in runs of 16 bytes of accumulators, spread so that the lanes of a warp read neighbouring runs.
///
/// Lanes come in quads of 2 x 2: an NVIDIA GPU reads 16 bytes a lane in four passes, but in two if every
/// lane i reads what lane i ^ 1 reads, or every lane i what i ^ 2 reads. Quads make the first true of A and
/// the second of B (measured on an H200; CUTLASS' interleaved lane layouts have the same effect).
///
/// `ConjugateA` multiplies by the conjugates of A's numbers.
template <class Types, tiling::config Config, class Exec, bool ConjugateA>
class fma_accumulator {
  using T = typename Types::accumulator;
  static constexpr int warp_size = backend::traits<Exec>::warp_size;
  static constexpr int tm = Config.fragment.m, tn = Config.fragment.n;
  static constexpr int vector = 16 / int(sizeof(T));
  using factor_a = factor_of<typename Types::a, T>;
  using factor_b = factor_of<typename Types::b, T>;
  static_assert(std::is_same_v<factor_b, T>, "keramos: of a real and a complex operand A is the real one");
  static constexpr int parts_a = is_complex<factor_a> ? 2 : 1, parts_b = is_complex<T> ? 2 : 1;
  static constexpr int lanes_m = Config.warp.m / tm, lanes_n = Config.warp.n / tn;
  static constexpr int warps_n = Config.block.n / Config.warp.n;
  using atom = backend::mma<Exec>;
  static_assert(lanes_m * lanes_n == warp_size, "keramos: thread tiles must fill the warp tile");
  static_assert(lanes_m % 2 == 0 && lanes_n % 2 == 0, "keramos: lanes come in quads of 2 x 2");
  static_assert(tm % vector == 0 && tn % vector == 0, "keramos: fragments are runs of 16 bytes");
  static constexpr bool single_sums = tiling::stores_single_sums(Config, int(sizeof(T)));

 public:
  /// Whether rows of panels may run along k as well.
  static constexpr bool reads_either = false, takes_kinds = false;

  KERAMOS_FORCEINLINE_FUNCTION explicit fma_accumulator(int thread) {
    const int warp = thread / warp_size, lane = thread % warp_size;
    const int quad = lane / 4;
    m_ = warp / warps_n * Config.warp.m + (quad / (lanes_n / 2) * 2 + lane / 2 % 2) * vector;
    n_ = warp % warps_n * Config.warp.n + (quad % (lanes_n / 2) * 2 + lane % 2) * vector;
    KERAMOS_UNROLL
    for (int i = 0; i < tm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < tn; ++j) at(i, j) = T(0);
  }

  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void start(const Panels& p) {
    load(0, p, 0);
  }

  template <class Panels, class Next>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const Panels& p, const Next& next) {
    static_assert(Config.block.k % 2 == 0, "keramos: two sets of fragments take turns");
    KERAMOS_UNROLL
    for (int k = 0; k < Config.block.k; ++k) {
      if (k + 1 < Config.block.k)  // the next fragments load while these multiply
        load((k + 1) % 2, p, k + 1);
      else
        load(0, next(), 0);
      outer_product(k % 2);
      settle();
    }
  }

  /// From sums of conj(A)·B or of A·B to those of the product: where B is conjugated, they are its conjugates.
  KERAMOS_FORCEINLINE_FUNCTION void finish(const gemm_problem<Types>& p) {
    KERAMOS_UNROLL
    for (int i = 0; i < tm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < tn; ++j) at(i, j) = conjugate_if(p.b.conjugated, at(i, j));
  }

  /// `f(number, run)` for the accumulators in runs of 16 bytes, or one by one (tiling::stores_single_sums).
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_vector(const F& f) {
    KERAMOS_UNROLL
    for (int i = 0; i < tm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < tn / vector; ++j) {
      if constexpr (single_sums) {
        KERAMOS_UNROLL
        for (int v = 0; v < vector; ++v) {
          T one[1] = {acc_[i][j][v]};
          f((i * (tn / vector) + j) * vector + v, one);
          acc_[i][j][v] = one[0];
        }
      } else {
        f(i * (tn / vector) + j, acc_[i][j]);
      }
    }
  }

  /// Large fragments leave few registers, and the code behind the main loop changes which ones the main loop gets. Where their sums
  /// are stored one by one, and so many elements are written at once, ptxas makes no bank conflicts there. With most other numbers
  /// one FMA of 20 has one (CUDA 13.0, sm_90, f32 in tiles of 128 rows; tests/objects/banks.py).
  static constexpr bool has_large_fragments = tiling::has_large_fragments(Config, int(sizeof(T)));
  static constexpr int written_at_once = has_large_fragments ? 4 : 8;
  static constexpr int runs_of_rows =
      lanes_m * vector;  ///< rows of the warp's tile that its lanes' first runs are
  static constexpr int rows_at_once = rows_stored(Config.warp.m, runs_of_rows, Config.warps(),
                                                  Config.warp.n* int(sizeof(T)), k_tile_bytes<Types>(Config));
  using sums_of_warp = sum_block<Types, rows_at_once, Config.warp.n,
                                 places_of_runs<Config.warp.n, int(sizeof(T)), lanes_n, !has_large_fragments>,
                                 written_at_once, Exec>;
  /// Local memory of the team that write_through wants.
  static constexpr int writing_bytes = Config.warps() * rows_at_once * Config.warp.n * int(sizeof(T));
  /// Whether C is written by way of local memory: where lanes can meet, and stages have room for all warps. Otherwise each lane
  /// writes what it has.
  static constexpr bool writes_through_local = [] {
    if constexpr (vector > 1 && meets_in_warps<Exec>)
      return k_tile_bytes<Types>(Config) >= writing_bytes;
    else
      return false;
  }();

  /// But not a tile that is vectors of a C that is not read.
  static constexpr bool writes_from_registers = writes_through_local;
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION bool writes_vectors(const gemm_problem<Types>& p, const Position& at,
                                                   const Epilogue& epilogue) const requires
      writes_through_local {
    return !atom::any_in_warp(reads_c<T>(epilogue) ||
                              !c_writer<Types, vector, Position>(p, at, m_, n_).writes_whole_vectors());
  }
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_vectors(const gemm_problem<Types>& p, const Position& at,
                                                  const Epilogue& epilogue) const {
    const c_writer<Types, vector, Position> writer(p, at, m_, n_);
    KERAMOS_UNROLL
    for (int i = 0; i < tm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < tn / vector; ++j)
      writer.template write_vector<atom>(row(i), col(j), acc_[i][j], epilogue);
  }
  /// `local` is the team's memory, of which nothing is needed any more. `OfList`: of a tile of a list of problems. There, and in
  /// tiles that divide k, ptxas makes bank conflicts if it knows where sums are stored, elsewhere if it does not.
  template <bool OfList = false, class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_through(char* local, const gemm_problem<Types>& p,
                                                  const Position& at, const Epilogue& epilogue) const requires
      writes_through_local {
    // Else all that follows from these numbers would be in registers before the first product.
    const int m = atom::opaque(m_), n = atom::opaque(n_);
    const int row = m % Config.warp.m, col = n % Config.warp.n, m0 = m - row, n0 = n - col;
    const int warp = m0 / Config.warp.m * warps_n + n0 / Config.warp.n;
    const sums_of_warp sums(p, at, local + warp * sums_of_warp::bytes, lane_of(row / vector, col / vector));
    constexpr int at_once = rows_at_once / lanes_m;  // of a lane's
    KERAMOS_UNROLL
    for (int i = 0; i < tm; i += at_once) {
      const int place = OfList || single_sums ? atom::opaque(sums.place(row, col)) : sums.place(row, col);
      KERAMOS_UNROLL
      for (int v = 0; v < at_once; ++v) KERAMOS_UNROLL
      for (int j = 0; j < tn / vector; ++j)
        sums.store(place, v / vector * runs_of_rows + v % vector, j * lanes_n * vector, acc_[i + v][j]);
      sums.write(m0 + i * lanes_m, n0, epilogue);
    }
  }
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<Types>& p, const Position& at,
                                          const Epilogue& epilogue) const requires(!writes_through_local) {
    const c_writer<Types, vector, Position> writer(p, at, m_, n_);
    if constexpr (is_linear<Epilogue>) {
      KERAMOS_UNROLL
      for (int i = 0; i < tm; ++i) KERAMOS_UNROLL
      for (int j = 0; j < tn / vector; ++j) writer.write(row(i), col(j), acc_[i][j], epilogue);
    } else {
      writer.template write_in_steps<tm, tn / vector>(
          [&](int i, int j, int v) KERAMOS_INLINED { return acc_[i][j][v]; }, [](int i) { return row(i); },
          [](int j) { return col(j); }, epilogue);
    }
  }

 private:
  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void load(int set, const Panels& p, int k) {
    static_assert(decltype(p.a)::stride_mn == 1 && decltype(p.b)::stride_mn == 1);
    load_runs<lanes_m>(a_frag_[set], p.a, m_, k);
    load_runs<lanes_n>(b_frag_[set], p.b, n_, k);
  }

  template <int Lanes, class Factor, int Count, class Panel>
  KERAMOS_FORCEINLINE_FUNCTION static void load_runs(Factor (&frag)[Count], const Panel& p, int mn, int k) {
    using elements = run<std::remove_cvref_t<decltype(*p.data)>, vector>;
    KERAMOS_UNROLL
    for (int i = 0; i < Count; i += vector) {
      const auto v = *reinterpret_cast<const elements*>(p.at(mn + i * Lanes, k));
      KERAMOS_UNROLL
      for (int j = 0; j < vector; ++j) frag[i + j] = p.template number<Factor>(v.value[j]);
    }
  }

  KERAMOS_FORCEINLINE_FUNCTION void outer_product(int set) {
    const auto& a = a_frag_[set];
    const auto& b = b_frag_[set];
    // Neighbouring products share an operand in the register file's reuse cache: column by column and back (as CUTLASS,
    // thread/mma_sm50.h), or where large tiles divide k by pairs of rows. Of the orders tried, ptxas makes the fewest bank
    // conflicts of these. Parts of complex numbers are rows and columns of their own.
    constexpr int rows = tm * parts_a, cols = tn * parts_b;
    KERAMOS_UNROLL
    for (int n = 0; n < rows * cols; ++n) {
      int i, j;
      if constexpr (single_sums) {
        const int pair = n / (2 * cols), step = n / 2 % cols;
        i = 2 * pair + (n + step) % 2, j = pair % 2 ? cols - 1 - step : step;
      } else {
        const int step = n % rows;
        j = n / rows, i = j % 2 ? rows - 1 - step : step;
      }
      if constexpr (parts_a == 2)
        add_part(at(i / 2, j / 2), a[i / 2], i % 2 == 1, b[j / 2], j % 2 == 1);
      else if constexpr (parts_b == 2)
        add_part(at(i, j / 2), a[i], b[j / 2], j % 2 == 1);
      else
        at(i, j) += a[i] * b[j];
    }
  }

  /// One of the four products that a product of complex numbers is made of, of the parts that are said.
  KERAMOS_FORCEINLINE_FUNCTION static void add_part(T& sum, const T& a, bool of_ai, const T& b, bool of_bi) {
    if (of_ai && of_bi)
      sum.re += ConjugateA ? a.im * b.im : -a.im * b.im;
    else if (of_ai)
      sum.im += ConjugateA ? -a.im * b.re : a.im * b.re;
    else if (of_bi)
      sum.im += a.re * b.im;
    else
      sum.re += a.re * b.re;
  }

  /// The same of a real number and a complex one.
  KERAMOS_FORCEINLINE_FUNCTION static void add_part(T& sum, const factor_a& a, const T& b, bool of_bi) {
    if (of_bi)
      sum.im += a * b.im;
    else
      sum.re += a * b.re;
  }

  KERAMOS_FORCEINLINE_FUNCTION void settle() {
    KERAMOS_UNROLL
    for (int i = 0; i < tm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < tn / vector; ++j) atom::settle(acc_[i][j]);
  }

  /// The lane whose first runs are so many runs below and right of the warp's first.
  KERAMOS_FORCEINLINE_FUNCTION static int lane_of(int down, int right) {
    const int quad = down / 2 * (lanes_n / 2) + right / 2;
    return quad * 4 + down % 2 * 2 + right % 2;
  }
  /// Row of sum i and column of run j, from the thread's first.
  KERAMOS_FORCEINLINE_FUNCTION static int row(int i) { return i / vector * lanes_m * vector + i % vector; }
  KERAMOS_FORCEINLINE_FUNCTION static int col(int j) { return j * lanes_n * vector; }

  KERAMOS_FORCEINLINE_FUNCTION T& at(int i, int j) { return acc_[i][j / vector][j % vector]; }

  int m_, n_;  // first row and column of this thread in the block tile
  T acc_[tm][tn / vector][vector];
  factor_a a_frag_[2][tm];
  factor_b b_frag_[2][tn];
};

}  // namespace keramos::detail::simt
