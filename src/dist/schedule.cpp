#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <keramos/base/error.hpp>
#include <keramos/dist/schedule.hpp>

namespace keramos::dist {
namespace {

using detail::ceil_div;

/// Where part `i` of `parts` of 0 ... n begins.
constexpr index_t cut(index_t n, int parts, int i) { return n / parts * i + n % parts * i / parts; }

/// Steps long enough that the product of two panels outweighs reading and writing C, and that messages are long.
constexpr index_t least_step = 256, least_panel_bytes = index_t(4) << 20;

/// The largest blocks: m x k of A, k x n of B, m x n of C.
struct block {
  index_t m, n, k;
  explicit block(const schedule& s)
      : m(ceil_div(s.m, s.pm)), n(ceil_div(s.n, s.pn)), k(ceil_div(s.k, s.pk)) {}
};

index_t panels_memory(const schedule& s, const block& x) {
  const int buffers = s.steps() > 1 ? 2 : 1;  // a panel that only one rank needs is used where it is
  return buffers * s.step * ((s.pn > 1 ? x.m * s.bytes.a : 0) + (s.pm > 1 ? x.n * s.bytes.b : 0));
}
/// What a rank holds of A, at most: of each step the share that is one column longer than others.
index_t held(const schedule& s, index_t lines, index_t k, int sharers, int bytes) {
  const index_t first = std::min(s.first(), k), others = k - first;
  return lines * bytes *
         (ceil_div(first, sharers) + others / s.step * ceil_div(s.step, sharers) +
          ceil_div(others % s.step, sharers));
}
index_t operands_memory(const schedule& s, const block& x) {
  return held(s, x.m, x.k, s.pn, s.bytes.a) + held(s, x.n, x.k, s.pm, s.bytes.b);
}
index_t shares_memory(const schedule& s, const block& x) {
  const index_t lines = s.sums_by_columns() ? x.n : x.m, length = s.sums_by_columns() ? x.m : x.n;
  return s.pk == 1 ? 0 : (s.pk - 1) * ceil_div(lines, s.pk) * length * s.bytes.sum;
}

/// Bytes of panels that a rank receives.
double panels_received(const schedule& s, const block& x) {
  const auto part = [&](index_t lines, int bytes, int sharers) {
    return double(lines) * double(x.k) * bytes * (sharers - 1) / sharers;
  };
  return part(x.m, s.bytes.a, s.pn) + part(x.n, s.bytes.b, s.pm);
}

/// How much shorter the first step is where `memory_per_link` is said. Its product must last as long as the next panels travel.
constexpr index_t first_part = 4;

/// The step with which the panels of the first, for which the product waits, and sums that are read and written again in each
/// other step take the least time together.
index_t balanced_step(const schedule& s, const block& x, double memory_per_link) {
  constexpr index_t unit = 128;
  const double panels = panels_received(s, x) / double(first_part);
  const double sums = 2.0 * double(x.m) * double(x.n) * s.bytes.sum;
  const auto others = std::max<index_t>(1, index_t(std::lround(std::sqrt(panels * memory_per_link / sums))));
  return ceil_div(ceil_div(x.k * first_part, others * first_part + 1), unit) * unit;
}

/// The longest step that fits, of those that give each sharer something; false if none does.
bool choose_step(schedule& s, index_t memory, double memory_per_link) {
  const block x(s);
  const index_t line_bytes = std::max<index_t>(1, x.m * s.bytes.a + x.n * s.bytes.b);
  const index_t least = std::clamp<index_t>(std::max(s.pm, s.pn), 1, std::max<index_t>(1, x.k));
  // With one sharer nothing is sent, and there is nothing to hide.
  const bool sends = s.pm > 1 || s.pn > 1, is_balanced = sends && memory_per_link > 0 && s.m > 0 && s.n > 0;
  s.step = sends ? std::min(x.k, std::max(least_step, least_panel_bytes / line_bytes)) : x.k;
  if (is_balanced) s.step = std::min(x.k, std::max(s.step, balanced_step(s, x, memory_per_link)));
  for (s.step = std::max(least, s.step);; s.step = std::max(least, s.step / 2)) {
    if (is_balanced && s.step < x.k) s.first_step = std::max(least, s.step / first_part);
    if (s.memory() <= memory) return true;
    if (s.step == least) return false;
  }
}

double received(const schedule& s) {
  const block x(s);
  return panels_received(s, x) + double(x.m) * double(x.n) * s.bytes.sum * (s.pk - 1) / s.pk;
}
double work(const schedule& s) {
  const block x(s);
  return double(x.m) * double(x.n) * double(x.k);
}

/// Calls f with each grid of at most s.ranks ranks, as much of k as fits left for the last factor.
template <class F>
void for_each_grid(schedule s, const F& f) {
  const auto most = [&](index_t extent, int ranks) { return int(std::clamp<index_t>(extent, 1, ranks)); };
  for (s.pm = 1; s.pm <= most(s.m, s.ranks); ++s.pm)
    for (s.pn = 1; s.pn <= most(s.n, s.ranks / s.pm); ++s.pn) {
      s.pk = most(s.k, s.ranks / (s.pm * s.pn));
      if (s.k > 0) s.pk = int(ceil_div(s.k, ceil_div(s.k, s.pk)));  // no more than shorten the longest part
      f(s);
    }
}

std::string bytes_text(double bytes) {
  const char* const unit[] = {"B", "kB", "MB", "GB", "TB"};
  int u = 0;
  for (; bytes >= 1000 && u < 4; ++u) bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", bytes, unit[u]);
  return text;
}

}  // namespace

bool schedule::place(int rank, int& im, int& in, int& ik) const {
  in = rank % pn, im = rank / pn % pm, ik = rank / (pn * pm);
  return rank < pm * pn * pk;
}

int schedule::steps() const {
  const index_t longest = ceil_div(k, pk);
  return longest == 0 ? 0 : 1 + int(ceil_div(longest - std::min(first(), longest), step));
}

index_t schedule::step_begin(int ik, int t) const {
  return std::min(cut(k, pk, ik) + (t == 0 ? 0 : first() + (t - 1) * step), cut(k, pk, ik + 1));
}

bool schedule::sums_by_columns() const { return ceil_div(n, pn) >= ceil_div(m, pm); }

layout schedule::layout_a() const {
  layout::tables t;
  t.rows.processes = pm;
  for (int im = 0; im < pm; ++im) {
    t.rows.begin.push_back(cut(m, pm, im + 1));
    t.rows.at.push_back(0);
    t.rows.process.push_back(im);
  }
  t.cols.processes = pk * pn;
  std::vector<index_t> held(std::size_t(pk * pn), 0);
  for (int ik = 0; ik < pk; ++ik)
    for (int step = 0; step < steps(); ++step)
      for (int in = 0; in < pn; ++in) {
        const index_t begin = step_begin(ik, step), count = step_begin(ik, step + 1) - begin;
        const index_t end = begin + cut(count, pn, in + 1), length = end - t.cols.begin.back();
        if (length == 0) continue;
        t.cols.begin.push_back(end);
        t.cols.at.push_back(held[std::size_t(ik * pn + in)]);
        t.cols.process.push_back(ik * pn + in);
        held[std::size_t(ik * pn + in)] += length;
      }
  for (int im = 0; im < pm; ++im)
    for (int ik = 0; ik < pk; ++ik)
      for (int in = 0; in < pn; ++in) t.rank.push_back(rank_of(im, in, ik));
  t.part.assign(t.rank.size(), 0);
  return layout(std::move(t));
}

// B's transpose is divided as A is, with m and n exchanged; only ranks are numbered otherwise.
layout schedule::layout_b() const {
  schedule turned = *this;
  std::swap(turned.m, turned.n), std::swap(turned.pm, turned.pn);
  layout::tables t = turned.layout_a().transposed().parts_of_all();
  for (int ik = 0, at = 0; ik < pk; ++ik)
    for (int im = 0; im < pm; ++im)
      for (int in = 0; in < pn; ++in) t.rank[std::size_t(at++)] = rank_of(im, in, ik);
  return layout(std::move(t));
}

layout schedule::layout_sums() const {
  const bool by_columns = sums_by_columns();
  layout::tables t;
  const auto blocks = [](layout::axis& a, index_t extent, int parts, int shares) {
    a.processes = parts * shares;
    for (int x = 0; x < parts; ++x)
      for (int share = 0; share < shares; ++share) {
        const index_t begin = cut(extent, parts, x), length = cut(extent, parts, x + 1) - begin;
        a.begin.push_back(begin + cut(length, shares, share + 1));
        a.at.push_back(0);
        a.process.push_back(x * shares + share);
      }
  };
  blocks(t.rows, m, pm, by_columns ? 1 : pk);
  blocks(t.cols, n, pn, by_columns ? pk : 1);
  for (int p = 0; p < t.rows.processes; ++p)
    for (int q = 0; q < t.cols.processes; ++q)
      t.rank.push_back(by_columns ? rank_of(p, q / pk, q % pk) : rank_of(p / pk, q, p % pk));
  t.part.assign(t.rank.size(), 0);
  return layout(std::move(t));
}

index_t schedule::panel_bytes(int rank) const {
  int im, in, ik;
  if (!place(rank, im, in, ik)) return 0;
  index_t others_a = 0, others_b = 0;  // columns of A's panels that come from other ranks, and rows of B's
  for (int t = 0; t < steps(); ++t) {
    const index_t count = step_begin(ik, t + 1) - step_begin(ik, t);
    others_a += count - (cut(count, pn, in + 1) - cut(count, pn, in));
    others_b += count - (cut(count, pm, im + 1) - cut(count, pm, im));
  }
  return others_a * (cut(m, pm, im + 1) - cut(m, pm, im)) * bytes.a +
         others_b * (cut(n, pn, in + 1) - cut(n, pn, in)) * bytes.b;
}

index_t schedule::sum_bytes(int rank) const {
  int im, in, ik;
  if (!place(rank, im, in, ik)) return 0;
  const index_t rows = cut(m, pm, im + 1) - cut(m, pm, im), cols = cut(n, pn, in + 1) - cut(n, pn, in);
  const index_t lines = sums_by_columns() ? cols : rows, length = sums_by_columns() ? rows : cols;
  return (pk - 1) * (cut(lines, pk, ik + 1) - cut(lines, pk, ik)) * length * bytes.sum;
}

index_t schedule::volume() const {
  index_t most = 0;
  for (int rank = 0; rank < pm * pn * pk; ++rank) most = std::max(most, panel_bytes(rank) + sum_bytes(rank));
  return most;
}

double schedule::touched() const {
  const block x(*this);
  return double(bytes.sum) *
         (double(x.m) * double(x.k) + double(x.n) * double(x.k) + double(x.m) * double(x.n));
}

double schedule::touched_bound() const {
  double e[] = {double(m), double(n), double(k)};
  std::sort(e, e + 3);
  const double p = ranks, all = e[0] * e[1] * e[2];
  double elements;
  if (p <= e[2] / e[1])
    elements = (e[2] * e[1] + e[2] * e[0]) / p + e[1] * e[0];
  else if (p <= e[2] * e[1] / (e[0] * e[0]))
    elements = 2 * std::sqrt(all * e[0] / p) + e[2] * e[1] / p;
  else
    elements = 3 * std::cbrt(all / p) * std::cbrt(all / p);
  return double(bytes.sum) * elements;
}

index_t schedule::memory() const {
  const block x(*this);
  const index_t sums = x.m * x.n * bytes.sum, operands = operands_memory(*this, x);
  return std::max(operands + panels_memory(*this, x) + sums, sums + shares_memory(*this, x));
}

std::string schedule::to_string() const {
  char text[512];
  std::snprintf(
      text, sizeof text,
      "%lld x %lld x %lld (m x n x k) on %d of %d ranks: grid %d x %d x %d, k in %d step%s of %lld%s; a rank "
      "receives at most %s (it touches %.3g of the lower bound) and allocates at most %s and buffers to "
      "redistribute",
      static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k), pm * pn * pk, ranks,
      pm, pn, pk, steps(), steps() == 1 ? "" : "s", static_cast<long long>(step),
      first() < step ? (", the first of " + std::to_string(first())).c_str() : "",
      bytes_text(double(volume())).c_str(), touched() / std::max(1.0, touched_bound()),
      bytes_text(double(memory())).c_str());
  return text;
}

