#include <algorithm>
#include <string>
#include <utility>

#include <keramos/base/error.hpp>
#include <keramos/dist/traffic.hpp>

namespace keramos::detail {
namespace {

/// How long the blocks of each process are together.
std::vector<double> lengths(const dist::layout::axis& a) {
  std::vector<double> sum(std::size_t(a.processes), 0.0);
  for (std::size_t b = 0; b < a.at.size(); ++b)
    sum[std::size_t(a.process[b])] += double(a.begin[b + 1] - a.begin[b]);
  return sum;
}

/// How many lines each process of one axis has in common with each of another, at one * other.processes + other.
std::vector<double> common(const dist::layout::axis& one, const dist::layout::axis& other) {
  std::vector<double> sum(std::size_t(one.processes) * std::size_t(other.processes), 0.0);
  for (std::size_t x = 0, y = 0; x < one.at.size() && y < other.at.size();) {
    const index_t begin = std::max(one.begin[x], other.begin[y]),
                  end = std::min(one.begin[x + 1], other.begin[y + 1]);
    if (begin < end)
      sum[std::size_t(one.process[x]) * std::size_t(other.processes) + std::size_t(other.process[y])] +=
          double(end - begin);
    one.begin[x + 1] <= other.begin[y + 1] ? ++x : ++y;
  }
  return sum;
}

/// Adds the bytes that each rank has.
void add_sizes(const dist::layout& l, int bytes, std::vector<double>& of_rank) {
  const auto& t = l.parts_of_all();
  const std::vector<double> rows = lengths(t.rows), cols = lengths(t.cols);
  for (std::size_t cell = 0; cell < t.rank.size(); ++cell)
    of_rank[std::size_t(t.rank[cell])] += rows[cell / cols.size()] * cols[cell % cols.size()] * bytes;
}

/// f(rank of one, rank of other, elements) for the parts that have elements in common.
template <class F>
void for_each_common(const dist::layout& one, const dist::layout& other, const F& f) {
  const auto &x = one.parts_of_all(), &y = other.parts_of_all();
  const std::vector<double> rows = common(x.rows, y.rows), cols = common(x.cols, y.cols);
  const auto x_cols = std::size_t(x.cols.processes), y_cols = std::size_t(y.cols.processes);
  for (std::size_t i = 0; i < x.rank.size(); ++i)
    for (std::size_t j = 0; j < y.rank.size(); ++j) {
      const double elements = rows[i / x_cols * std::size_t(y.rows.processes) + j / y_cols] *
                              cols[i % x_cols * y_cols + j % y_cols];
      if (elements > 0) f(x.rank[i], y.rank[j], elements);
    }
}

}  // namespace

dist_traffic::dist_traffic(const dist::schedule& s)
    : s_(s),
      a_(s.layout_a()),
      b_(s.layout_b()),
      sums_(s.layout_sums()),
      places_(s.places()),
      scheduled_(std::size_t(places_)),
      needed_(std::size_t(places_), 0.0),
      has_sums_(std::size_t(places_), 0.0) {
  std::vector<double> own_a(std::size_t(places_), 0.0), own_b = own_a;
  add_sizes(a_, s.bytes.a, own_a);
  add_sizes(b_, s.bytes.b, own_b);
  add_sizes(sums_, s.bytes.sum, has_sums_);
  for (int place = 0; place < places_; ++place) {
    const auto p = std::size_t(place);
    int im = 0, in = 0, ik = 0;
    s.place(place, im, in, ik);
    const double k = double(s.step_begin(ik, s.steps()) - s.step_begin(ik, 0));
    const double rows = double(s.rows_of(im)), cols = double(s.cols_of(in));
    scheduled_[p].received =
        rows * k * s.bytes.a - own_a[p] + cols * k * s.bytes.b - own_b[p] + (s.pk - 1) * has_sums_[p];
    scheduled_[p].sent = own_a[p] * (s.pn - 1) + own_b[p] * (s.pm - 1) +
                         (s.pk > 1 ? rows * cols * s.bytes.sum - has_sums_[p] : 0);
    needed_[p] = own_a[p] + own_b[p];
  }
}

double dist_traffic::scheduled() const {
  double most = 0;
  for (const bytes& x : scheduled_) most = std::max({most, x.received, x.sent});
  return most;
}

void dist_traffic::count(const dist::operand_layouts& where) {
  has_.assign(std::size_t(s_.ranks), 0.0);
  wants_ = has_;
  saved_.assign(std::size_t(s_.ranks) * std::size_t(places_), 0.0);
  add_sizes(where.a, s_.bytes.a, has_);
  add_sizes(where.b, s_.bytes.b, has_);
  add_sizes(where.c, s_.bytes.sum, wants_);
  const auto add = [&](const dist::layout& of_rank, const dist::layout& of_place, int bytes) {
    for_each_common(of_rank, of_place,
                    [&](int rank, int place, double elements) { saved(rank, place) += elements * bytes; });
  };
  add(where.a, a_, s_.bytes.a);
  add(where.b, b_, s_.bytes.b);
  add(where.c, sums_, s_.bytes.sum);
}

double dist_traffic::least_of_places() const {
  double least = 0;
  for (int place = 0; place < places_; ++place) {
    const auto p = std::size_t(place);
    double most_saved = 0;
    for (int rank = 0; rank < s_.ranks; ++rank) most_saved = std::max(most_saved, saved(rank, place));
    least = std::max({least, needed_[p] - most_saved + scheduled_[p].received,
                      has_sums_[p] - most_saved + scheduled_[p].sent});
  }
  return least;
}

std::vector<int> dist_traffic::near_places() const {
  std::vector<std::pair<int, int>> pairs;  // of rank and place
  for (int rank = 0; rank < s_.ranks; ++rank)
    for (int place = 0; place < places_; ++place) pairs.emplace_back(rank, place);
  std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& x, const auto& y) {
    return saved(x.first, x.second) > saved(y.first, y.second);
  });
  std::vector<int> of_place(std::size_t(places_), -1);
  std::vector<bool> has_place(std::size_t(s_.ranks), false);
  for (const auto& [rank, place] : pairs) {
    if (has_place[std::size_t(rank)] || of_place[std::size_t(place)] >= 0) continue;
    of_place[std::size_t(place)] = rank;
    has_place[std::size_t(rank)] = true;
  }
  return of_place;
}

