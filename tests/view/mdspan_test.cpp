// mdspans go in where Views do and come out over the same memory: Kokkos' own where it brings one, else what
// Keramos asks of one (the standard's comes with C++23).
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <keramos/keramos.hpp>

#if __has_include(<mdspan/mdspan.hpp>)
#include <mdspan/mdspan.hpp>
#endif

namespace {

using namespace keramos;

#if __has_include(<mdspan/mdspan.hpp>)
template <class T>
using strided_matrix = Kokkos::mdspan<T, Kokkos::dextents<std::size_t, 2>, Kokkos::layout_stride>;
template <class T>
strided_matrix<T> make_strided(T* data, std::array<std::size_t, 2> extent,
                               std::array<std::size_t, 2> stride) {
  return {data, Kokkos::layout_stride::mapping<Kokkos::dextents<std::size_t, 2>>(
                    Kokkos::dextents<std::size_t, 2>(extent), stride)};
}
template <class T>
using row_major_matrix = Kokkos::mdspan<T, Kokkos::dextents<std::size_t, 2>>;
#else
template <class T>
struct strided_matrix {
  using element_type = T;
  T* data;
  std::array<std::size_t, 2> extents, strides;
  static constexpr std::size_t rank() { return 2; }
  T* data_handle() const { return data; }
  std::size_t extent(std::size_t d) const { return extents[d]; }
  std::size_t stride(std::size_t d) const { return strides[d]; }
};
template <class T>
strided_matrix<T> make_strided(T* data, std::array<std::size_t, 2> extent,
                               std::array<std::size_t, 2> stride) {
  return {data, extent, stride};
}
template <class T>
struct row_major_matrix : strided_matrix<T> {
  row_major_matrix(T* data, std::size_t rows, std::size_t columns)
      : strided_matrix<T>{data, {rows, columns}, {columns, 1}} {}
};
#endif

template <class T>
using device_view = Kokkos::View<T*, default_execution_space>;

device_view<double> numbers(const std::string& label, int count) {
  device_view<double> v(label, count);
  const auto h = Kokkos::create_mirror_view(v);
  for (int i = 0; i < count; ++i) h(i) = i % 7 - 3;
  Kokkos::deep_copy(v, h);
  return v;
}

/// As std::linalg::conjugated gives it: what it points at is not what it has.
struct conjugated : strided_matrix<float> {
  using element_type = float;
  using reference = const float;
};
static_assert(matrix_like<strided_matrix<float>> && grid_like<strided_matrix<float>, 2>);
static_assert(!matrix_like<conjugated> && !grid_like<conjugated, 2>);

TEST(Mdspan, StridesAreTaken) {
  std::vector<float> memory(200);
  const auto m = make_strided(memory.data(), {5, 6}, {2, 13});
  const auto view = as_matrix(m);
  EXPECT_EQ(&view(3, 4), memory.data() + 3 * 2 + 4 * 13);
  EXPECT_EQ(view.rows, 5);
  EXPECT_EQ(view.cols, 6);
  const auto g = as_grid<2>(m);
  EXPECT_EQ(g.data, memory.data());
  EXPECT_EQ(g.extent[1], 6);
  EXPECT_EQ(g.stride[0], 2);
  EXPECT_EQ(g.stride[1], 13);
}

TEST(Mdspan, GoIntoAMatrixProduct) {
  constexpr std::size_t m = 13, n = 9, k = 20;
  const auto a = numbers("a", 1000), b = numbers("b", 1000), c = numbers("c", 1000);
  queue q;
  gemm(q, 1.0, make_strided<const double>(a.data(), {m, k}, {k + 3, 1}),
       make_strided<const double>(b.data(), {k, n}, {2, 2 * k}), 0.0,
       row_major_matrix<double>(c.data(), m, n))
      .wait();
  const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  const auto value = [](std::size_t i) { return int(i % 7) - 3; };
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      int sum = 0;
      for (std::size_t p = 0; p < k; ++p) sum += value(i * (k + 3) + p) * value(2 * p + 2 * k * j);
      ASSERT_EQ(h(i * n + j), sum) << i << ' ' << j;
    }
  EXPECT_EQ(h(m * n), value(m * n));
}

TEST(Mdspan, GoIntoAlgorithms) {
  constexpr std::size_t rows = 40, cols = 33;
  const auto a = numbers("a", rows * cols), b = numbers("b", rows * cols);
  queue q;
  transpose(q, row_major_matrix<const double>(a.data(), rows, cols),
            row_major_matrix<double>(b.data(), cols, rows))
      .wait();
  const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) ASSERT_EQ(h(j * rows + i), int((i * cols + j) % 7) - 3);
}

void number(queue& q, accessor<int, 2, access_mode::write> a) {
  q.parallel_for(
      "number", range{a.get_range(0), a.get_range(1)},
      KERAMOS_LAMBDA(id<2> i) { a[i] = int(10 * i[0] + i[1]); });
}
TEST(Mdspan, BuffersAreMadeOfThemAndGiveThem) {
  std::vector<int> memory(12);
  queue q;
  {
    buffer<int, 2> x(row_major_matrix<int>(memory.data(), 3, 4));
    number(q, accessor(x, q, write_only));
    const auto out = as_mdspan<row_major_matrix<int>>(x.view());
    EXPECT_EQ(out.data_handle(), x.view().data());
    EXPECT_EQ(out.extent(1), 4u);
    EXPECT_EQ(out.stride(0), 4u);
  }
  EXPECT_EQ(memory[2 * 4 + 3], 23);
}

}  // namespace