schedule choose_schedule(index_t m, index_t n, index_t k, int ranks, element_bytes bytes, index_t memory,
                         double memory_per_link) {
  if (m < 0 || n < 0 || k < 0 || ranks < 1)
    throw invalid_argument("keramos::dist::choose_schedule: m, n and k are " + std::to_string(m) + ", " +
                           std::to_string(n) + " and " + std::to_string(k) + " on " + std::to_string(ranks) +
                           " ranks but extents must not be negative, and there must be a rank");
  schedule none;
  none.m = m, none.n = n, none.k = k, none.ranks = ranks, none.bytes = bytes;
  double least_work = std::numeric_limits<double>::infinity();
  index_t leanest = unlimited_memory;
  for_each_grid(none, [&](schedule s) {
    if (work(s) >= least_work && leanest <= memory) return;
    if (choose_step(s, memory, memory_per_link)) least_work = std::min(least_work, work(s));
    leanest = std::min(leanest, s.memory());
  });
  if (leanest > memory)
    throw memory_error("keramos::dist::gemm: options.memory is " + std::to_string(memory) +
                       " bytes a rank but " + std::to_string(m) + "x" + std::to_string(n) + "x" +
                       std::to_string(k) + " on " + std::to_string(ranks) + " ranks needs " +
                       std::to_string(leanest) + " at least; allow more, or use more ranks");
  schedule best;
  double best_received = std::numeric_limits<double>::infinity();
  for_each_grid(none, [&](schedule s) {
    if (work(s) * 24 > least_work * 25) return;
    const double bytes_here = received(s);
    const auto ties = [](const schedule& x) { return std::pair(x.pm * x.pn * x.pk, x.pk); };
    if (bytes_here > best_received || (bytes_here == best_received && ties(s) >= ties(best))) return;
    if (choose_step(s, memory, memory_per_link)) best = s, best_received = bytes_here;
  });
  return best;
}

}  // namespace keramos::dist
