// Products of complex numbers: op::C conjugates, alpha and beta may be complex.
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <vector>

#include <keramos/gemm/fused.hpp>

#include "batched_case.hpp"
#include "gemm_case.hpp"

namespace keramos::test {
namespace {

constexpr op all_ops[] = {op::N, op::T, op::C};

template <class T>
class GemmComplex : public testing::Test {};
using complex_types = testing::Types<Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(GemmComplex, complex_types);

TYPED_TEST(GemmComplex, SizesAndOps) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{1, 1, 1},     {7, 5, 3},    {16, 16, 16},  {33, 65, 17},  {128, 128, 64},
                              {129, 63, 77}, {1, 90, 200}, {200, 1, 333}, {140, 257, 40}};
  for (const auto& [m, n, k] : sizes)
    for (const op a : all_ops)
      for (const op b : all_ops)
        EXPECT_TRUE(run<TypeParam>(gemm_case{.m = m,
                                             .n = n,
                                             .k = k,
                                             .op_a = a,
                                             .op_b = b,
                                             .alpha = 1.5,
                                             .beta = double(rng() % 2),
                                             .alpha_imag = 0.5,
                                             .beta_imag = -double(rng() % 2)},
                                   rng()));
}

TYPED_TEST(GemmComplex, EveryOpAndLayout) { every_op_and_layout<TypeParam>(); }

TYPED_TEST(GemmComplex, RandomLayoutsAndScalars) {
  std::mt19937_64 rng(fresh_seed());
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  const double scalars[] = {0, 1, -1, 0.75};
  for (int i = 0; i < 80; ++i) {
    gemm_case g{.m = index_t(1 + rng() % 150), .n = index_t(1 + rng() % 150), .k = index_t(rng() % 200)};
    g.op_a = all_ops[rng() % 3], g.op_b = all_ops[rng() % 3];
    g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
    g.gap = index_t(rng() % 9), g.offset = index_t(rng() % 9);
    g.alpha = scalars[rng() % 4], g.beta = scalars[rng() % 4];
    g.alpha_imag = scalars[rng() % 4], g.beta_imag = scalars[rng() % 4];
    EXPECT_TRUE(run<TypeParam>(g, rng()));
  }
}

// Several k-tiles on hosts, parts of k on GPUs, vectors there too.
TYPED_TEST(GemmComplex, LongK) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{20, 30, 5000}, {1, 40, 3000}, {40, 1, 3000}, {100, 70, 1000}};
  for (const auto& [m, n, k] : sizes)
    for (const op a : {op::N, op::C})
      for (const op b : {op::T, op::C})
        EXPECT_TRUE(run<TypeParam>(
            gemm_case{.m = m, .n = n, .k = k, .op_a = a, .op_b = b, .beta = 0.5, .beta_imag = 1}, rng()));
}

TYPED_TEST(GemmComplex, PackedBeforehandAndCut) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t gap : {0, 3})
    for (const op a : all_ops)
      for (const op b : all_ops) {
        gemm_case g{.m = 200, .n = 150, .k = 300, .op_a = a, .op_b = b, .gap = gap, .offset = gap, .beta = 1};
        g.change_plan = [](gemm_plan& plan) { pack_and_cut(plan); };
        EXPECT_TRUE(run<TypeParam>(g, rng()));
      }
}

TYPED_TEST(GemmComplex, Batches) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t size : {3, 16, 33, 100})
    for (const spacing s : {spacing::packed, spacing::interleaved, spacing::apart, spacing::shared}) {
      batched_case g{.batch = 5, .m = size, .n = size + 1, .k = size + 2};
      g.op_a = all_ops[rng() % 3], g.op_b = all_ops[rng() % 3];
      g.space_a = s, g.space_c = s == spacing::shared ? spacing::packed : s;
      g.alpha = -2, g.alpha_imag = 1, g.beta = double(size % 2);
      EXPECT_TRUE(run<TypeParam>(g, rng()));
    }
}

TYPED_TEST(GemmComplex, Lists) { EXPECT_TRUE(run_list<TypeParam>(op::C, fresh_seed())); }

