#include "algorithm/test_data.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

struct layout {
  index_t row, col;  // strides
};

/// B = Aᵀ for an m x n matrix in the given layouts; what lies between the elements must stay as it is.
template <class T>
void test_transpose(index_t m, index_t n, layout la, layout lb, std::mt19937_64& random) {
  SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " strides " + std::to_string(la.row) + " " +
               std::to_string(la.col) + " to " + std::to_string(lb.row) + " " + std::to_string(lb.col));
  const auto size = [](index_t rows, index_t cols, layout l) {
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * l.row + (cols - 1) * l.col + 1;
  };
  const auto a = random_values<T>(size(m, n, la), random);
  auto expected = random_values<T>(size(n, m, lb), random);
  const auto da = to_device(a), db = to_device(expected);
  queue q;
  transpose(q, matrix_view<const T>{da.data(), m, n, la.row, la.col},
            matrix_view<T>{db.data(), n, m, lb.row, lb.col});
  q.wait();
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) expected[j * lb.row + i * lb.col] = a[i * la.row + j * la.col];
  ASSERT_EQ(to_host(db), expected);
}

template <class T>
void test_layouts() {
  std::mt19937_64 random(fresh_seed());
  const std::pair<index_t, index_t> sizes[] = {{1, 1},    {1, 70},   {130, 1},   {64, 64},
                                               {65, 127}, {200, 33}, {203, 199}, {0, 5}};
  for (const auto& [m, n] : sizes) {
    const layout row{n + 3, 1}, col{1, m + 5}, loose{2 * n + 1, 2};
    const layout row_b{m, 1}, col_b{1, n + 2}, loose_b{3, 3 * n};
    for (const auto& la : {row, col, loose})
      for (const auto& lb : {row_b, col_b, loose_b}) test_transpose<T>(m, n, la, lb, random);
  }
}
TEST(Transpose, AllLayoutsOfFloat) { test_layouts<float>(); }
TEST(Transpose, AllLayoutsOfDouble) { test_layouts<double>(); }
TEST(Transpose, AllLayoutsOfChar) { test_layouts<unsigned char>(); }

struct pair_of_doubles {
  double re, im;
};
TEST(Transpose, ViewsOfAnyTriviallyCopyableType) {
  Kokkos::View<pair_of_doubles**, Kokkos::LayoutRight, default_execution_space> a("a", 40, 50);
  Kokkos::View<pair_of_doubles**, Kokkos::LayoutLeft, default_execution_space> left("left", 50, 40);
  Kokkos::View<pair_of_doubles**, Kokkos::LayoutRight, default_execution_space> right("right", 50, 40);
  auto h = Kokkos::create_mirror_view(a);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 50; ++j) h(i, j) = {1.0 * i, 1.0 * j};
  Kokkos::deep_copy(a, h);
  queue q;
  transpose(q, a, left);
  transpose(q, a, right).wait();
  const auto l = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), left);
  const auto r = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), right);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 50; ++j) {
      ASSERT_EQ(l(j, i).re, i);
      ASSERT_EQ(r(j, i).im, j);
    }
}

// Elements for which tiles have fewer rows, or none.
template <int Words>
struct words {
  int value[Words];
};
template <int Words>
void test_words() {
  const index_t m = 37, n = 71;
  Kokkos::View<words<Words>**, Kokkos::LayoutRight, default_execution_space> a("a", m, n), b("b", n, m);
  const auto h = Kokkos::create_mirror_view(a);
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j)
      for (int w = 0; w < Words; ++w) h(i, j).value[w] = int(i * 1000 + j * 10) + w;
  Kokkos::deep_copy(a, h);
  queue q;
  transpose(q, a, b).wait();
  const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j)
      for (int w = 0; w < Words; ++w) ASSERT_EQ(got(j, i).value[w], h(i, j).value[w]) << i << ' ' << j;
}
TEST(Transpose, ElementsOfManyBytes) {
  test_words<3>();
  test_words<8>();
  test_words<9>();
  test_words<32>();
  test_words<33>();
}

TEST(Transpose, RefusesWhatItCannotDo) {
  device_view<float*> memory("m", 200);
  queue q;
  float* const p = memory.data();
  const auto a = matrix_view<const float>::row_major(p, 5, 7);
  expect_words(refusal([&] { transpose(q, a, matrix_view<float>::row_major(p + 100, 5, 7)); }),
               {"keramos::transpose", "B is 5x7", "must be 7x5"});
  expect_words(refusal([&] { transpose(q, a, matrix_view<float>::row_major(p + 30, 7, 5)); }),
               {"B (7x5) overlaps A (5x7)"});
  expect_words(refusal([&] { transpose(q, a, matrix_view<float>::row_major(nullptr, 7, 5)); }),
               {"B is 7x5", "null"});
  expect_words(refusal([&] {
                 transpose(q, a, matrix_view<float>{p + 100, 7, 5, 1, 2});
               }),
               {"B has strides 1x2", "share memory"});
}

}  // namespace
