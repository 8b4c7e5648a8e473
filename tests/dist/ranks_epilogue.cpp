// dist::gemm with epilogues: each element is given the sum, C's old element, and its row and column in the whole C.
#include <keramos/dist/fused.hpp>
#include <keramos/dist/remembered.hpp>

#include "ranks.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;
namespace ep = keramos::epilogue;

/// A caller's own. It tells each place from each other.
template <class T>
struct own_epilogue {
  KERAMOS_FUNCTION T operator()(T acc, T c, index_t i, index_t j, index_t batch) const {
    return acc + T(2) * c + T(float(i % 13)) - T(float(j % 11)) + T(float(batch));
  }
};
/// The same on hosts.
template <class T>
T own_value(T acc, T c, index_t i, index_t j) {
  return acc + T(2) * c + T(float(i % 13)) - T(float(j % 11));
}
template <class T>
T bias_of(index_t i) {
  return T(float(i * 5 % 17 - 8));
}

/// A product with `epilogue`, whose elements are value(sum, old element, i, j), with a C that lies as `of_c` says. Returns in how
/// many turns C was written.
template <class T, class Sum, class Epilogue, class Value>
std::size_t run_into(const dist::layout& of_c, index_t k, const Epilogue& epilogue, const Value& value,
                     dist::gemm_options options) {
  auto& comm = world();
  const index_t m = of_c.rows(), n = of_c.cols();
  std::mt19937 own(unsigned(comm.rank()) + shared_random()());
  options.op_b = op::T;
  known_matrix<T> a(random_layout(m, k, comm.size()), shared_random()(), comm.rank(), own);
  known_matrix<T> b(random_layout(n, k, comm.size()), shared_random()(), comm.rank(), own);
  known_matrix<T> c(of_c, shared_random()(), comm.rank(), own);
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " on rank " << comm.rank() << " of "
                                  << comm.size() << ", C: " << c.layout.to_string());
  auto expected = c;
  expected.each_own(comm.rank(), [&](index_t i, index_t j, T& x) {
    Sum sum(0);
    for (index_t l = 0; l < k; ++l) sum = sum + Sum(a.at(i, l)) * Sum(b.at(j, l));
    x = static_cast<T>(value(sum, Sum(c.at(i, j)), i, j));
  });
  const auto report = dist::gemm(comm, a.get(), b.get(), c.get(), epilogue, options);
  c.fetch();
  EXPECT_EQ(report.schedule.k, k);
  index_t wrong = 0;
  for (std::size_t i = 0; i < c.storage.size(); ++i) wrong += !(c.storage[i] == expected.storage[i]);
  EXPECT_EQ(wrong, 0);
  if (k == 0) return 1;
  const auto plan = comm.remembered().products.get(
      [&](const detail::dist_plan& x) { return x.where.c == of_c && x.memory == options.memory; },
      []() -> std::shared_ptr<const detail::dist_plan> { throw error("the product is not remembered"); });
  return plan->c->turns().size();
}
template <class T, class Sum, class Epilogue, class Value>
void run(index_t m, index_t n, index_t k, const Epilogue& epilogue, const Value& value,
         const dist::gemm_options& options = {}) {
  run_into<T, Sum>(random_layout(m, n, world().size()), k, epilogue, value, options);
}

template <class T, class Sum>
void run_cases(int count) {
  std::vector<Sum> of_rows, of_columns;
  for (index_t i = 0; i < 64; ++i)
    of_rows.push_back(bias_of<Sum>(i)), of_columns.push_back(bias_of<Sum>(i + 3));
  const device_memory<Sum> rows(of_rows), columns(of_columns);
  // On each rank two vectors, as long as C's rows and as its columns.
  const auto bias = ep::linear(2.f, -1.f) | ep::bias_by_row(static_cast<const Sum*>(rows.data())) |
                    ep::bias_by_column(static_cast<const Sum*>(columns.data()));
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const index_t m = 1 + pick(60), n = 1 + pick(60), k = pick(4) ? 1 + pick(40) : 0;
    run<T, Sum>(m, n, k, own_epilogue<Sum>(), own_value<Sum>);
    run<T, Sum>(m, n, k, bias, [](Sum acc, Sum c, index_t i, index_t j) {
      return Sum(2) * acc - c + bias_of<Sum>(i) + bias_of<Sum>(j + 3);
    });
  }
}

TEST(DistEpilogue, Double) { run_cases<double, double>(6); }
TEST(DistEpilogue, HalfIsSummedInFloat) { run_cases<float16, float>(4); }

// A C of bytes is rounded and kept within its range, as that of a product on one rank.
TEST(DistEpilogue, Bytes) {
  const auto layer = ep::scale(0.5f) | ep::relu();
  auto& comm = world();
  std::mt19937 own(1);
  known_matrix<std::int8_t> a(random_layout(20, 90, comm.size()), 1, comm.rank(), own),
      b(random_layout(90, 30, comm.size()), 2, comm.rank(), own),
      c(random_layout(20, 30, comm.size()), 3, comm.rank(), own);
  dist::gemm(comm, a.get(), b.get(), c.get(), layer);
  c.fetch();
  c.each_own(comm.rank(), [&](index_t i, index_t j, std::int8_t& x) {
    int sum = 0;
    for (index_t l = 0; l < 90; ++l) sum += int(a.at(i, l)) * int(b.at(l, j));
    EXPECT_EQ(int(x), int(std::min(127.f, std::rint(std::max(0.f, 0.5f * float(sum)))))) << i << ", " << j;
  });
}

// The sums of several parts of k are complete before the epilogue, and C is written in turns where memory is short.
TEST(DistEpilogue, WithPartsOfKAndInTurns) {
  const int ranks = world().size();
  dist::gemm_options options;
  options.schedule = dist::schedule{33, 29, 40, ranks, {}, 1, 1, std::min(ranks, 40), 7};
  run<double, double>(33, 29, 40, own_epilogue<double>(), own_value<double>, options);
  // Copies of A and B are small with few k, and so is what is left for the messages of a C that lies on one rank.
  options.schedule = dist::choose_schedule(33, 29, 5, ranks);
  options.memory = options.schedule->memory();
  const std::size_t turns = run_into<double, double>(dist::layout::on_rank(33, 29), 5, own_epilogue<double>(),
                                                     own_value<double>, options);
  if (ranks == 1)
    EXPECT_EQ(turns, 1u);
  else
    EXPECT_GT(turns, 1u);
}

// BLAS' update by itself is the other gemm.
TEST(DistEpilogue, LinearAlone) {
  run<double, double>(30, 20, 10, ep::linear(3.0, 0.0),
                      [](double acc, double, index_t, index_t) { return 3 * acc; });
}

TEST(DistEpilogue, RanksMustPassTheSameType) {
  if (world().size() == 1) return;
  const dist::layout l = dist::block_cyclic{10, 10, 2, 2, {1, world().size()}};
  const device_memory<double> data(std::vector<double>(100, 1.0));
  const dist::matrix<double> x(l, matrix_view<double>::column_major(data.data(), 10, 10));
  const std::string text = message_of<invalid_argument>([&] {
    if (world().rank() == 0)
      dist::gemm(world(), x, x, x, own_epilogue<double>());
    else
      dist::gemm(world(), x, x, x, ep::relu());
  });
  EXPECT_NE(text.find("rank 0 has epilogue: "), std::string::npos) << text;
  EXPECT_TRUE(same_everywhere(text)) << text;
  EXPECT_EQ(data.get(), std::vector<double>(100, 1.0));
}

}  // namespace
