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

/// f(part, begin, end) for the stretches of lines begin ... end - 1 of which each lies on one part.
template <class F>
void for_each_run(const dealt_blocks& d, index_t begin, index_t end, int parts, const F& f) {
  if (d.block == 0) {
    for (int p = 0; p < parts; ++p) {
      const index_t from = begin + cut(end - begin, parts, p), to = begin + cut(end - begin, parts, p + 1);
      if (from < to) f(p, from, to);
    }
    return;
  }
  for (index_t at = begin, to; at < end; at = to) {
    const index_t b = at < d.first ? 0 : 1 + (at - d.first) / d.block;
    to = std::min(end, d.first + b * d.block);
    f(int((b + d.from) % parts), at, to);
  }
}
/// How many of lines 0 ... end - 1 a part has of those that are dealt.
index_t dealt_before(const dealt_blocks& d, index_t end, int part, int parts) {
  const index_t first = part == d.from % parts ? std::min(d.first, end) : 0;
  return first + numroc(std::max<index_t>(0, end - d.first), d.block, part, (d.from + 1) % parts, parts);
}
/// How many of lines begin ... end - 1 a part has.
index_t lines_of(const dealt_blocks& d, index_t begin, index_t end, int part, int parts) {
  if (d.block == 0) return cut(end - begin, parts, part + 1) - cut(end - begin, parts, part);
  return dealt_before(d, end, part, parts) - dealt_before(d, begin, part, parts);
}
index_t most_lines(const dealt_blocks& d, index_t extent, int parts) {
  if (d.block == 0) return ceil_div(extent, parts);
  index_t most = 0;
  for (int p = 0; p < parts; ++p) most = std::max(most, lines_of(d, 0, extent, p, parts));
  return most;
}

// Bytes of memory are double: those of one rank for a whole matrix may be too many for 64 bits.

double panels_memory(const schedule& s, const schedule::box& x) {
  const int buffers = s.steps() > 1 ? 2 : 1;  // a panel that only one rank needs is used where it is
  return double(buffers) * double(s.step) *
         ((s.pn > 1 ? double(x.m) * s.bytes.a : 0) + (s.pm > 1 ? double(x.n) * s.bytes.b : 0));
}
/// What a rank holds of A, at most: of each step the share that is one column longer than others.
double held(const schedule& s, const dealt_blocks& d, index_t lines, index_t k, int sharers, int bytes) {
  const double line_bytes = double(lines) * bytes;
  if (d.block > 0) return line_bytes * double(most_lines(d, s.k, sharers));
  const index_t first = std::min(s.first(), k), others = k - first;
  return line_bytes * double(ceil_div(first, sharers) + others / s.step * ceil_div(s.step, sharers) +
                             ceil_div(others % s.step, sharers));
}
double operands_memory(const schedule& s, const schedule::box& x) {
  return held(s, s.a_blocks, x.m, x.k, s.pn, s.bytes.a) + held(s, s.b_blocks, x.n, x.k, s.pm, s.bytes.b);
}
double shares_memory(const schedule& s, const schedule::box& x) {
  const index_t lines = s.sums_by_columns() ? x.n : x.m, length = s.sums_by_columns() ? x.m : x.n;
  return (s.pk - 1) * double(ceil_div(lines, s.pk)) * double(length) * s.bytes.sum;
}

/// An axis of stretches. Those of a process lie one behind the other, or where it is said.
class axis_of_runs {
 public:
  explicit axis_of_runs(int processes) : held_(std::size_t(processes), 0) { axis_.processes = processes; }
  void add(int process, index_t end) { add(process, end, held_[std::size_t(process)]); }
  void add(int process, index_t end, index_t at) {
    index_t& next =
        held_[std::size_t(process)];  // where what follows the last stretch of the process would lie
    const index_t length = end - axis_.begin.back();
    if (!axis_.process.empty() && axis_.process.back() == process && at == next) {
      axis_.begin.back() = end;
    } else {
      axis_.begin.push_back(end);
      axis_.at.push_back(at);
      axis_.process.push_back(process);
    }
    next = at + length;
  }
  layout::axis take() { return std::move(axis_); }

 private:
  layout::axis axis_;
  std::vector<index_t> held_;
};

