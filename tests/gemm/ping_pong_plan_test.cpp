// Wavefronts take turns only with operands that are copied 16 bytes at a time: a plan has such rows of a tile table only for
// those, or for packed ones. The planner is that of GPUs, with a table like gfx942's. It needs no GPU.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>

#include <keramos/backends/simt/staging.hpp>
#include <keramos/gemm/plan/simt.hpp>
#include <keramos/keramos.hpp>

namespace keramos {

namespace test {
struct planned_gpu {};
}  // namespace test

namespace backend {

namespace test_table {
// clang-format off
inline constexpr simt::tile_row rows[] = {
    {0, simt::f16, {{256, 128, 32}, {64, 64}, {16, 16, 16}, 2, 1, tiling::math_unit::matrix, false, true}, 7.20, simt::serves::single},
    {0, simt::f16, {{128, 128, 32}, {64, 64}, {16, 16, 16}, 1, 2, tiling::math_unit::matrix, false}, 6.40},
    {0, simt::f16, {{ 64,  64, 32}, {32, 32}, {16, 16, 16}, 2, 3, tiling::math_unit::matrix, true}, 4.80},
};
// clang-format on
}  // namespace test_table

template <>
struct traits<test::planned_gpu> {
  static constexpr bool is_host = false;
  static constexpr int warp_size = 64, max_team_size = 512;
  static constexpr std::size_t most_local_bytes = 64 << 10;
  static std::size_t local_memory_limit(const test::planned_gpu&, int) { return most_local_bytes; }
};
template <>
struct staging<test::planned_gpu> : simt::plain_copier {};
template <>
struct mma<test::planned_gpu> : fma_units {
  template <class T>
  static constexpr bool has_matrix_unit = true;
};
template <>
struct tiles<test::planned_gpu> {
  static constexpr const auto& table = test_table::rows;
  static int arch(const test::planned_gpu&) { return 0; }
  static simt::device_model model(const test::planned_gpu&) {
    simt::device_model model{304, 64 << 10};
    model.stages_in_use = 0;
    return model;
  }
};

}  // namespace backend

namespace test {
namespace {

using product = types::f16_f32;
using planner = detail::simt::planner<planned_gpu>;
constexpr auto library = detail::epilogue_of_product::library;
constexpr tiling::shape in_turns = {256, 128, 32};

/// A and B with so many elements from row to row, which run along k.
gemm_problem<product> problem(index_t m, index_t n, index_t k, index_t pitch_a, index_t pitch_b) {
  alignas(16) static const float16 aligned[8] = {};
  alignas(16) static float c[4];
  gemm_problem<product> p{};
  p.a = tiling::operand<float16>(aligned, pitch_a, 1), p.b = tiling::operand<float16>(aligned, pitch_b, 1);
  p.c = c, p.c_row_stride = n, p.c_col_stride = 1;
  p.m = m, p.n = n, p.k = k;
  return p;
}
gemm_part chosen(const gemm_problem<product>& p, const std::optional<tiling::shape>& requested = {}) {
  gemm_part part;
  planner::choose_tiles(planned_gpu(), p, requested, library, part);
  return part;
}
bool takes_turns(const gemm_part& part) { return part.block == in_turns; }
/// What is wrong with the part as a caller's plan; nothing if it can be followed.
std::string refusal(const gemm_problem<product>& p, const gemm_part& part) {
  try {
    planner::check(planned_gpu(), p, part, 0, library);
    return "";
  } catch (const invalid_argument& e) {
    return e.what();
  }
}

TEST(PingPongPlan, OperandsThatAreNotAlignedArePacked) {
  const index_t n = 8192;
  for (const index_t pitch_a : {n, n + 1, n + 4})
    for (const index_t pitch_b : {n, n + 2}) {
      const auto p = problem(n, n, n, pitch_a, pitch_b);
      for (const gemm_part& part : {chosen(p), chosen(p, in_turns)}) {
        ASSERT_TRUE(takes_turns(part)) << pitch_a << ' ' << pitch_b;
        EXPECT_EQ(part.pack_a, pitch_a > n);
        EXPECT_EQ(part.pack_b, pitch_b > n);
        EXPECT_EQ(refusal(p, part), "");
      }
    }
}
// k is so long that no copy of a few rows may take the memory.
TEST(PingPongPlan, OtherRowsTakeWhatCannotBePacked) {
  const index_t k = 1 << 20;
  const auto of_pitch = [&](index_t pitch) { return problem(8192, 8192, k, pitch, pitch); };
  EXPECT_TRUE(takes_turns(chosen(of_pitch(k))));
  const gemm_part part = chosen(of_pitch(k + 1));
  EXPECT_FALSE(takes_turns(part));
  EXPECT_FALSE(part.pack_a || part.pack_b);
  EXPECT_EQ(refusal(of_pitch(k + 1), part), "");
  // A row that is asked for has bands.
  EXPECT_EQ(refusal(of_pitch(k + 1), chosen(of_pitch(k + 1), in_turns)), "");
}
TEST(PingPongPlan, APlanThatDoesNotPackThemIsRefused) {
  const auto p = problem(1000, 1000, 1000, 1001, 1000);
  gemm_part part = chosen(p, in_turns);
  part.pack_a = false;
  EXPECT_NE(refusal(p, part).find("multiples of 16 bytes"), std::string::npos) << refusal(p, part);
  part.pack_b = true;
  EXPECT_NE(refusal(p, part).find("multiples of 16 bytes"), std::string::npos) << refusal(p, part);
  part.pack_a = true;
  EXPECT_EQ(refusal(p, part), "");
}
// Of B along n, 8 columns are 16 bytes.
TEST(PingPongPlan, BandsBeginAtSixteenBytes) {
  auto p = problem(1000, 1000, 1000, 1001, 1000);
  p.b.stride_mn = 1, p.b.stride_k = 1000;
  gemm_part part = chosen(p, in_turns);
  ASSERT_TRUE(part.pack_a && !part.pack_b);
  part.band_n = 504;
  EXPECT_EQ(refusal(p, part), "");
  part.band_n = 500;
  EXPECT_NE(refusal(p, part).find("multiples of 16 bytes"), std::string::npos) << refusal(p, part);
}
TEST(PingPongPlan, KernelsAreOfVectorsAlone) {
  using kernels = detail::simt::tiled_kernels<planned_gpu, product, false>;
  int in_turns = 0, others = 0;
  detail::simt::for_each_kernel<kernels>([&](const detail::simt::kernel_number& x) {
    ++(x.row == 0 ? in_turns : others);
    EXPECT_TRUE(x.row > 0 || detail::simt::operand_access::of(x.access).vectors);
  });
  EXPECT_EQ(in_turns, 4);
  EXPECT_EQ(others, 16);
}

}  // namespace
}  // namespace test
}  // namespace keramos
