// What gemm_batched refuses: the message names the matrix, its value and the cure.
#include <map>
#include <set>

#include "batched_case.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class Call>
void expect_refused(const Call& call, std::initializer_list<const char*> parts) {
  queue q;
  try {
    call(q);
    ADD_FAILURE() << "no exception";
  } catch (const invalid_argument& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.find("keramos::gemm_batched: "), 0u) << what;
    for (const char* part : parts) EXPECT_NE(what.find(part), what.npos) << part << " not in: " << what;
  }
}

struct batches {
  stored_batch<float> a{10, 8, 6, layout::right, spacing::packed, 0, 0},
      b{10, 6, 4, layout::right, spacing::packed, 0, 0}, c{10, 8, 4, layout::right, spacing::packed, 0, 0};
};

TEST(GemmBatchedErrors, Extents) {
  batches x;
  auto a = x.a.view;
  a.cols = 5;
  expect_refused([&](queue& q) { gemm_batched(q, 1, a, x.b.view, 0, x.c.view); },
                 {"A is 8x5 but op(A) must be 8x6 (m x k)", "fix A's extents"});
  expect_refused([&](queue& q) { gemm_batched(q, 1, x.a.view, x.b.view, 0, x.c.view, {.op_b = op::T}); },
                 {"B is 6x4 but op(B) must be 6x4", "pass op_b = op::N"});
}
TEST(GemmBatchedErrors, Batches) {
  batches x;
  auto a = x.a.view;
  a.batch = 9;
  expect_refused([&](queue& q) { gemm_batched(q, 1, a, x.b.view, 0, x.c.view); },
                 {"A is a batch of 9 but C of 10", "pass as many matrices, or one matrix for all"});
  a.batch = -1;
  expect_refused([&](queue& q) { gemm_batched(q, 1, a, x.b.view, 0, x.c.view); },
                 {"A is -1x8x6", "must not be negative", "check how its view was made"});
}
TEST(GemmBatchedErrors, NullData) {
  batches x;
  auto b = x.b.view;
  b.data = nullptr;
  expect_refused([&](queue& q) { gemm_batched(q, 1, x.a.view, b, 0, x.c.view); },
                 {"B is 6x4 but its data is null", "allocate it"});
  const matrix_array<float> nowhere{nullptr, 8, 10, 8, 4, 4, 1};
  expect_refused([&](queue& q) { gemm_batched(q, 1, x.a.view, x.b.view, 0, nowhere); },
                 {"C is 8x4 but its data is null"});
}
TEST(GemmBatchedErrors, MatricesOfCThatOverlap) {
  batches x;
  for (index_t stride : {0, 1, 31, -5}) {
    auto c = x.c.view;
    c.batch_stride = stride;
    expect_refused([&](queue& q) { gemm_batched(q, 1, x.a.view, x.b.view, 0, c); },
                   {"C has strides", "x4x1 (batch x row x column)", "10x8x4 elements share memory",
                    "keep its matrices apart"});
  }
}
TEST(GemmBatchedErrors, COverlapsAnOperand) {
  stored_batch<float> all(10, 8, 10, layout::right, spacing::packed, 0, 0);
  batches x;
  auto a = all.view, c = all.view;
  a.cols = 6;
  c.cols = 4, c.data += 5;  // column 5 is in both
  expect_refused([&](queue& q) { gemm_batched(q, 1, a, x.b.view, 0, c); },
                 {"C[0] (8x4) overlaps A[0] (8x6)", "pass a copy of A or another C"});
  c.data = all.view.data + 6 + 80 * 3 - 1, c.batch = a.batch = 7;  // C[0] against A[3]
  auto b = x.b.view;
  b.batch = 7;
  expect_refused([&](queue& q) { gemm_batched(q, 1, a, b, 0, c); }, {"C[0] (8x4) overlaps A[3] (8x6)"});
  // One A for all problems that is the third C.
  const auto shared = batched_matrix_view<float>{x.c.view.data + 2 * 32, 10, 8, 4, 0, 4, 1};
  stored_batch<float> square(10, 4, 4, layout::right, spacing::packed, 0, 0);
  expect_refused([&](queue& q) { gemm_batched(q, 1, shared, square.view, 0, x.c.view); },
                 {"C[2] (8x4) overlaps A[0] (8x4)"});
}
TEST(GemmBatchedErrors, BlocksOfOneViewSideBySideAreFine) {
  stored_batch<float> all(10, 8, 10, layout::right, spacing::packed, 0, 0);
  batches x;
  all.fill_all([] { return 1.0f; }), x.b.fill_all([] { return 1.0f; });
  all.upload(), x.b.upload();
  auto a = all.view, c = all.view;
  a.cols = 6;
  c.cols = 4, c.data += 6;
  queue q;
  gemm_batched(q, 1, a, x.b.view, 0, c).wait();
  all.download();
  EXPECT_EQ(all.at(9, 7, 5), 1.0f);
  EXPECT_EQ(all.at(9, 7, 6), 6.0f);
}