/// Lines of k that one rank has of A, and one of B.
struct stretch {
  index_t begin, end;
  int of_a, of_b;
};
/// Whether lines of k stand by their senders in panels. An operand whose panels do not travel must stand so as well: that is
/// worth a copy of it if it is no larger than twice what travels.
bool sorts_k(const schedule& s) {
  if (s.a_blocks.block == 0 && s.b_blocks.block == 0) return false;
  const schedule::box x = s.largest_box();
  const double a = double(x.m) * s.bytes.a, b = double(x.n) * s.bytes.b;  // of a line of k
  if (s.pm > 1 && s.pn > 1) return true;
  return s.pn == 1 ? a <= 2 * b * (s.pm - 1) / s.pm : b <= 2 * a * (s.pn - 1) / s.pn;
}
/// Those of a step, in the order of panels. Blocks that are dealt stand by the rank that sends A's, then B's, so that messages are
/// few: B's senders in turn and back, so that the last of one of A's is the first of the next.
std::vector<stretch> stretches_of(const schedule& s, int ik, int t) {
  const index_t begin = s.step_begin(ik, t), end = s.step_begin(ik, t + 1);
  std::vector<stretch> all;
  for_each_run(s.a_blocks, begin, end, s.pn, [&](int in, index_t from, index_t to) {
    all.push_back({from, to, in, 0});
  });
  std::vector<stretch> both;
  std::size_t i = 0;
  for_each_run(s.b_blocks, begin, end, s.pm, [&](int im, index_t from, index_t to) {
    for (; i < all.size() && all[i].begin < to; ++i) {
      both.push_back({std::max(from, all[i].begin), std::min(to, all[i].end), all[i].of_a, im});
      if (all[i].end > to) break;  // the rest of it is another rank's of B
    }
  });
  const auto place = [](const stretch& x) { return std::pair(x.of_a, x.of_a % 2 == 0 ? x.of_b : -x.of_b); };
  if (sorts_k(s))
    std::stable_sort(both.begin(), both.end(),
                     [&](const stretch& x, const stretch& y) { return place(x) < place(y); });
  return both;
}
std::vector<schedule::run> runs_of(const std::vector<stretch>& stretches, index_t begin,
                                   int stretch::*sharer) {
  std::vector<schedule::run> runs;
  for (const stretch& x : stretches) {
    const index_t end = begin + x.end - x.begin;
    if (runs.empty() || runs.back().sharer != x.*sharer) runs.push_back({x.*sharer, begin, end});
    runs.back().end = begin = end;
  }
  return runs;
}

/// k, dealt out to the ranks that share A or B.
layout::axis k_axis(const schedule& s, const dealt_blocks& blocks, int sharers, int stretch::*sharer,
                    bool as_in_panels) {
  axis_of_runs axis(s.pk * sharers);
  std::vector<index_t> held(std::size_t(s.pk * sharers), 0);
  for (int ik = 0; ik < s.pk; ++ik)
    for (int step = 0; step < s.steps(); ++step) {
      if (!as_in_panels || !sorts_k(s)) {
        for_each_run(blocks, s.step_begin(ik, step), s.step_begin(ik, step + 1), sharers,
                     [&](int p, index_t, index_t end) { axis.add(ik * sharers + p, end); });
        continue;
      }
      struct placed {
        index_t end, at;
        int process;
      };
      std::vector<placed> all;
      for (const stretch& x : stretches_of(s, ik, step)) {
        const int process = ik * sharers + x.*sharer;
        all.push_back({x.end, held[std::size_t(process)], process});
        held[std::size_t(process)] += x.end - x.begin;
      }
      std::sort(all.begin(), all.end(), [](const placed& x, const placed& y) { return x.end < y.end; });
      for (const placed& x : all) axis.add(x.process, x.end, x.at);
    }
  return axis.take();
}

