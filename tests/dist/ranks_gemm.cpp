// dist::gemm against the plain product.
#include "ranks.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
T conjugate_if(bool is_wanted, T x) {
  if constexpr (complex_like<T>) return is_wanted ? T(x.real(), -x.imag()) : x;
  return x;
}

struct problem {
  index_t m, n, k;
  op op_a, op_b;
  int alpha, beta;

  static problem random(index_t limit) {
    const auto extent = [&] { return pick(6) == 0 ? index_t(pick(2)) : 1 + index_t(pick(int(limit))); };
    const op ops[] = {op::N, op::T, op::C};
    return {extent(), extent(), extent(), ops[pick(3)], ops[pick(3)], pick(6) ? 1 + pick(2) : 0, pick(3)};
  }
  dist::layout layout_a(int ranks) const {
    return op_a == op::N ? random_layout(m, k, ranks) : random_layout(k, m, ranks);
  }
  dist::layout layout_b(int ranks) const {
    return op_b == op::N ? random_layout(k, n, ranks) : random_layout(n, k, ranks);
  }
};
std::ostream& operator<<(std::ostream& out, const problem& p) {
  return out << p.m << "x" << p.n << "x" << p.k << " " << char(p.op_a) << char(p.op_b) << " " << p.alpha
             << " " << p.beta;
}

/// One product; every byte that this rank has is as it must be afterwards. Sum: what the plain product is summed in.
template <class A, class B, class C, class Sum>
void run_case(const problem& p, dist::communicator& comm, dist::gemm_options options = {}) {
  std::mt19937 own(unsigned(comm.rank()) + shared_random()());
  known_matrix<A> a(p.layout_a(comm.size()), shared_random()(), comm.rank(), own);
  known_matrix<B> b(p.layout_b(comm.size()), shared_random()(), comm.rank(), own);
  known_matrix<C> c(random_layout(p.m, p.n, comm.size()), shared_random()(), comm.rank(), own);
  SCOPED_TRACE(testing::Message() << p << " on rank " << comm.rank() << " of " << comm.size()
                                  << "\nA: " << a.layout.to_string() << "\nB: " << b.layout.to_string()
                                  << "\nC: " << c.layout.to_string());
  auto expected = c;
  expected.each_own(comm.rank(), [&](index_t i, index_t j, C& x) {
    Sum sum(0);
    for (index_t l = 0; l < p.k; ++l)
      sum = sum + Sum(conjugate_if(p.op_a == op::C, p.op_a == op::N ? a.at(i, l) : a.at(l, i))) *
                      Sum(conjugate_if(p.op_b == op::C, p.op_b == op::N ? b.at(l, j) : b.at(j, l)));
    x = static_cast<C>(Sum(float(p.alpha)) * sum + Sum(float(p.beta)) * Sum(c.at(i, j)));
  });
  options.op_a = p.op_a, options.op_b = p.op_b;
  const auto report = dist::gemm(comm, p.alpha, a.template get<const A>(), b.get(), p.beta, c.get(), options);
  c.fetch();
  EXPECT_EQ(c.storage.size(), expected.storage.size());
  index_t wrong = 0;
  for (std::size_t i = 0; i < c.storage.size(); ++i) wrong += !(c.storage[i] == expected.storage[i]);
  EXPECT_EQ(wrong, 0);
  if (p.alpha != 0 && p.m * p.n * p.k > 0) {
    EXPECT_EQ(report.panel_bytes, report.schedule.panel_bytes(comm.rank()));
    EXPECT_EQ(report.sum_bytes, report.schedule.sum_bytes(comm.rank()));
    const dist::operand_layouts where{p.op_a == op::N ? a.layout : a.layout.transposed(),
                                      p.op_b == op::N ? b.layout : b.layout.transposed(), c.layout};
    const auto counted = traffic_of(report.schedule, where)[std::size_t(comm.rank())];
    EXPECT_EQ(report.redistributed_bytes, counted.redistributed);
    EXPECT_EQ(report.redistributed_bytes + report.panel_bytes + report.sum_bytes, counted.received);
    EXPECT_LE(report.memory, options.memory);
  } else {
    EXPECT_EQ(report.panel_bytes + report.sum_bytes + report.redistributed_bytes, 0);
  }
}

template <class A, class B, class C, class Sum>
void run_cases(int count, index_t limit) {
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i)
    run_case<A, B, C, Sum>(problem::random(limit), world());
}

TEST(DistGemm, Double) { run_cases<double, double, double, double>(12, 60); }
TEST(DistGemm, Float) { run_cases<float, float, float, float>(6, 60); }
TEST(DistGemm, ComplexDouble) {
  run_cases<std::complex<double>, std::complex<double>, std::complex<double>, std::complex<double>>(8, 40);
}
TEST(DistGemm, HalfIsSummedInFloat) { run_cases<float16, float16, float16, float>(6, 40); }
TEST(DistGemm, BytesIntoIntegers) { run_cases<std::int8_t, std::int8_t, std::int32_t, std::int32_t>(6, 60); }

