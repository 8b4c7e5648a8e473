// `multiply` on CUDA: FMA units, and for f64 the tensor cores (PTX ISA, "Matrix Multiply-Accumulate
// Operation using mma Instruction", .f64 shapes; IEEE f64 products and sums).
#pragma once

#include <type_traits>

#include <keramos/backends/simt/mma.hpp>

namespace keramos::backend {

namespace cuda {

/// d += a·b on 16 x 8 x K doubles of a warp, K of 4, 8 or 16. With g = lane / 4 and t = lane % 4:
/// a[v] = A(g + v % 2 * 8, t + v / 2 * 4); b[v] = B(t + v * 4, g);
/// d = D(g, 2t), D(g, 2t + 1), D(g + 8, 2t), D(g + 8, 2t + 1).
template <int K>
KERAMOS_FORCEINLINE_FUNCTION void mma_16x8([[maybe_unused]] double (&d)[2][2],
                                           [[maybe_unused]] const double (&a)[K / 2],
                                           [[maybe_unused]] const double (&b)[K / 4]) {
  static_assert(K == 4 || K == 8 || K == 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (K == 4)
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
        "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+d"(d[0][0]), "+d"(d[0][1]), "+d"(d[1][0]), "+d"(d[1][1])
        : "d"(a[0]), "d"(a[1]), "d"(b[0]));
  else if constexpr (K == 8)
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(d[0][0]), "+d"(d[0][1]), "+d"(d[1][0]), "+d"(d[1][1])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
        "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
        : "+d"(d[0][0]), "+d"(d[0][1]), "+d"(d[1][0]), "+d"(d[1][1])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
          "d"(b[1]), "d"(b[2]), "d"(b[3]));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  KERAMOS_UNROLL
  for (int k = 0; k < K / 4; ++k) KERAMOS_UNROLL
  for (int i = 0; i < 2; ++i)
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(d[i][0]), "+d"(d[i][1])
        : "d"(a[2 * k + i]), "d"(b[k]));
#endif
}

/// A warp's tile of f64 accumulators as 16 x 8 fragments of the tensor cores.
template <tiling::config Config>
class f64_accumulator {
  static constexpr int fm = Config.warp.m / 16, fn = Config.warp.n / 8;
  static constexpr int warps_n = Config.block.n / Config.warp.n;
  static constexpr int fk = Config.fragment.k, steps = Config.block.k / fk;
  static_assert(Config.warp.m % 16 == 0 && Config.warp.n % 8 == 0 && Config.block.k % fk == 0,
                "keramos: f64 warp tiles are multiples of the fragment");

 public:
  /// Fragments are read element by element, so panels may lie either way.
  static constexpr bool reads_either = true;

  KERAMOS_FORCEINLINE_FUNCTION explicit f64_accumulator(int thread) {
    const int warp = thread / 32, group = thread % 32 / 4;
    m_ = warp / warps_n * Config.warp.m + group;
    n_ = warp % warps_n * Config.warp.n + group;
    k_ = thread % 4;
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int v = 0; v < 4; ++v) acc_[i][j][v / 2][v % 2] = 0;
  }

  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void start(const Panels& p) {
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) load_a(i, p, 0);
    load_b(b_frag_[0], p, 0);
  }

  /// The next step's fragments load while this one's multiply: those of A row by row, each after the last
  /// product that needs it, those of B into a second set. Two sets of both would not fit the registers.
  template <class Panels, class Next>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const Panels& now, const Next& next) {
    KERAMOS_UNROLL
    for (int s = 0; s < steps; ++s) {
      const int set = s % 2;
      const Panels p = s + 1 < steps ? now : next();
      const int step = (s + 1) % steps;
      load_b(b_frag_[1 - set], p, step);
      KERAMOS_UNROLL
      for (int i = 0; i < fm; ++i) {
        KERAMOS_UNROLL
        for (int j = 0; j < fn; ++j) mma_16x8<fk>(acc_[i][j], a_frag_[i], b_frag_[set][j]);
        load_a(i, p, step);
      }
    }
    if constexpr (steps % 2 == 1) {
      KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
      for (int v = 0; v < fk / 4; ++v) b_frag_[0][j][v] = b_frag_[1][j][v];
    }
  }

  /// `f(number, run)` for the accumulators in runs of 16 bytes.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void runs(const F& f) {
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) f((i * fn + j) * 2 + half, acc_[i][j][half]);
  }

  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<double>& p, const Position& at,
                                          const Epilogue& epilogue) const {
    const simt::c_writer<double, 2, Position> writer(p, at);
    const int group = m_ % 8;
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half)
      writer.write(m_ + i * 16 + half * 8, n_ - group + j * 8 + k_ * 2, acc_[i][j][half], epilogue);
  }

 private:
  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void load_a(int i, const Panels& p, int step) {
    KERAMOS_UNROLL
    for (int v = 0; v < fk / 2; ++v)
      a_frag_[i][v] = *p.a.at(m_ + i * 16 + v % 2 * 8, k_ + step * fk + v / 2 * 4);
  }
  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void load_b(double (&to)[fn][fk / 4], const Panels& p, int step) const {
    KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int v = 0; v < fk / 4; ++v) to[j][v] = *p.b.at(n_ + j * 8, k_ + step * fk + v * 4);
  }

  int m_, n_, k_;             // the first element that this lane reads of the warp's tile
  double acc_[fm][fn][2][2];  // (fragment row, fragment column, rows 0-7 or 8-15, column)
  double a_frag_[fm][fk / 2], b_frag_[2][fn][fk / 4];
};

template <class T, tiling::config Config>
struct accumulator_for {
  using type = simt::fma_accumulator<T, Config, Kokkos::Cuda>;
};
template <tiling::config Config>
requires(Config.math == tiling::unit::matrix) struct accumulator_for<double, Config> {
  using type = f64_accumulator<Config>;
};

}  // namespace cuda

template <>
struct mma<Kokkos::Cuda> {
  template <class T>
  static constexpr bool has_matrix_unit = std::is_same_v<T, double>;
  static bool matrix_unit_works(const Kokkos::Cuda& exec) { return exec.cuda_device_prop().major >= 8; }

  /// d += a·b on 16 x 8 x 8 of a warp; how the lanes share it, see mma_16x8.
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION static void multiply_16x8(T (&d)[2][2], const T (&a)[4], const T (&b)[2]) {
    cuda::mma_16x8<8>(d, a, b);
  }

  template <class T, tiling::config Config>
  using accumulator = typename cuda::accumulator_for<T, Config>::type;
};

}  // namespace keramos::backend
