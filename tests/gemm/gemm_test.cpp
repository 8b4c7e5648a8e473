// What GEMM promises, on the backend chosen when configuring.
#include "gemm_case.hpp"
#include "ops_and_layouts.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
class Gemm : public testing::Test {};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(Gemm, types);

constexpr layout layouts[] = {layout::right, layout::left, layout::strided};
constexpr op ops[] = {op::N, op::T};

TYPED_TEST(Gemm, EveryOpAndLayoutInAnyMix) {
  std::uint64_t seed = fresh_seed();
  for_ops_and_layouts([&](op op_a, op op_b, layout a, layout b, layout c) {
    ASSERT_TRUE(run<TypeParam>({37, 45, 29, op_a, op_b, a, b, c, 3, 5, 1.5, 0.5}, seed++));
  });
}

TYPED_TEST(Gemm, RandomShapes) {
  std::uint64_t seed = fresh_seed();
  std::mt19937_64 rng(seed);
  const auto pick = [&](auto&... choice) {
    const index_t list[] = {choice...};
    return list[rng() % sizeof...(choice)];
  };
  const double scalars[] = {1, 0, -1, 2.5, -3};
  for (int i = 0; i < 120; ++i) {
    const index_t small = 1 + rng() % 20, medium = 1 + rng() % 150, large = 1 + rng() % 400;
    gemm_case g{pick(small, medium, medium, large), pick(small, medium, medium, large),
                pick(small, medium, medium, large)};
    g.op_a = ops[rng() % 2], g.op_b = rng() % 2 ? op::C : op::N;
    g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
    g.gap = rng() % 5, g.offset = rng() % 4;
    g.alpha = scalars[rng() % 5], g.beta = scalars[rng() % 5];
    ASSERT_TRUE(run<TypeParam>(g, seed + i));
  }
}

// Around the extents of tiles and vectors, where masks begin and end.
TYPED_TEST(Gemm, EdgesOfTiles) {
  std::uint64_t seed = fresh_seed();
  for (index_t size : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257}) {
    ASSERT_TRUE(run<TypeParam>({size, 33, 17}, seed++));
    ASSERT_TRUE(run<TypeParam>({33, size, 17}, seed++));
    ASSERT_TRUE(run<TypeParam>({33, 17, size}, seed++));
    ASSERT_TRUE(run<TypeParam>({size, size, size, op::T, op::N}, seed++));
  }
}

TYPED_TEST(Gemm, ManySlabsAndTiles) {
  std::uint64_t seed = fresh_seed();
  ASSERT_TRUE(run<TypeParam>({65, 70, 1500}, seed++));
  ASSERT_TRUE(run<TypeParam>({500, 620, 40, op::N, op::T}, seed++));
  ASSERT_TRUE(run<TypeParam>({256, 256, 256, op::T, op::T, layout::left}, seed++));
  ASSERT_TRUE(run<TypeParam>({400, 500, 600, op::T, op::N}, seed++));
}

// Few rows, columns or products an element: the shapes that have kernels of their own.
TYPED_TEST(Gemm, Skinny) {
  std::uint64_t seed = fresh_seed();
  for (op op_a : ops)
    for (op op_b : ops)
      for (layout c : {layout::right, layout::left})
        for (index_t few : {1, 2, 4, 6, 13}) {
          ASSERT_TRUE(run<TypeParam>({few, 700, 530, op_a, op_b, layout::right, layout::right, c}, seed++));
          ASSERT_TRUE(run<TypeParam>({700, few, 530, op_a, op_b, layout::right, layout::right, c}, seed++));
          ASSERT_TRUE(run<TypeParam>({300, 400, few, op_a, op_b, layout::right, layout::right, c}, seed++));
        }
  // More than a block of k, with C added to.
  for (op op_b : ops) {
    ASSERT_TRUE(run<TypeParam>(
        {3, 5, 5000, op::N, op_b, layout::right, layout::right, layout::right, 2, 1, 1.5, 0.5}, seed++));
    ASSERT_TRUE(run<TypeParam>(
        {20, 90, 3000, op::N, op_b, layout::right, layout::right, layout::right, 2, 1, 1.5, 0.5}, seed++));
  }
}