std::vector<dist_traffic::bytes> dist_traffic::of_ranks(const std::vector<int>& ranks_of_places) const {
  std::vector<bytes> all(std::size_t(s_.ranks));
  for (std::size_t r = 0; r < all.size(); ++r) all[r] = {wants_[r], has_[r], wants_[r]};
  for (int place = 0; place < places_; ++place) {
    const auto p = std::size_t(place);
    const int rank = ranks_of_places.empty() ? place : ranks_of_places[p];
    bytes& x = all[std::size_t(rank)];
    x.redistributed += needed_[p] - saved(rank, place);
    x.received += needed_[p] - saved(rank, place) + scheduled_[p].received;
    x.sent += has_sums_[p] - saved(rank, place) + scheduled_[p].sent;
  }
  return all;
}

}  // namespace keramos::detail

namespace keramos::dist {

std::vector<rank_traffic> traffic_of(const schedule& s, const operand_layouts& where) {
  const auto check = [&](const char* name, const layout& l, index_t rows, index_t cols) {
    if (l.rows() != rows || l.cols() != cols || l.ranks() > s.ranks)
      throw invalid_argument(std::string("keramos::dist::traffic_of: ") + name + " is " + l.to_string() +
                             " but must be " + std::to_string(rows) + "x" + std::to_string(cols) + " on " +
                             std::to_string(s.ranks) + " ranks at most, as the schedule has it");
  };
  if (const std::string why = detail::dist_flaw_of(s); !why.empty())
    throw invalid_argument("keramos::dist::traffic_of: the schedule " + why);
  check("op(A)", where.a, s.m, s.k);
  check("op(B)", where.b, s.k, s.n);
  check("C", where.c, s.m, s.n);
  schedule numbered = s;
  numbered.ranks_of_places.clear();
  detail::dist_traffic counted(numbered);
  counted.count(where);
  std::vector<rank_traffic> all;
  for (const auto& x : counted.of_ranks(s.ranks_of_places))
    all.push_back({index_t(x.received), index_t(x.sent), index_t(x.redistributed)});
  return all;
}

}  // namespace keramos::dist