// Of interleaved matrices the bytes of all lie between the ends of each. Only two share an element.
TEST(GemmGroupedErrors, FindsTheOneOverlapOfManyInterleavedMatrices) {
  constexpr index_t count = 32'000, n = 4;
  Kokkos::View<float*, default_execution_space> memory("memory", 2 * count * n * n), one("B", n * n);
  const matrix_view<float> b{one.data(), n, n, n, 1};
  std::vector<matrix_view<float>> a, c;
  for (index_t i = 0; i < count; ++i) {
    a.push_back({memory.data() + 2 * i, n, n, 2 * count * n, 2 * count});
    c.push_back({memory.data() + 2 * i + 1, n, n, 2 * count * n, 2 * count});
  }
  queue q;
  gemm_batched(q, 1, a, b, 0, c).wait();
  a[count - 3] = c[count - 1];
  expect_refused([&](queue& q) { gemm_batched(q, 1, a, b, 0, c); },
                 {"C[31999] (4x4) overlaps A[31997] (4x4)"});
}
// The imaginary parts of C lie inside its elements, though they begin elsewhere.
TEST(GemmGroupedErrors, FindsOverlapsOfElementsOfOtherSizes) {
  constexpr index_t n = 4;
  Kokkos::View<complex<float>*, default_execution_space> memory("memory", 2 * n * n), one("B", n * n);
  const matrix_view<complex<float>> b{one.data(), n, n, n, 1};
  auto* const parts = reinterpret_cast<float*>(memory.data());
  std::vector<matrix_view<float>> a;
  std::vector<matrix_view<complex<float>>> c;
  for (index_t i = 0; i < 2; ++i) {
    a.push_back({parts + 2 * i * n * n + 1, n, n, 2 * n, 2});
    c.push_back({memory.data() + i * n * n, n, n, n, 1});
  }
  expect_refused([&](queue& q) { gemm_batched(q, 1, a, b, 0, c); }, {"overlaps A[0] (4x4)"});
}
TEST(GemmBatchedErrors, FindsOverlapsOfInterleavedBatches) {
  constexpr index_t count = 1000, n = 4;
  Kokkos::View<float*, default_execution_space> memory("memory", 3 * count * n * n), one("B", n * n);
  const matrix_view<float> b{one.data(), n, n, n, 1};
  // Batches of other spacing and of other strides than C's: element (i, j) of matrix x is at 3·count·(n·i + j) + ...
  const batched_matrix_view<float> c{memory.data() + 1, count, n, n, 3, 3 * count * n, 3 * count};
  const batched_matrix_view<float> between{memory.data() + 2, count, n, n, 3, 3 * count, 3 * count * n};
  const batched_matrix_view<float> crossing{memory.data(), count, n, n, 2, 3 * count * n, 3 * count};
  queue q;
  gemm_batched(q, 1, between, b, 0, c).wait();
  expect_refused([&](queue& q) { gemm_batched(q, 1, crossing, b, 0, c); },
                 {"C[1] (4x4) overlaps A[2] (4x4)"});
}