TYPED_TEST(Gemm, EmptyExtents) {
  std::uint64_t seed = fresh_seed();
  ASSERT_TRUE(run<TypeParam>({0, 5, 3}, seed));
  ASSERT_TRUE(run<TypeParam>({5, 0, 3}, seed));
  ASSERT_TRUE(run<TypeParam>({0, 0, 0}, seed));
  // k = 0: an empty sum, so C = beta·C, and C = 0 where beta is 0.
  ASSERT_TRUE(
      run<TypeParam>({5, 7, 0, op::N, op::N, layout::right, layout::right, layout::left, 2, 1, 1, 3}, seed));
  ASSERT_TRUE(run<TypeParam>({5, 7, 0}, seed));
}

// C is poisoned with NaN unless beta asks for it, and A and B unless alpha does.
TYPED_TEST(Gemm, BetaZeroDoesNotReadCAndAlphaZeroDoesNotReadAOrB) {
  std::uint64_t seed = fresh_seed();
  for (layout c : layouts) {
    gemm_case g{40, 50, 30};
    g.c = c;
    ASSERT_TRUE(run<TypeParam>(g, seed++));
    g.alpha = 0;
    ASSERT_TRUE(run<TypeParam>(g, seed++));
    g.beta = 2;
    ASSERT_TRUE(run<TypeParam>(g, seed++));
    g.beta = 1;
    ASSERT_TRUE(run<TypeParam>(g, seed++));
  }
}

TEST(GemmInt32, IsExact) {
  using view = Kokkos::View<std::int32_t**, default_execution_space>;
  const int m = 200, k = 400, n = 500;
  view a("a", m, k), b("b", k, n), c("c", m, n);
  auto ah = Kokkos::create_mirror_view(a);
  auto bh = Kokkos::create_mirror_view(b);
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p) ah(i, p) = i + p;
  for (int p = 0; p < k; ++p)
    for (int j = 0; j < n; ++j) bh(p, j) = p + j;
  Kokkos::deep_copy(a, ah), Kokkos::deep_copy(b, bh);
  queue q;
  gemm(q, 1, a, b, 0, c);
  q.wait();
  auto ch = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      // Σ (i + p)(p + j) over p < k, in closed form.
      const long s1 = long(k) * (k - 1) / 2, s2 = long(k - 1) * k * (2 * k - 1) / 6;
      ASSERT_EQ(ch(i, j), k * i * j + (i + j) * s1 + s2) << i << ' ' << j;
    }
}

template <class T>
class GemmFloating : public testing::Test {};
using floating_types = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmFloating, floating_types);

// One NaN in A spoils its row, one infinity in B its column, and nothing else.
TYPED_TEST(GemmFloating, NaNAndInfinityPropagate) {
  using limits = std::numeric_limits<TypeParam>;
  const index_t n = 70;
  stored_matrix<TypeParam> a(n, n, layout::right, 0, 0), b(n, n, layout::left, 0, 0),
      c(n, n, layout::right, 0, 0);
  a.fill_all([] { return TypeParam(1); }), b.fill_all([] { return TypeParam(2); });
  a.at(13, n - 1) = limits::quiet_NaN();
  b.at(n - 1, 41) = limits::infinity();
  a.upload(), b.upload();
  queue q;
  gemm(q, 1, a.view, b.view, 0, c.view);
  q.wait();
  c.download();
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) {
      if (i == 13)
        ASSERT_TRUE(std::isnan(c.at(i, j)));
      else if (j == 41)
        ASSERT_EQ(c.at(i, j), limits::infinity());
      else
        ASSERT_EQ(c.at(i, j), TypeParam(2 * n));
    }
}

