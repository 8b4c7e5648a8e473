// What GEMM refuses: the message names argument, value and cure, and C is untouched.
#include <algorithm>
#include <set>

#include "gemm_case.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

/// Calls gemm, which must throw `Error` with all of `parts` in its message and leave C as it was.
template <class Error>
void expect_refused(const matrix_view<float>& a, const matrix_view<float>& b, stored_matrix<float>& c,
                    const matrix_view<float>& c_view, const gemm_options& options,
                    std::initializer_list<const char*> parts) {
  c.fill_all([] { return 42.0f; });
  c.upload();
  queue q;
  try {
    gemm(q, 1, a, b, 0, c_view, options);
    ADD_FAILURE() << "no exception";
  } catch (const Error& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.find("keramos::gemm: "), 0u) << what;
    for (const char* part : parts) EXPECT_NE(what.find(part), what.npos) << part << " not in: " << what;
  }
  q.wait();
  c.download();
  for (std::size_t i = 0; i < c.host.extent(0); ++i) ASSERT_EQ(c.host(i), 42.0f);
}

struct matrices {
  stored_matrix<float> a{128, 96, layout::right, 0, 0}, b{96, 64, layout::right, 0, 0},
      c{128, 64, layout::right, 0, 0};
};

TEST(GemmErrors, ExtentsOfA) {
  matrices x;
  stored_matrix<float> a(128, 64, layout::right, 0, 0);
  expect_refused<invalid_argument>(a.view, x.b.view, x.c, x.c.view, {},
                                   {"A is 128x64 but op(A) must be 128x96 (m x k)", "fix A's extents"});
}
TEST(GemmErrors, TransposeForgotten) {
  matrices x;
  expect_refused<invalid_argument>(x.a.view.transposed(), x.b.view, x.c, x.c.view, {},
                                   {"A is 96x128", "pass op_a = op::T"});
  expect_refused<invalid_argument>(x.a.view, x.b.view.transposed(), x.c, x.c.view, {},
                                   {"B is 64x96 but op(B) must be 96x64 (k x n)", "pass op_b = op::T"});
  expect_refused<invalid_argument>(x.a.view, x.b.view, x.c, x.c.view, {.op_b = op::T},
                                   {"B is 96x64", "pass op_b = op::N"});
}
TEST(GemmErrors, ExtentsOfC) {
  matrices x;
  auto wide = x.c.view;
  wide.cols = 63;
  expect_refused<invalid_argument>(x.a.view, x.b.view, x.c, wide, {},
                                   {"B is 96x64 but op(B) must be 96x63 (k x n)"});
}
TEST(GemmErrors, NegativeExtent) {
  matrices x;
  auto a = x.a.view;
  a.rows = -1;
  expect_refused<invalid_argument>(a, x.b.view, x.c, x.c.view, {},
                                   {"A is -1x96", "must not be negative", "check how its view was made"});
}
TEST(GemmErrors, NullData) {
  matrices x;
  auto b = x.b.view;
  b.data = nullptr;
  expect_refused<invalid_argument>(x.a.view, b, x.c, x.c.view, {},
                                   {"B is 96x64 but its data is null", "allocate it"});
}
TEST(GemmErrors, CThatWritesAnElementTwice) {
  matrices x;
  auto c = x.c.view;
  c.row_stride = 0;
  expect_refused<invalid_argument>(x.a.view, x.b.view, x.c, c, {},
                                   {"C has strides 0x1", "128x64", "use strides that keep them apart"});
  c.row_stride = c.cols - 1;  // one element in common
  expect_refused<invalid_argument>(x.a.view, x.b.view, x.c, c, {}, {"C has strides 63x1"});
  c.row_stride = 1, c.col_stride = c.rows - 1;
  expect_refused<invalid_argument>(x.a.view, x.b.view, x.c, c, {}, {"C has strides 1x127"});
}
TEST(GemmErrors, CThatOverlapsAnOperand) {
  matrices x;
  stored_matrix<float> c(128, 96 + 63, layout::right, 0, 0);
  matrix_view<float> a = c.view, over = c.view;
  a.cols = 96;      // columns 0 ... 95
  over.data += 95;  // columns 95 ... 158: one in common
  over.cols = 64;
  expect_refused<invalid_argument>(a, x.b.view, c, over, {},
                                   {"C (128x64) overlaps A (128x96)", "pass a copy of A or another C"});
}
TEST(GemmErrors, BlocksOfOneMatrixSideBySideAreFine) {
  matrices x;
  stored_matrix<float> both(128, 96 + 64, layout::right, 0, 0);
  both.fill_all([] { return 1.0f; });
  x.b.fill_all([] { return 1.0f; });
  both.upload(), x.b.upload();
  matrix_view<float> a = both.view, c = both.view;
  a.cols = 96;
  c.data += 96;
  c.cols = 64;
  queue q;
  gemm(q, 1, a, x.b.view, 0, c);
  q.wait();
  both.download();
  EXPECT_EQ(both.at(127, 95), 1.0f);
  EXPECT_EQ(both.at(127, 96), 96.0f);
}
TEST(GemmErrors, TileThatDoesNotFit) {
  matrices x;
  expect_refused<launch_error>(x.a.view, x.b.view, x.c, x.c.view, {.block = tiling::shape{9999, 9999, 9999}},
                               {"options.block is 9999x9999x9999", "pass"});
  expect_refused<launch_error>(x.a.view, x.b.view, x.c, x.c.view, {.block = tiling::shape{0, 8, 8}},
                               {"options.block is 0x8x8", "pass"});
  queue q;
  EXPECT_THROW(gemm(q, 0, x.a.view, x.b.view, 0, x.c.view, {.block = tiling::shape{0, 8, 8}}), launch_error);
}