/// How many of a rank's lines come first: whole tiles of the local product where there are some, so that panels are aligned.
index_t first_of(index_t lines, int sixteenths) {
  if (sixteenths == 0) return lines;
  const index_t unit = lines < 64     ? 1
                       : lines < 1024 ? 16
                                      : 128,
                first = lines / 16 * sixteenths + lines % 16 * sixteenths / 16;
  return std::min(lines, ceil_div(first, unit) * unit);
}
/// Rows or columns, with one or two processes for each of `parts`: those that come first, and the others.
layout::axis lines_axis(const dealt_blocks& d, index_t extent, int parts, int processes, int sixteenths) {
  axis_of_runs axis(parts * processes);
  std::vector<index_t> first(std::size_t(parts), extent);
  for (int p = 0; processes > 1 && p < parts; ++p)
    first[std::size_t(p)] = first_of(lines_of(d, 0, extent, p, parts), sixteenths);
  for_each_run(d, 0, extent, parts, [&](int p, index_t begin, index_t end) {
    index_t& left = first[std::size_t(p)];
    const index_t between = std::min(end, begin + left);
    left -= between - begin;
    if (begin < between) axis.add(p * processes, between);
    if (between < end) axis.add(p * processes + 1, end);
  });
  return axis.take();
}

std::string bytes_text(double bytes) {
  const char* const unit[] = {"B", "kB", "MB", "GB", "TB"};
  int u = 0;
  for (; bytes >= 1000 && u < 4; ++u) bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", bytes, unit[u]);
  return text;
}

std::string blocks_text(const char* of, const dealt_blocks& d) {
  if (d.block == 0) return "";
  char text[160];
  std::snprintf(text, sizeof text, ", %s in blocks of %lld, the first of %lld on part %d", of,
                static_cast<long long>(d.block), static_cast<long long>(d.first), d.from);
  return text;
}

}  // namespace

bool schedule::place(int rank, int& im, int& in, int& ik) const {
  int number = rank;
  if (!ranks_of_places.empty())
    number = int(std::find(ranks_of_places.begin(), ranks_of_places.end(), rank) - ranks_of_places.begin());
  in = number % pn, im = number / pn % pm, ik = number / (pn * pm);
  return number < places();
}

index_t schedule::rows_of(int im) const { return lines_of(row_blocks, 0, m, im, pm); }
index_t schedule::cols_of(int in) const { return lines_of(col_blocks, 0, n, in, pn); }
schedule::box schedule::largest_box() const {
  return {most_lines(row_blocks, m, pm), most_lines(col_blocks, n, pn), ceil_div(k, pk)};
}

int schedule::steps() const {
  const index_t longest = ceil_div(k, pk);
  return longest == 0 ? 0 : 1 + int(ceil_div(longest - std::min(first(), longest), step));
}

index_t schedule::step_begin(int ik, int t) const {
  return std::min(cut(k, pk, ik) + (t == 0 ? 0 : first() + (t - 1) * step), cut(k, pk, ik + 1));
}

std::vector<schedule::run> schedule::runs_of_a(int ik, int t) const {
  return runs_of(stretches_of(*this, ik, t), step_begin(ik, t), &stretch::of_a);
}
std::vector<schedule::run> schedule::runs_of_b(int ik, int t) const {
  return runs_of(stretches_of(*this, ik, t), step_begin(ik, t), &stretch::of_b);
}

index_t schedule::first_rows(int im) const { return first_of(rows_of(im), pn > 1 ? first_sixteenths : 0); }
index_t schedule::first_cols(int in) const { return first_of(cols_of(in), pm > 1 ? first_sixteenths : 0); }

bool schedule::sums_by_columns() const { return ceil_div(n, pn) >= ceil_div(m, pm); }

layout schedule::layout_a(bool as_copied) const {
  const int parts = as_copied && first_sixteenths > 0 && pn > 1 ? 2 : 1;
  layout::tables t;
  t.rows = lines_axis(row_blocks, m, pm, parts, first_sixteenths);
  t.cols = k_axis(*this, a_blocks, pn, &stretch::of_a, as_copied);
  for (int im = 0; im < pm; ++im)
    for (int part = 0; part < parts; ++part)
      for (int ik = 0; ik < pk; ++ik)
        for (int in = 0; in < pn; ++in) t.rank.push_back(rank_of(im, in, ik)), t.part.push_back(part);
  return layout(std::move(t));
}