// Views as applications have them: layouts, sub-views, const, and scalars of another type.
TYPED_TEST(GemmFloating, TakesKokkosViews) {
  using T = TypeParam;
  const int m = 20, n = 31, k = 27;
  Kokkos::View<T**, Kokkos::LayoutLeft, default_execution_space> whole("whole", 2 * m, k + 9);
  Kokkos::View<T**, Kokkos::LayoutRight, default_execution_space> b("b", n, k), c("c", m + 3, n + 5);
  Kokkos::deep_copy(whole, T(0.5)), Kokkos::deep_copy(b, T(2)), Kokkos::deep_copy(c, T(-7));
  Kokkos::View<const T**, Kokkos::LayoutRight, default_execution_space> b_const = b;
  auto a_part = Kokkos::subview(whole, std::make_pair(3, 3 + m), std::make_pair(4, 4 + k));
  auto c_part = Kokkos::subview(c, std::make_pair(1, 1 + m), std::make_pair(2, 2 + n));
  queue q;
  const event done = gemm(q, 2, a_part, b_const, 1.0f, c_part, {.op_b = op::T});
  done.wait();
  auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (int i = 0; i < m + 3; ++i)
    for (int j = 0; j < n + 5; ++j) {
      const bool inside = i >= 1 && i < 1 + m && j >= 2 && j < 2 + n;
      ASSERT_EQ(h(i, j), inside ? T(2 * k - 7) : T(-7)) << i << ' ' << j;
    }
}

// Element offsets beyond 2^31; hosts give such memory without backing it.
TEST(GemmOffsets, Are64Bit) {
  const index_t far = (index_t(1) << 31) + 11;
  const std::size_t bytes = sizeof(float) * std::size_t(2 * far + 4);
  float* memory = nullptr;
  try {
    memory = static_cast<float*>(Kokkos::kokkos_malloc<default_execution_space::memory_space>(bytes));
  } catch (const std::exception&) {
  }
  if (!memory) GTEST_SKIP() << "no " << bytes << " bytes to be had";
  using row = Kokkos::View<float*, default_execution_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto corner = [&](index_t offset) { return row(memory + offset, 2); };
  // A, B and C interleaved as 2 x 2 blocks of rows that lie `far` apart would overlap as a whole; each
  // operand has its own two columns instead.
  const matrix_view<float> a{memory, 2, 2, far, 1}, c{memory + 2, 2, 2, far, 1};
  Kokkos::View<float**, default_execution_space> b("b", 2, 2);
  Kokkos::deep_copy(b, 3.0f);
  Kokkos::deep_copy(corner(0), 1.0f), Kokkos::deep_copy(corner(far), 2.0f);
  queue q;
  gemm(q, 1, a, b, 0, c);
  q.wait();
  float out[2][2];
  using host_row = Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::deep_copy(host_row(out[0], 2), corner(2)), Kokkos::deep_copy(host_row(out[1], 2), corner(far + 2));
  for (float x : out[0]) EXPECT_EQ(x, 6);
  for (float x : out[1]) EXPECT_EQ(x, 12);
  Kokkos::kokkos_free<default_execution_space::memory_space>(memory);
}