// --- The checks themselves, against brute force --------------------------------------------------

std::set<index_t> elements(const detail::region& r) {
  std::set<index_t> s;
  for (index_t i = 0; i < r.rows; ++i)
    for (index_t j = 0; j < r.cols; ++j)
      s.insert(index_t(reinterpret_cast<std::intptr_t>(r.data) / sizeof(float)) + i * r.row_stride +
               j * r.col_stride);
  return s;
}
bool really_overlap(const detail::region& x, const detail::region& y) {
  const auto a = elements(x), b = elements(y);
  return std::any_of(a.begin(), a.end(), [&](index_t e) { return b.count(e) > 0; });
}
detail::region make_region(index_t offset, index_t rows, index_t cols, index_t row_stride,
                           index_t col_stride) {
  return {"X",           reinterpret_cast<const float*>(4096 * sizeof(float)) + offset,
          sizeof(float), rows,
          cols,          row_stride,
          col_stride};
}

TEST(GemmErrors, TileWhoseBytesWrap) {
  stored_matrix<float> a(64, 64, layout::right, 0, 0), c(64, 64, layout::right, 0, 0);
  for (const int extent : {(1 << 20) + 1, 1 << 30, std::numeric_limits<int>::max()})
    for (const tiling::shape block : {tiling::shape{extent, extent, extent}, tiling::shape{extent, 64, 64}}) {
      queue q;
      EXPECT_THROW(gemm(q, 1, a.view, a.view, 0, c.view, {.block = block}), launch_error) << extent;
    }
}

TEST(GemmErrors, ScalarsThatAreNoIntegers) {
  stored_matrix<std::int32_t> a(4, 4, layout::right, 0, 0), c(4, 4, layout::right, 0, 0);
  queue q;
  for (const double scalar : {0.5, 1e30, -1e30, 9223372036854775808.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(gemm(q, scalar, a.view, a.view, 0, c.view), invalid_argument) << scalar;
    EXPECT_THROW(gemm(q, 1, a.view, a.view, scalar, c.view), invalid_argument) << scalar;
    EXPECT_THROW(gemm(q, 1, a.view, a.view, float(scalar), c.view), invalid_argument) << scalar;
  }
  for (const double scalar : {0.0, -2.0, 4294967297.0, -9223372036854775808.0})
    EXPECT_NO_THROW(gemm(q, scalar, a.view, a.view, 1.0, c.view)) << scalar;
  q.wait();
}

TEST(Overlap, IsExactForBlocksOfOneMatrix) {
  std::mt19937_64 rng(fresh_seed());
  int overlapping = 0;
  for (int i = 0; i < 20000; ++i) {
    const index_t ld = 6 + rng() % 12;
    const auto block = [&] {
      const index_t rows = 1 + rng() % 6, cols = 1 + rng() % ld;
      const index_t offset = rng() % 150;  // also blocks that wrap around the end of a row
      return rng() % 2 ? make_region(offset, rows, cols, ld, 1) : make_region(offset, cols, rows, 1, ld);
    };
    const auto x = block(), y = block();
    const bool real = really_overlap(x, y);
    overlapping += real;
    ASSERT_EQ(detail::overlaps(x, y), real) << i;
    ASSERT_EQ(detail::overlaps(y, x), real) << i;
  }
  EXPECT_GT(overlapping, 1000);
}
TEST(Overlap, IsExactForAnyStrides) {
  std::mt19937_64 rng(fresh_seed());
  int found = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto any = [&] {
      return make_region(rng() % 60, 1 + rng() % 5, 1 + rng() % 5, rng() % 9, rng() % 9);
    };
    const auto x = any(), y = any();
    const bool real = really_overlap(x, y);
    found += real;
    ASSERT_EQ(detail::overlaps(x, y), real) << i;
  }
  EXPECT_GT(found, 500);
}
TEST(Overlap, WritesTwiceIsExact) {
  std::mt19937_64 rng(fresh_seed());
  for (int i = 0; i < 20000; ++i) {
    const auto r = make_region(0, rng() % 7, rng() % 7, index_t(rng() % 19) - 6, index_t(rng() % 19) - 6);
    ASSERT_EQ(detail::writes_twice(r), index_t(elements(r).size()) != r.rows * r.cols) << i;
  }
}

}  // namespace
