// What worker processes rest on: CPUs and data without Kokkos.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "measure/core/cpus.hpp"
#include "measure/core/host_workspace.hpp"
#include "measure/core/parallel.hpp"
#include "measure/core/random.hpp"

namespace keramos::perf {
namespace {

TEST(Cpus, ChosenOnesAreDifferentAndOurs) {
  const int all = initial_cpu_count();
  for (const int count : {1, 2, all, all + 5}) {
    const auto cpus = choose_cpus(count);
    EXPECT_EQ(static_cast<int>(cpus.size()), std::min(count, all));
    EXPECT_EQ(std::set<int>(cpus.begin(), cpus.end()).size(), cpus.size());
    for (const int cpu : cpus) EXPECT_TRUE(CPU_ISSET(cpu, &initial_affinity())) << cpu;
  }
}

TEST(HostWorkspace, FirstSetIsTheSameForAnyNumberOfSets) {
  const gemm_case g{data_type::f64, transpose::N, transpose::T, matrix_layout::left, 5, 7, 9, 1, 1};
  host_workspace one(g, 1, 42), three(g, 3, 42);
  ASSERT_EQ(three.operands().size(), 3u);
  const auto& x = one.operands()[0];
  const auto& y = three.operands()[0];
  EXPECT_EQ(std::memcmp(x.a, y.a, 5 * 9 * 8), 0);
  EXPECT_EQ(std::memcmp(x.b, y.b, 9 * 7 * 8), 0);
  EXPECT_EQ(std::memcmp(x.c, y.c, 5 * 7 * 8), 0);
  EXPECT_NE(std::memcmp(y.a, three.operands()[1].a, 5 * 9 * 8), 0);
  EXPECT_EQ(static_cast<const double*>(x.a)[3], random_stream(42, 1).value<double>(3));

  EXPECT_EQ(std::memcmp(one.initial_c(), x.c, one.c_bytes()), 0);
  std::memset(x.c, 1, one.c_bytes());
  one.reset_c();
  EXPECT_EQ(std::memcmp(one.initial_c(), one.c(), one.c_bytes()), 0);

  auto without_beta = g;
  without_beta.beta = 0;
  host_workspace fresh(without_beta, 2, 42);
  EXPECT_EQ(fresh.initial_c(), nullptr);
  fresh.reset_c();
  EXPECT_TRUE(std::isnan(static_cast<const double*>(fresh.c())[34]));
}

TEST(HostWorkspace, EveryMatrixHasItsElements) {
  const gemm_case g{data_type::bf16_f32, transpose::N, transpose::N, matrix_layout::right, 5, 7, 9, 1, 1};
  EXPECT_EQ(g.a_bytes(), 5 * 9 * 2u);
  EXPECT_EQ(g.b_bytes(), 9 * 7 * 2u);
  EXPECT_EQ(g.c_bytes(), 5 * 7 * 4u);
  EXPECT_EQ(g.traffic(), 5 * 9 * 2 + 9 * 7 * 2 + 2 * 5 * 7 * 4);  // C is read too
  host_workspace data(g, 2, 42);
  const auto& x = data.operands()[0];
  EXPECT_EQ(static_cast<const bfloat16*>(x.a)[3].bits, bfloat16(random_stream(42, 1).value<float>(3)).bits);
  EXPECT_EQ(static_cast<const float*>(x.c)[34], random_stream(42, 3).value<float>(34));

  gemm_case rounded{data_type::f16, transpose::N, transpose::N, matrix_layout::right, 5, 7, 9};
  host_workspace halves(rounded, 1, 42);
  halves.reset_c();
  EXPECT_TRUE(std::isnan(float(static_cast<const float16*>(halves.c())[34])));
}

TEST(HostWorkspace, ElementsOfTwoTypesHaveSizesOfTheirOwnAndRealTimesComplexHalfTheOperations) {
  gemm_case g{data_type::f32xc32, transpose::N, transpose::C, matrix_layout::right, 5, 7, 9};
  EXPECT_EQ(g.a_bytes(), 5 * 9 * 4u);
  EXPECT_EQ(g.b_bytes(), 9 * 7 * 8u);
  EXPECT_EQ(g.c_bytes(), 5 * 7 * 8u);
  EXPECT_EQ(g.bytes(), 5 * 9 * 4 + 9 * 7 * 8 + 5 * 7 * 8);
  EXPECT_EQ(g.operations(), 4 * 5 * 7 * 9);
  host_workspace data(g, 1, 42);
  EXPECT_EQ(static_cast<const float*>(data.operands()[0].a)[3], random_stream(42, 1).value<float>(3));
  EXPECT_EQ(static_cast<const complex<float>*>(data.operands()[0].b)[3].im,
            random_stream(42, 2).value<float>(7));
  g.type = data_type::f16xf32;
  EXPECT_EQ(g.a_bytes(), 5 * 9 * 2u);
  EXPECT_EQ(g.b_bytes(), 9 * 7 * 4u);
  EXPECT_EQ(g.operations(), 2 * 5 * 7 * 9);
}

TEST(HostWorkspace, ComplexElementsAreTwoNumbersAndEightOperations) {
  const gemm_case g{data_type::c64, transpose::N, transpose::C, matrix_layout::right, 5, 7, 9};
  EXPECT_EQ(g.a_bytes(), 5 * 9 * 16u);
  EXPECT_EQ(g.operations(), 8 * 5 * 7 * 9);
  auto real = g;
  real.type = data_type::f64;
  EXPECT_EQ(real.operations(), 2 * 5 * 7 * 9);
  host_workspace data(g, 1, 42);
  const auto z = static_cast<const complex<double>*>(data.operands()[0].b)[3];
  EXPECT_EQ(z.re, random_stream(42, 2).value<double>(6));
  EXPECT_EQ(z.im, random_stream(42, 2).value<double>(7));
  data.reset_c();
  const auto poison = static_cast<const complex<double>*>(data.c())[34];
  EXPECT_TRUE(std::isnan(poison.re) && std::isnan(poison.im));
}

TEST(HostWorkspace, SetsAreUsedInTurn) {
  const gemm_case g{data_type::i32, {}, {}, {}, 2, 2, 2};
  const host_workspace data(g, 3, 1);
  std::vector<const void*> seen;
  in_turn(data.operands(), 7, [&](const operand_set& set) { seen.push_back(set.a); });
  ASSERT_EQ(seen.size(), 7u);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], data.operands()[i % 3].a);
}

}  // namespace
}  // namespace keramos::perf