float element_of_a(index_t i, index_t p) { return float((i * 3 + p * 5) % 7 - 3); }
float element_of_b(index_t p, index_t j) { return float((p * 2 + j * 3) % 5 - 2); }
void put(queue& q, const Kokkos::View<const float**, default_execution_space>& from,
         const matrix_view<float>& to) {
  q.parallel_for(
      "put", range{to.rows, to.cols}, KERAMOS_LAMBDA(id<2> i) { to(i[0], i[1]) = from(i[0], i[1]); });
}
void get(queue& q, const matrix_view<float>& from, const Kokkos::View<float**, default_execution_space>& to) {
  q.parallel_for(
      "get", range{from.rows, from.cols}, KERAMOS_LAMBDA(id<2> i) { to(i[0], i[1]) = from(i[0], i[1]); });
}
// The same of products that are packed and tiled, and of algorithms. Rows, or columns, are far apart.
TEST(GemmOffsets, OfManyRowsAre64Bit) {
  const index_t m = 130, n = 120, k = 110, far = index_t(1) << 25;
  const std::size_t bytes = sizeof(float) * std::size_t(m * far);
  float* memory = nullptr;
  try {
    memory = static_cast<float*>(Kokkos::kokkos_malloc<default_execution_space::memory_space>(bytes));
  } catch (const std::exception&) {
  }
  if (!memory) GTEST_SKIP() << "no " << bytes << " bytes to be had";
  Kokkos::View<float**, default_execution_space> a("a", m, k), b("b", k, n), c("c", m, n);
  const auto ha = Kokkos::create_mirror_view(a);
  const auto hb = Kokkos::create_mirror_view(b);
  for (index_t i = 0; i < m; ++i)
    for (index_t p = 0; p < k; ++p) ha(i, p) = element_of_a(i, p);
  for (index_t p = 0; p < k; ++p)
    for (index_t j = 0; j < n; ++j) hb(p, j) = element_of_b(p, j);
  Kokkos::deep_copy(a, ha), Kokkos::deep_copy(b, hb);
  const auto view = [&](index_t first, index_t rows, index_t cols, bool by_columns) {
    return by_columns ? matrix_view<float>{memory + first, rows, cols, 1, far}
                      : matrix_view<float>{memory + first, rows, cols, far, 1};
  };
  const bool on_sycl = std::string(backend::traits<default_execution_space>::name) == "sycl";
  queue q;
  for (int layouts = 0; layouts < 8; ++layouts)
    for (const bool tiled : {false, true}) {
      const auto far_a = view(0, m, k, (layouts & 1) != 0), far_b = view(256, k, n, (layouts & 2) != 0),
                 far_c = view(512, m, n, (layouts & 4) != 0);
      put(q, a, far_a), put(q, b, far_b), put(q, c, far_c);
      gemm_options options;
      if (tiled) options.block = tiling::shape{64, 64, on_sycl ? 8 : 16};  // which GPUs have in their tables
      gemm(q, 1, far_a, far_b, 0, far_c, options);
      get(q, far_c, c);
      q.wait();
      const auto hc = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
      for (index_t i = 0; i < m; ++i)
        for (index_t j = 0; j < n; ++j) {
          float sum = 0;
          for (index_t p = 0; p < k; ++p) sum += ha(i, p) * hb(p, j);
          ASSERT_EQ(hc(i, j), sum) << i << ' ' << j << " layouts " << layouts << " tiled " << tiled;
        }
    }

  // Vectors of the first column of A, whose elements are as far apart.
  const grid_view<float, 1> x{memory, {m}, {far}}, y{memory + 512, {m}, {far}};
  put(q, a, view(0, m, k, false));
  Kokkos::View<float, default_execution_space> sum("sum");
  reduce(q, x, sum);
  inclusive_scan(q, x, y);
  Kokkos::View<float**, default_execution_space> sums("sums", m, 1);
  get(q, view(512, m, 1, false), sums);
  q.wait();
  float all = 0;
  for (index_t i = 0; i < m; ++i) all += ha(i, 0);
  EXPECT_EQ(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum)(), all);
  EXPECT_EQ(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums)(m - 1, 0), all);
  Kokkos::kokkos_free<default_execution_space::memory_space>(memory);
}

std::vector<std::string> seen_labels;
void note_label(const char* label, std::uint32_t, std::uint64_t*) { seen_labels.push_back(label); }

// Kokkos Tools see every kernel of GEMM by a name of Keramos', small problems included.
TEST(GemmLabels, AreVisibleToKokkosTools) {
  namespace tools = Kokkos::Tools::Experimental;
  Kokkos::View<float**, default_execution_space> a("a", 600, 600), c("c", 600, 600);
  queue q;
  for (int size : {8, 600}) {
    const auto part = std::make_pair(0, size);
    seen_labels.clear();
    tools::set_begin_parallel_for_callback(note_label);
    gemm(q, 1, Kokkos::subview(a, part, part), Kokkos::subview(a, part, part), 0,
         Kokkos::subview(c, part, part));
    gemm(q, 0, Kokkos::subview(a, part, part), Kokkos::subview(a, part, part), 2,
         Kokkos::subview(c, part, part));
    q.wait();
    tools::set_begin_parallel_for_callback(nullptr);
    ASSERT_GE(seen_labels.size(), 2u) << size;
    for (const std::string& label : seen_labels) EXPECT_EQ(label.find("keramos::gemm"), 0u) << label;
  }
}

// On a device the call comes back long before the work is done.
TEST(GemmAsynchrony, NothingFences) {
  if (backend::traits<default_execution_space>::is_host) GTEST_SKIP() << "host backends run at the call";
  const int n = 4096;
  Kokkos::View<float**, default_execution_space> a("a", n, n), b("b", n, n), c("c", n, n);
  queue q;
  gemm(q, 1, a, b, 0, c).wait();
  event last = q.mark();
  for (int i = 0; i < 20; ++i) last = gemm(q, 1, a, b, 0, c);
  EXPECT_FALSE(last.is_complete());
  q.wait();
  EXPECT_TRUE(last.is_complete());
}

}  // namespace
