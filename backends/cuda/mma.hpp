// `multiply` on CUDA: FMA units, and for f64 the tensor cores (PTX ISA, "Matrix Multiply-Accumulate
// Operation using mma Instruction", .f64 shapes; IEEE f64 products and sums).
#pragma once

#include <keramos/backends/simt/mma.hpp>

namespace keramos::backend {

namespace cuda {

/// d += a·b on 16 x 8 x 8 doubles of a warp. With g = lane / 4 and t = lane % 4:
/// a = A(g, t), A(g + 8, t), A(g, t + 4), A(g + 8, t + 4); b = B(t, g), B(t + 4, g);
/// d = D(g, 2t), D(g, 2t + 1), D(g + 8, 2t), D(g + 8, 2t + 1).
KERAMOS_FORCEINLINE_FUNCTION void mma_16x8x8([[maybe_unused]] double (&d)[4],
                                             [[maybe_unused]] const double (&a)[4],
                                             [[maybe_unused]] const double (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto mma_8x8x4 = [](double& d0, double& d1, double a0, double b0) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(d0), "+d"(d1)
                 : "d"(a0), "d"(b0));
  };
  mma_8x8x4(d[0], d[1], a[0], b[0]);
  mma_8x8x4(d[2], d[3], a[1], b[0]);
  mma_8x8x4(d[0], d[1], a[2], b[1]);
  mma_8x8x4(d[2], d[3], a[3], b[1]);
#endif
}

/// A warp's tile of f64 accumulators as 16 x 8 fragments of the tensor cores.
template <tile::config Config>
class f64_accumulator {
  static constexpr int fm = Config.warp.m / 16, fn = Config.warp.n / 8;
  static constexpr int warps_n = Config.block.n / Config.warp.n;
  static constexpr int a_ld = Config.block.m + simt::pad, b_ld = Config.block.n + simt::pad;
  static_assert(Config.warp.m % 16 == 0 && Config.warp.n % 8 == 0 && Config.block.k % 8 == 0,
                "keramos: f64 warp tiles are multiples of 16 x 8 x 8");

 public:
  KERAMOS_FORCEINLINE_FUNCTION explicit f64_accumulator(int thread) {
    const int warp = thread / 32;
    m_ = warp / warps_n * Config.warp.m;
    n_ = warp % warps_n * Config.warp.n;
    group_ = thread % 32 / 4;
    in_group_ = thread % 4;
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i)
      KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j)
        KERAMOS_UNROLL
        for (int v = 0; v < 4; ++v) acc_[i][j][v] = 0;
  }

  KERAMOS_FORCEINLINE_FUNCTION void multiply(const double* a_local, const double* b_local) {
    const double* a = a_local + in_group_ * a_ld + m_ + group_;
    const double* b = b_local + in_group_ * b_ld + n_ + group_;
    KERAMOS_UNROLL
    for (int k = 0; k < Config.block.k; k += 8) {
      double a_frag[fm][4], b_frag[fn][2];
      KERAMOS_UNROLL
      for (int i = 0; i < fm; ++i)
        KERAMOS_UNROLL
        for (int v = 0; v < 4; ++v) a_frag[i][v] = a[(k + v / 2 * 4) * a_ld + i * 16 + v % 2 * 8];
      KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j)
        KERAMOS_UNROLL
        for (int v = 0; v < 2; ++v) b_frag[j][v] = b[(k + v * 4) * b_ld + j * 8];
      KERAMOS_UNROLL
      for (int i = 0; i < fm; ++i)
        KERAMOS_UNROLL
        for (int j = 0; j < fn; ++j) mma_16x8x8(acc_[i][j], a_frag[i], b_frag[j]);
    }
  }

  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<double>& p, const tile::position& at,
                                          const Epilogue& epilogue) const {
    const simt::c_writer<double, 2> writer(p, at);
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i)
      KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j)
        KERAMOS_UNROLL
        for (int v = 0; v < 4; v += 2) {
          const double out[2] = {acc_[i][j][v], acc_[i][j][v + 1]};
          writer.write(m_ + i * 16 + v / 2 * 8 + group_, n_ + j * 8 + in_group_ * 2, out, epilogue);
        }
  }

 private:
  int m_, n_;              // first row and column of the warp's tile
  int group_, in_group_;   // the lane's place in a fragment
  double acc_[fm][fn][4];
};

template <class T, tile::config Config>
struct accumulator_for {
  using type = simt::fma_accumulator<T, Config, 32>;
};
template <tile::config Config>
  requires(Config.math == tile::unit::matrix)
struct accumulator_for<double, Config> {
  using type = f64_accumulator<Config>;
};

}  // namespace cuda

template <>
struct mma<Kokkos::Cuda> {
  template <class T, tile::config Config>
  using accumulator = typename cuda::accumulator_for<T, Config>::type;
};

}  // namespace keramos::backend
