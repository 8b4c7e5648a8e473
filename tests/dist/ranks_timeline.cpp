// gemm_options::timeline: what a rank did, and when.
#include <chrono>
#include <map>
#include <thread>

#include <keramos/dist/recorder.hpp>

#include "ranks.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;
using dist::activity;

constexpr bool is_host = backend::traits<default_execution_space>::is_host;

struct recorded {
  std::vector<dist::interval> timeline;
  dist::gemm_report report;
  double seconds = 0;  // of the call

  index_t bytes_of(std::initializer_list<activity> which) const {
    index_t bytes = 0;
    for (const auto& x : timeline)
      if (std::find(which.begin(), which.end(), x.what) != which.end()) bytes += x.bytes;
    return bytes;
  }
  std::vector<dist::interval> all(activity what) const {
    std::vector<dist::interval> found;
    for (const auto& x : timeline)
      if (x.what == what) found.push_back(x);
    return found;
  }
};

/// Operands in random layouts; `schedule` as it is given, or chosen.
recorded record(index_t m, index_t n, index_t k, const std::optional<dist::schedule>& schedule = {},
                double alpha = 1) {
  std::mt19937 own(unsigned(world().rank()));
  known_matrix<double> a(random_layout(m, k, world().size()), 1, world().rank(), own);
  known_matrix<double> b(random_layout(k, n, world().size()), 2, world().rank(), own);
  known_matrix<double> c(random_layout(m, n, world().size()), 3, world().rank(), own);
  recorded r;
  r.timeline.resize(3);  // what an earlier product left
  dist::gemm_options options;
  options.schedule = schedule;
  options.timeline = &r.timeline;
  const auto begin = std::chrono::steady_clock::now();
  r.report = dist::gemm(world(), alpha, a.get(), b.get(), 0.0, c.get(), options);
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return r;
}

void expect_in_order(const std::vector<dist::interval>& x) {
  for (std::size_t i = 1; i < x.size(); ++i) {
    EXPECT_LE(x[i - 1].end, x[i].begin) << to_string(x[i].what) << " of step " << x[i].step;
    EXPECT_LE(x[i - 1].step, x[i].step);
  }
}

/// That the timeline has all that this rank's part of the schedule says, once and in its order.
void expect_complete(const recorded& r) {
  const auto& s = r.report.schedule;
  SCOPED_TRACE(testing::Message() << s.to_string() << " on rank " << world().rank());
  double last_begin = 0;
  for (const auto& x : r.timeline) {
    EXPECT_LE(last_begin, x.begin);
    EXPECT_LE(x.begin, x.end);
    EXPECT_LE(x.end, r.seconds);
    last_begin = x.begin;
  }
  for (const auto what : {activity::redistribute_a, activity::redistribute_b, activity::write_c}) {
    const std::size_t count = r.all(what).size();
    const bool may_be_cut = s.first_sixteenths > 0 && what != activity::write_c;
    EXPECT_TRUE(count == 1 || (count == 2 && may_be_cut)) << to_string(what);
  }
  EXPECT_EQ(r.bytes_of({activity::panels}), r.report.panel_bytes);
  EXPECT_EQ(r.bytes_of({activity::exchange_sums}), r.report.sum_bytes);
  EXPECT_EQ(r.bytes_of({activity::redistribute_a, activity::redistribute_b, activity::write_c}),
            r.report.redistributed_bytes);
  EXPECT_EQ(r.bytes_of({activity::product, activity::add_sums}), 0);

  const auto products = r.all(activity::product), panels = r.all(activity::panels);
  expect_in_order(products);
  expect_in_order(panels);
  int im = 0, in = 0, ik = 0;
  if (!s.place(world().rank(), im, in, ik)) {
    EXPECT_TRUE(products.empty() && panels.empty());
    return;
  }
  std::map<int, std::vector<dist::interval>> of_step;
  for (const auto& x : products) of_step[x.step].push_back(x);
  // Of C: what is multiplied in a step, or in the first of two stages of one step and in the second.
  const double all = double(s.rows_of(im)) * double(s.cols_of(in)),
               first = double(s.first_rows(im)) * double(s.first_cols(in));
  for (int i = 0; i < s.stages(); ++i) {
    const int t = s.first_sixteenths > 0 ? 0 : i;
    const double lines = double(s.step_begin(ik, t + 1) - s.step_begin(ik, t));
    const double of_c = s.first_sixteenths == 0 ? all : i == 0 ? first : all - first;
    ASSERT_EQ(of_step.count(i), lines * of_c > 0 ? 1u : 0u) << "step " << i;
    if (lines * of_c == 0) continue;
    double multiply_adds = 0;
    for (const auto& x : of_step[i]) multiply_adds += x.multiply_adds;
    EXPECT_EQ(multiply_adds, of_c * lines);
  }
  for (const auto& x : panels) {
    SCOPED_TRACE(testing::Message() << "panels of step " << x.step);
    if (of_step.count(x.step)) {
      EXPECT_LE(x.end, of_step[x.step].front().begin);
    }
    // They are under way when the product before them begins. A device has its own mind about two queues.
    if (is_host && of_step.count(x.step - 1)) {
      EXPECT_LE(x.begin, of_step[x.step - 1].front().begin);
    }
  }
}

