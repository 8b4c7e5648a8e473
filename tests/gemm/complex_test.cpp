// Products of complex numbers: op::C conjugates, alpha and beta may be complex.
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <vector>

#include "product_cases.hpp"

namespace keramos::test {
namespace {

template <class T>
class GemmComplex : public testing::Test {};
using complex_types = testing::Types<Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(GemmComplex, complex_types);

TYPED_TEST(GemmComplex, SizesAndOps) { sizes_and_ops(products_of<TypeParam>()); }
TYPED_TEST(GemmComplex, EveryOpAndLayout) { every_op_and_layout(products_of<TypeParam>()); }
TYPED_TEST(GemmComplex, RandomLayoutsAndScalars) { random_layouts_and_scalars(products_of<TypeParam>()); }
TYPED_TEST(GemmComplex, LongK) { long_k(products_of<TypeParam>()); }
TYPED_TEST(GemmComplex, PackedBeforehandAndCut) { packed_beforehand_and_cut(products_of<TypeParam>()); }
TYPED_TEST(GemmComplex, Batches) { batches(products_of<TypeParam>()); }
TYPED_TEST(GemmComplex, Lists) { lists(products_of<TypeParam>()); }

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