TEST(GemmGroupedErrors, NamesTheProblem) {
  batches x;
  std::vector<matrix_view<float>> a, b, c;
  for (index_t i = 0; i < 10; ++i)
    a.push_back(x.a.view[i]), b.push_back(x.b.view[i]), c.push_back(x.c.view[i]);
  a[7].rows = 5;
  expect_refused([&](queue& q) { gemm_batched(q, 1, a, b, 0, c); },
                 {"problem 7: A is 5x6 but op(A) must be 8x6"});
  a[7].rows = 8;
  a.pop_back();
  expect_refused([&](queue& q) { gemm_batched(q, 1, a, b, 0, c); },
                 {"A lists 9 matrices but C 10", "list as many"});
  expect_refused([&](queue& q) { gemm_batched(q, 1, std::vector{a[0]}, b, 0, c); },
                 {"A lists 1 matrix but C 10", "pass one matrix for all"});
  a.push_back(x.a.view[9]);
  auto twice = c;
  twice[3].data = c[8].data + 31;
  expect_refused([&](queue& q) { gemm_batched(q, 1, a, b, 0, twice); },
                 {"C[3] and C[", "share memory", "pass matrices that lie apart"});
  auto over = a;
  over[2].data = c[5].data - 47;
  expect_refused([&](queue& q) { gemm_batched(q, 1, over, b, 0, c); }, {"overlaps A[2] (8x6)"});
  auto null = b;
  null[4].data = nullptr;
  expect_refused([&](queue& q) { gemm_batched(q, 1, a, null, 0, c); }, {"problem 4: B is 6x4 but its data"});
}

// --- The checks themselves, against brute force --------------------------------------------------

detail::batch_region make_region(index_t offset, index_t batch, index_t stride, index_t rows, index_t cols,
                                 index_t row_stride, index_t col_stride) {
  const auto* base = reinterpret_cast<const float*>(1 << 20);
  return {{"X", base + offset, sizeof(float), rows, cols, row_stride, col_stride}, batch, stride};
}
/// Addresses and how often each occurs.
std::map<const void*, int> elements(const detail::batch_region& r) {
  std::map<const void*, int> all;
  for (index_t b = 0; b < r.batch; ++b)
    for (index_t i = 0; i < r.first.rows; ++i)
      for (index_t j = 0; j < r.first.cols; ++j)
        ++all[static_cast<const float*>(r[b].data) + i * r.first.row_stride + j * r.first.col_stride];
  return all;
}

TEST(BatchOverlap, WritesTwiceIsExact) {
  std::mt19937_64 rng(fresh_seed());
  int found = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto stride = [&] { return index_t(rng() % 41) - 12; };
    const auto r = make_region(0, rng() % 6, stride(), rng() % 5, rng() % 5, stride(), stride());
    const auto all = elements(r);
    const bool real = std::any_of(all.begin(), all.end(), [](const auto& e) { return e.second > 1; });
    found += real;
    ASSERT_EQ(detail::writes_twice(r), real) << i;
  }
  EXPECT_GT(found, 2000);
}
TEST(BatchOverlap, IsExactForBlocksOfOneView) {
  std::mt19937_64 rng(fresh_seed());
  int overlapping = 0;
  for (int i = 0; i < 5000; ++i) {
    // Blocks of a rank-3 View, and one whose batch stride is another's or 0.
    const index_t ld = 5 + rng() % 6, rows = 4, stride = ld * rows;
    const auto block = [&] {
      const index_t r = 1 + rng() % rows, c = 1 + rng() % ld;
      const index_t step = stride * index_t(rng() % 4 ? 1 : rng() % 3);
      return make_region(rng() % (2 * stride), 1 + rng() % 4, rng() % 8 ? step : -step, r, c, ld, 1);
    };
    const auto x = block(), y = block();
    const auto ex = elements(x), ey = elements(y);
    const bool real = std::any_of(ex.begin(), ex.end(), [&](const auto& e) { return ey.count(e.first) > 0; });
    overlapping += real;
    index_t bx = -1, by = -1;
    ASSERT_EQ(detail::overlaps(x, y, bx, by), real) << i;
    if (real) {
      ASSERT_TRUE(detail::overlaps(x[bx], y[by])) << i;
    }
  }
  EXPECT_GT(overlapping, 500);
}

}  // namespace