double over_ranks(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}
double multiply_adds(const recorded& r) {
  double sum = 0;
  for (const auto& x : r.timeline) sum += x.multiply_adds;
  return sum;
}

TEST(DistTimeline, HasAllThatTheScheduleSays) {
  const int ranks = world().size();
  const auto chosen = record(90, 70, 120);
  expect_complete(chosen);
  EXPECT_EQ(over_ranks(multiply_adds(chosen)), 90.0 * 70 * 120);
  for (int pm = 1; pm <= ranks; ++pm)
    for (int pn = 1; pm * pn <= ranks; ++pn) {
      const int pk = 1 + pick(ranks / (pm * pn));
      dist::schedule s{17, 18, 33, ranks, {}, pm, pn, pk, 1 + pick(9), pick(4)};
      if (pm > s.m || pn > s.n) continue;
      for (const bool is_cut : {false, true}) {
        if (is_cut) s.step = (s.k + pk - 1) / pk, s.first_step = 0, s.first_sixteenths = 1 + pick(15);
        const auto r = record(s.m, s.n, s.k, s);
        expect_complete(r);
        EXPECT_EQ(over_ranks(multiply_adds(r)), 17.0 * 18 * 33);
      }
    }
}

// Strips of a host's product, between which transfers go on.
TEST(DistTimeline, HasStripsOfWideProducts) {
  const int ranks = world().size();
  const dist::schedule s{8, 1100, 40, ranks, {}, ranks > 8 ? 1 : ranks, 1, 1, 10, 0};
  const auto r = record(s.m, s.n, s.k, s);
  expect_complete(r);
  int im = 0, in = 0, ik = 0;
  if (!s.place(world().rank(), im, in, ik)) return;
  // All steps but the last have a next one, whose panels travel; strips have 320 columns.
  EXPECT_EQ(r.all(activity::product).size(), is_host ? 3u * 4 + 1 : 4u);
}

TEST(DistTimeline, CountsFromWhenAllRanksAreThere) {
  if (world().rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  const auto r = record(20, 20, 20);
  ASSERT_FALSE(r.timeline.empty());
  EXPECT_LT(r.timeline.front().begin, 0.8);
}

TEST(DistTimeline, IsEmptyWhereNothingIsMultiplied) {
  EXPECT_TRUE(record(20, 20, 20, {}, 0).timeline.empty());
  EXPECT_TRUE(record(20, 20, 0).timeline.empty());
  std::vector<dist::interval> timeline(3);
  const dist::matrix x(dist::layout::on_rank(5, 4), matrix_view<double>{});
  EXPECT_THROW(dist::gemm(world(), 1.0, x, x, 0.0, x, {.timeline = &timeline}), invalid_argument);
  EXPECT_TRUE(timeline.empty());
}

TEST(DistTimeline, IsWantedOnAllRanksOrNone) {
  if (world().size() == 1) return;
  const bool is_last = world().rank() == world().size() - 1;
  std::vector<dist::interval> timeline;
  const dist::matrix x(dist::layout::on_rank(0, 0), matrix_view<double>{});
  const std::string text = message_of<invalid_argument>(
      [&] { dist::gemm(world(), 1.0, x, x, 0.0, x, {.timeline = is_last ? &timeline : nullptr}); });
  EXPECT_NE(text.find("rank 0 has timeline: none but rank"), std::string::npos) << text;
  EXPECT_TRUE(same_everywhere(text));
}

TEST(DistTimeline, TakesNoTimesWithoutTheOption) {
  const detail::dist_recorder none(world(), nullptr);
  EXPECT_FALSE(none.now(world().queue()));
  std::vector<dist::interval> timeline;
  const detail::dist_recorder some(world(), &timeline);
  EXPECT_TRUE(some.now(world().queue()));
}

}  // namespace