TEST(DistGemm, Emulated) {
  dist::gemm_options options;
  options.compute = gemm_compute::f32_emulated;
  run_case<float, float, float, float>(problem::random(60), world(), options);
  options.compute = gemm_compute::f64_emulated;
  run_case<double, double, double, double>(problem::random(60), world(), options);
}

TEST(DistGemm, VectorsAndThinMatrices) {
  for (const auto& [m, n, k] :
       {std::array<index_t, 3>{1, 90, 70}, {90, 1, 70}, {1, 1, 200}, {80, 70, 1}, {2, 300, 3}, {1, 1, 1}})
    run_case<double, double, double, double>({m, n, k, op::N, op::T, 1, 1}, world());
}

/// Lines dealt out to `parts` in some way, or not.
dist::dealt_blocks random_blocks(index_t extent, int parts) {
  if (pick(3) == 0) return {};
  return {1 + pick(int(extent)), 1 + pick(int(extent)), pick(parts)};
}

// Every grid, steps that do not divide k, parts of k without columns in the last step, one step with some rows and columns first,
// places on any ranks, and parts dealt out in any blocks, also parts without lines.
TEST(DistGemm, AnyScheduleThatFits) {
  const int ranks = world().size();
  for (int pm = 1; pm <= ranks; ++pm)
    for (int pn = 1; pm * pn <= ranks; ++pn) {
      const int pk = 1 + pick(ranks / (pm * pn));
      dist::schedule s{17, 18, 33, ranks, {}, pm, pn, pk, 1 + pick(9), pick(4)};
      if (pk == 1) {
        s.row_blocks = random_blocks(s.m, pm), s.col_blocks = random_blocks(s.n, pn);
        s.a_blocks = random_blocks(s.k, pn), s.b_blocks = random_blocks(s.k, pm);
      }
      if (pick(2)) {
        for (int rank = 0; rank < ranks; ++rank) s.ranks_of_places.push_back(rank);
        std::shuffle(s.ranks_of_places.begin(), s.ranks_of_places.end(), shared_random());
        s.ranks_of_places.resize(std::size_t(s.places()));
      }
      if (pick(3) == 0) s.step = (s.k + pk - 1) / pk, s.first_step = 0, s.first_sixteenths = pick(16);
      if (pm > s.m || pn > s.n) continue;
      dist::gemm_options options;
      options.schedule = s;
      run_case<double, double, double, double>({17, 18, 33, op::N, op::N, 2, 1}, world(), options);
      if (HasFailure()) return;
    }
}

// On a grid that fits the matrices, which lie in blocks as ScaLAPACK has them, nothing but panels is sent.
TEST(DistGemm, BlocksStayWhereTheyAre) {
  const int ranks = world().size();
  const index_t m = 60, n = 70, k = 80;
  for (int rows = 1; rows <= ranks; ++rows) {
    if (ranks % rows) continue;
    const dist::process_grid grid{rows, ranks / rows, dist::process_grid::order::column_major};
    const int row_source = pick(grid.rows), col_source = pick(grid.cols);
    const auto blocks = [&](index_t r, index_t c, index_t row_block, index_t col_block) {
      return dist::layout(dist::block_cyclic{r, c, row_block, col_block, grid, row_source, col_source});
    };
    const dist::operand_layouts where{blocks(m, k, 3, 5), blocks(k, n, 2, 4), blocks(m, n, 3, 4)};
    const auto in_blocks = [](int parts, index_t block) {
      return parts > 1 ? dist::dealt_blocks{block, block} : dist::dealt_blocks{};
    };
    dist::schedule s{m, n, k, ranks, {}, grid.rows, grid.cols, 1, 20};
    s.row_blocks = in_blocks(s.pm, 3), s.col_blocks = in_blocks(s.pn, 4);
    s.a_blocks = in_blocks(s.pn, 5), s.b_blocks = in_blocks(s.pm, 2);
    for (int im = 0; im < s.pm; ++im)
      for (int in = 0; in < s.pn; ++in)
        s.ranks_of_places.push_back(
            grid.rank_of((im + row_source) % grid.rows, (in + col_source) % grid.cols));
    std::mt19937 own(1);
    known_matrix<double> a(where.a, 1, world().rank(), own), b(where.b, 2, world().rank(), own);
    known_matrix<double> c(where.c, 3, world().rank(), own);
    dist::gemm_options options;
    options.schedule = s;
    const auto report = dist::gemm(world(), 1, a.get(), b.get(), 0, c.get(), options);
    EXPECT_EQ(report.redistributed_bytes, 0) << s.to_string();
    EXPECT_EQ(report.panel_bytes, s.panel_bytes(world().rank())) << s.to_string();
  }
}