struct adds_place {
  template <class R>
  KERAMOS_FUNCTION complex<R> operator()(complex<R> acc, index_t i, index_t j, index_t) const {
    return acc + complex<R>(R(i % 4), R(j % 4));
  }
};

// Whole numbers are exact, so there is one right answer; callers' other classes of complex numbers are taken as well.
TYPED_TEST(GemmComplex, EpilogueAndClassesOfOthers) {
  using R = typename TypeParam::value_type;
  using Z = std::complex<R>;
  const index_t m = 70, n = 50, k = 64;
  using matrix = Kokkos::View<TypeParam**, Kokkos::LayoutRight, default_execution_space>;
  const matrix a("a", m, k), b("b", k, n), c("c", m, n);
  const auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  for (index_t i = 0; i < m; ++i)
    for (index_t p = 0; p < k; ++p) ha(i, p) = TypeParam(R(int(i + p) % 3 - 1), R(int(i * p) % 5 - 2));
  for (index_t p = 0; p < k; ++p)
    for (index_t j = 0; j < n; ++j)
      hb(p, j) = TypeParam(R(int(2 * p + j) % 5 - 2), R(int(p + 3 * j) % 3 - 1));
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  queue q;
  const matrix_view<Z> of_std{reinterpret_cast<Z*>(a.data()), m, k, k, 1};
  const matrix_view<keramos::complex<R>> of_keramos{reinterpret_cast<keramos::complex<R>*>(b.data()), k, n, n,
                                                    1};
  gemm(q, of_std, of_keramos, c, epilogue::linear(Z(0, 1), 0) | adds_place());
  q.wait();
  record_support("epilogue", of_std, of_keramos, as_matrix(c), op::N, op::N);
  const auto hc = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      const auto sum = reference::product_element(ha, hb, i, j, k).value;
      ASSERT_EQ(Z(hc(i, j).real(), hc(i, j).imag()), (Z(R(i % 4 - sum.im), R(j % 4 + sum.re))))
          << i << ", " << j;
    }
}

// Kernels copy both parts at once.
TYPED_TEST(GemmComplex, MisalignedNumbersAreRefused) {
  using R = typename TypeParam::value_type;
  using Z = std::complex<R>;
  const Kokkos::View<R*, default_execution_space> memory("memory", 200);
  const auto at = [&](index_t offset) {
    return matrix_view<Z>{reinterpret_cast<Z*>(memory.data() + offset), 3, 3, 3, 1};
  };
  queue q;
  EXPECT_NO_THROW(gemm(q, 1, at(0), at(20), 0, at(40)));
  EXPECT_THROW(gemm(q, 1, at(1), at(20), 0, at(40)), invalid_argument);
  EXPECT_THROW(gemm(q, 1, at(0), at(20), 0, at(41)), invalid_argument);
  const std::vector<matrix_view<Z>> good{at(0)}, odd{at(1)}, result{at(80)};
  EXPECT_NO_THROW(gemm_batched(q, 1, good, good, 0, result));
  EXPECT_THROW(gemm_batched(q, 1, good, odd, 0, result), invalid_argument);
  const auto batch = [&](index_t offset) {
    return batched_matrix_view<Z>{reinterpret_cast<Z*>(memory.data() + offset), 2, 3, 3, 9, 3, 1};
  };
  EXPECT_NO_THROW(gemm_batched(q, 1, batch(0), batch(40), 0, batch(80)));
  EXPECT_THROW(gemm_batched(q, 1, batch(0), batch(40), 0, batch(81)), invalid_argument);
  q.wait();
}

// With beta = 0 C is not read, with alpha = 0 neither A nor B; a purely imaginary scalar is none of these.
TYPED_TEST(GemmComplex, ImaginaryScalarsAreNotZero) {
  std::mt19937_64 rng(fresh_seed());
  for (const auto& [alpha, beta] : {std::pair{0., 1.}, {1., 0.}, {0., 0.}, {1., 1.}}) {
    gemm_case g{.m = 40, .n = 30, .k = 20, .alpha = 0, .beta = 0};
    g.alpha_imag = alpha, g.beta_imag = beta;
    EXPECT_TRUE(run<TypeParam>(g, rng()));
  }
}

}  // namespace
}  // namespace keramos::test