layout schedule::layout_b(bool as_copied) const {
  const int parts = as_copied && first_sixteenths > 0 && pm > 1 ? 2 : 1;
  layout::tables t;
  t.rows = k_axis(*this, b_blocks, pm, &stretch::of_b, as_copied);
  t.cols = lines_axis(col_blocks, n, pn, parts, first_sixteenths);
  for (int ik = 0; ik < pk; ++ik)
    for (int im = 0; im < pm; ++im)
      for (int in = 0; in < pn; ++in)
        for (int part = 0; part < parts; ++part)
          t.rank.push_back(rank_of(im, in, ik)), t.part.push_back(part);
  return layout(std::move(t));
}

layout schedule::layout_sums() const {
  const bool by_columns = sums_by_columns();
  layout::tables t;
  const auto blocks = [](layout::axis& a, const dealt_blocks& d, index_t extent, int parts, int shares) {
    if (d.block > 0) {
      axis_of_runs dealt(parts);
      for_each_run(d, 0, extent, parts, [&](int part, index_t, index_t end) { dealt.add(part, end); });
      a = dealt.take();
      return;
    }
    a.processes = parts * shares;
    for (int x = 0; x < parts; ++x)
      for (int share = 0; share < shares; ++share) {
        const index_t begin = cut(extent, parts, x), length = cut(extent, parts, x + 1) - begin;
        a.begin.push_back(begin + cut(length, shares, share + 1));
        a.at.push_back(0);
        a.process.push_back(x * shares + share);
      }
  };
  blocks(t.rows, row_blocks, m, pm, by_columns ? 1 : pk);
  blocks(t.cols, col_blocks, n, pn, by_columns ? pk : 1);
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
    const index_t begin = step_begin(ik, t), end = step_begin(ik, t + 1);
    others_a += end - begin - lines_of(a_blocks, begin, end, in, pn);
    others_b += end - begin - lines_of(b_blocks, begin, end, im, pm);
  }
  return others_a * rows_of(im) * bytes.a + others_b * cols_of(in) * bytes.b;
}

index_t schedule::sum_bytes(int rank) const {
  int im, in, ik;
  if (!place(rank, im, in, ik)) return 0;
  const index_t lines = sums_by_columns() ? cols_of(in) : rows_of(im),
                length = sums_by_columns() ? rows_of(im) : cols_of(in);
  return (pk - 1) * (cut(lines, pk, ik + 1) - cut(lines, pk, ik)) * length * bytes.sum;
}

index_t schedule::volume() const {
  index_t most = 0;
  for (int im = 0; im < pm; ++im)
    for (int in = 0; in < pn; ++in)
      for (int ik = 0; ik < pk; ++ik) {
        const int rank = rank_of(im, in, ik);
        most = std::max(most, panel_bytes(rank) + sum_bytes(rank));
      }
  return most;
}

double schedule::touched() const {
  const box x = largest_box();
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
  const box x = largest_box();
  const double sums = double(x.m) * double(x.n) * bytes.sum, operands = operands_memory(*this, x);
  const double most = std::max(operands + panels_memory(*this, x) + sums, sums + shares_memory(*this, x));
  return most < 0x1p62 ? index_t(most) : unlimited_memory;
}

std::string schedule::to_string() const {
  char text[512];
  std::snprintf(
      text, sizeof text,
      "%lld x %lld x %lld (m x n x k) on %d of %d ranks: grid %d x %d x %d, k in %d step%s of %lld%s%s; a "
      "rank "
      "receives at most %s (it touches %.3g of the lower bound) and allocates at most %s and buffers to "
      "redistribute",
      static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k), places(), ranks, pm,
      pn, pk, steps(), steps() == 1 ? "" : "s", static_cast<long long>(step),
      first() < step ? (", the first of " + std::to_string(first())).c_str() : "",
      first_sixteenths > 0
          ? (", " + std::to_string(first_sixteenths) + "/16 of rows and columns that travel first").c_str()
          : "",
      bytes_text(double(volume())).c_str(), touched() / std::max(1.0, touched_bound()),
      bytes_text(double(memory())).c_str());
  std::string all = text;
  all += blocks_text("rows", row_blocks) + blocks_text("columns", col_blocks) +
         blocks_text("k of A", a_blocks) + blocks_text("k of B", b_blocks);
  if (ranks_of_places.empty()) return all;
  all += ", places are ranks";
  for (const int rank : ranks_of_places) all.append(" ").append(std::to_string(rank));
  return all;
}

}  // namespace keramos::dist