TEST(DistGemm, LittleMemoryIsEnough) {
  const problem p{60, 70, 80, op::T, op::N, 1, 1};
  dist::gemm_options options;
  const std::string refused = message_of<memory_error>([&] {
    options.memory = 1;
    run_case<double, double, double, double>(p, world(), options);
  });
  const std::size_t at = refused.find("needs ");
  ASSERT_NE(at, std::string::npos) << refused;
  options.memory = std::stoll(refused.substr(at + 6));
  run_case<double, double, double, double>(p, world(), options);
}

TEST(DistGemm, LongMessagesAreCut) {
  dist::communicator cut(world().mpi(), {.longest_message = 100, .transport = dist::transport_kind::staged});
  run_case<double, double, double, double>({50, 40, 90, op::N, op::N, 1, 0}, cut);
}

TEST(DistGemm, ThroughTheHostsMemory) {
  dist::communicator staged(world().mpi(), {.transport = dist::transport_kind::staged});
  EXPECT_EQ(staged.transport().name(), "MPI through the host's memory");
  for (int i = 0; i < 5 && !HasFailure(); ++i)
    run_case<double, double, double, double>(problem::random(60), staged);
}

// Operands that lie as the schedule wants them are neither sent nor copied, and give the same bits as others.
TEST(DistGemm, OperandsWhereTheScheduleWantsThem) {
  const index_t m = 130, n = 140, k = 150;
  const auto s = dist::choose_schedule(m, n, k, world().size());
  const int rank = world().rank();
  std::mt19937 own(1);
  known_matrix<double> a(s.layout_a(), 1, rank, own), b(s.layout_b(), 2, rank, own);
  known_matrix<double> c(s.layout_sums(), 3, rank, own), other_c = c;
  const auto irrational = [&](known_matrix<double>& x) {
    x.each_own(rank, [](index_t i, index_t j, double& e) { e = std::sin(double(i * 37 + j * 101)); });
  };
  irrational(a), irrational(b);
  dist::gemm_options options;
  options.schedule = s;
  const auto copied = dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get(), options);
  c.fetch();
  // The same with the strides of the schedule's own copies.
  const auto packed = [&](known_matrix<double>& x, bool by_columns) {
    x.where.size = 0;
    for (auto& w : x.where.parts) {
      const auto e = x.layout.part_extents(rank);
      w = {0, by_columns ? 1 : e.cols, by_columns ? e.rows : 1, e.rows, e.cols};
      x.where.size = e.rows * e.cols;
    }
    x.storage.assign(std::size_t(x.where.size), 0);
    irrational(x);
  };
  packed(a, true), packed(b, false);
  const auto in_place = dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, other_c.get(), options);
  other_c.fetch();
  EXPECT_EQ(copied.redistributed_bytes + in_place.redistributed_bytes, 0);
  EXPECT_TRUE(c.storage == other_c.storage);
  const index_t operands = index_t((a.storage.size() + b.storage.size()) * sizeof(double));
  EXPECT_LE(in_place.memory, copied.memory - (s.pk == 1 ? operands : 0));
}

// Products are written where C lies by devices, which keep no sums then: in one step, or in several if C is of the type of sums.
// Not where C overlaps A, which is read before.
template <class T, class Sum>
void run_written_where_c_lies(index_t k) {
  const int ranks = world().size(), rank = world().rank();
  const index_t m = index_t(32) * ranks, n = 24;
  const dist::layout rows = dist::block_cyclic{m, n, 32, n, {ranks, 1}};
  const dist::layout rows_of_a = dist::block_cyclic{m, k, 32, k, {ranks, 1}};
  std::mt19937 own(unsigned(rank) + shared_random()());
  known_matrix<T> a(rows_of_a, 1, rank, own), b(dist::layout::on_rank(k, n), 2, rank, own),
      c(rows, 3, rank, own);
  const auto expect = [&](known_matrix<T>& got, const known_matrix<T>& before, int alpha, int beta) {
    auto expected = before;
    expected.each_own(rank, [&](index_t i, index_t j, T& x) {
      Sum sum(0);
      for (index_t l = 0; l < k; ++l) sum += Sum(a.at(i, l)) * Sum(b.at(l, j));
      x = T(Sum(alpha) * sum + Sum(beta) * Sum(before.at(i, j)));
    });
    got.fetch();
    EXPECT_TRUE(got.storage == expected.storage) << rows.to_string();
  };
  dist::gemm_options options;
  auto given = c;
  const auto once = dist::gemm(world(), 2, a.get(), b.get(), 1, c.get());
  expect(c, known_matrix<T>(given), 2, 1);
  options.schedule = once.schedule;
  const auto by_sums = dist::gemm(world(), 2, a.get(), b.get(), 1, given.get(), options);
  EXPECT_TRUE((given.fetch(), given.storage == c.storage));
  if (backend::traits<default_execution_space>::is_host)
    EXPECT_EQ(once.memory, by_sums.memory);
  else
    EXPECT_LT(once.memory, by_sums.memory);
  if (k > n) {
    EXPECT_TRUE(ranks == 1 || once.schedule.steps() > 1) << once.schedule.to_string();
    return;
  }

  const auto before = a;
  const auto same = a.get();
  dist::gemm(world(), 1, same, b.get(), 0, same);
  expect(a, before, 1, 0);
}
TEST(DistGemm, IsWrittenWhereCLies) {
  run_written_where_c_lies<double, double>(24);
  run_written_where_c_lies<float16, float>(24);
  run_written_where_c_lies<double, double>(20000);
}

TEST(DistGemm, BetaOfZeroReadsNoNaN) {
  const auto layout = dist::layout(dist::block_cyclic{20, 20, 3, 3, {1, world().size()}});
  const auto e = layout.part_extents(world().rank());
  for (const double alpha : {0., 1.})
    for (const index_t k : {0, 9}) {
      const device_memory<double> c(std::vector<double>(std::size_t(e.rows * e.cols), std::nan(""))),
          a(std::vector<double>(180, alpha == 0 ? std::nan("") : 1));
      const auto row_of = dist::layout::on_rank(20, k), col_of = dist::layout::on_rank(k, 20);
      const dist::matrix C(layout, matrix_view<double>::column_major(c.data(), e.rows, e.cols));
      dist::gemm(world(), alpha, dist::matrix(row_of, matrix_view<double>::row_major(a.data(), 20, k)),
                 dist::matrix(col_of, matrix_view<double>::row_major(a.data(), k, 20)), 0, C);
      for (const double x : c.get()) ASSERT_EQ(x, alpha * double(k));
    }
}

// Sums whose terms are rounded: the bound of the local product, the same bits if it is called again, and with one schedule
// whatever the layouts.
TEST(DistGemm, RoundsAsPromisedAndTheSameEachTime) {
  const index_t m = 40, n = 30, k = 700;
  const auto value = [](index_t i, index_t j) { return std::sin(double(i * 37 + j * 101)); };
  std::vector<double> first;
  for (int time = 0; time < 3; ++time) {
    std::mt19937 own(unsigned(world().rank()) + unsigned(time));
    known_matrix<double> a(random_layout(m, k, world().size()), 1, world().rank(), own);
    known_matrix<double> b(random_layout(k, n, world().size()), 2, world().rank(), own);
    known_matrix<double> c(dist::layout::on_rank(m, n), 3, world().rank(), own);
    a.each_own(world().rank(), [&](index_t i, index_t j, double& x) { x = value(i, j); });
    b.each_own(world().rank(), [&](index_t i, index_t j, double& x) { x = value(j, i); });
    dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get());
    c.fetch();
    const std::vector<double> once = c.storage;
    dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get());
    c.fetch();
    EXPECT_EQ(once, c.storage);
    dist::gemm_options options;
    options.schedule = dist::choose_schedule(m, n, k, world().size());
    dist::gemm(world(), 1.0, a.get(), b.get(), 0.0, c.get(), options);
    c.fetch();
    std::vector<double> result;
    c.each_own(world().rank(), [&](index_t i, index_t j, double& x) {
      long double sum = 0, size = 0;
      for (index_t l = 0; l < k; ++l) {
        const long double term = static_cast<long double>(value(i, l)) * value(j, l);
        sum += term, size += std::abs(term);
      }
      EXPECT_LE(std::abs(double(x - sum)), double(k + 30) * 0x1p-53 * double(size)) << i << ", " << j;
      result.push_back(x);
    });
    if (time == 0) first = result;
    EXPECT_EQ(first, result);
  }
}

TEST(DistGemm, ExplainSaysTransportAndGrid) {
  const dist::matrix x(dist::layout::on_rank(64, 64), matrix_view<double>{});
  const std::string text = dist::explain(world(), x, x, x);
  EXPECT_EQ(text.rfind(world().transport().name() + ": 64 x 64 x 64 (m x n x k) on ", 0), 0u) << text;
  EXPECT_NE(text.find("grid "), std::string::npos) << text;
  const dist::matrix y(dist::layout::on_rank(64, 64, world().size()), matrix_view<double>{});
  EXPECT_THROW(dist::explain(world(), y, x, x), invalid_argument);  // as gemm does
}

}  // namespace
