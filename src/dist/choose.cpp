#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <keramos/base/error.hpp>
#include <keramos/dist/schedule.hpp>
#include <keramos/dist/traffic.hpp>

namespace keramos::dist {
namespace {

using detail::ceil_div;

/// Steps long enough that the product of two panels outweighs reading and writing C, and that messages are long.
constexpr index_t least_step = 256, least_panel_bytes = index_t(4) << 20;

/// Bytes of panels that a rank receives.
double panels_received(const schedule& s) {
  const schedule::box x = s.largest_box();
  const auto part = [&](index_t lines, int bytes, int sharers) {
    return double(lines) * double(x.k) * bytes * (sharers - 1) / sharers;
  };
  return part(x.m, s.bytes.a, s.pn) + part(x.n, s.bytes.b, s.pm);
}

/// How much shorter the first step is where `memory_per_link` is said. Its product must last as long as the next panels travel.
constexpr index_t first_part = 4;

/// Bytes of memory that reading and writing the sums once more takes.
double sums_once_more(const schedule& s) {
  const schedule::box x = s.largest_box();
  return 2.0 * double(x.m) * double(x.n) * s.bytes.sum;
}
/// How many steps behind the first let its panels, for which the product waits, and sums that are read and written again in each
/// other step take the least time together.
index_t other_steps(const schedule& s, double memory_per_link) {
  const double panels = panels_received(s) / double(first_part);
  return std::max<index_t>(1, index_t(std::lround(std::sqrt(panels * memory_per_link / sums_once_more(s)))));
}
/// Whether a product of one step is worth cutting in two stages. On two and four H200 one of halves that received 67 MB was 3 to
/// 6 % faster so, one of 38 MB was not, one of 17 MB was 10 to 15 % slower.
bool is_worth_stages(const schedule& s) { return panels_received(s) >= 64e6; }
/// Whether the product is made at once, where two steps would do: it need not keep sums where it can write C. In two
/// stages two H100 multiply f64 of n = 8192 and 16384 3 to 5 % faster than in two steps, f32 up to 3 %. Products of halves are over
/// so soon that even waiting for all panels costs less than sums; and so does waiting for short panels beside a large C.
bool is_one_step(const schedule& s, double memory_per_link) {
  if (s.pk > 1 || other_steps(s, memory_per_link) > 1) return false;
  const bool is_narrow = std::max(s.bytes.a, s.bytes.b) < s.bytes.sum,
             has_long_panels = panels_received(s) >= 128e6;
  const double of_other_steps = panels_received(s) * double(first_part - 1) / double(first_part);
  return is_narrow || has_long_panels || of_other_steps * memory_per_link < sums_once_more(s);
}
index_t balanced_step(const schedule& s, double memory_per_link) {
  constexpr index_t unit = 128;
  const index_t k = s.largest_box().k;
  if (is_one_step(s, memory_per_link)) return k;
  const index_t others = other_steps(s, memory_per_link);
  return ceil_div(ceil_div(k * first_part, others * first_part + 1), unit) * unit;
}

/// What comes first of a product of one step, in sixteenths. Its product must last as long as the other panels travel, all of which
/// take a fifth of a large product's time, or less. Where rows and columns are cut, it is the product of both shares. (A third
/// stage, with a quarter first, gained nothing on four H200.)
int first_sixteenths(const schedule& s, double memory_per_link) {
  if (s.steps() > 1 || !is_worth_stages(s) || !is_one_step(s, memory_per_link)) return 0;
  return s.pm > 1 && s.pn > 1 ? 8 : 4;
}

/// The fewest lines of k of which all sharers have as many, where they are dealt out.
index_t round_of(const schedule& s) {
  const auto of = [&](const dealt_blocks& d, int sharers) {
    return d.block == 0 ? 1 : d.block > s.k / sharers ? s.k : d.block * sharers;
  };
  const index_t a = of(s.a_blocks, s.pn), b = of(s.b_blocks, s.pm), other = b / std::gcd(a, b);
  return a > s.k / other ? s.k : a * other;
}

/// The longest step that fits, of those that give each sharer something; false if none does.
bool choose_step(schedule& s, index_t memory, double memory_per_link) {
  const schedule::box x = s.largest_box();
  s.first_step = 0, s.first_sixteenths = 0;
  const index_t line_bytes = std::max<index_t>(1, x.m * s.bytes.a + x.n * s.bytes.b);
  const index_t least = std::clamp<index_t>(std::max(s.pm, s.pn), 1, std::max<index_t>(1, x.k));
  // With one sharer nothing is sent, and there is nothing to hide.
  const bool sends = s.pm > 1 || s.pn > 1, is_balanced = sends && memory_per_link > 0 && s.m > 0 && s.n > 0;
  s.step = sends ? std::min(x.k, std::max(least_step, least_panel_bytes / line_bytes)) : x.k;
  if (is_balanced) s.step = std::min(x.k, std::max(s.step, balanced_step(s, memory_per_link)));
  for (s.step = std::max(least, s.step);; s.step = std::max(least, s.step / 2)) {
    if (is_balanced && s.step < x.k) s.first_step = std::max(least, s.step / first_part);
    if (s.memory() <= memory) {
      if (is_balanced) s.first_sixteenths = first_sixteenths(s, memory_per_link);
      return true;
    }
    if (s.step == least) return false;
  }
}

double received(const schedule& s) {
  const schedule::box x = s.largest_box();
  return panels_received(s) + double(x.m) * double(x.n) * s.bytes.sum * (s.pk - 1) / s.pk;
}
double work(const schedule& s) {
  const schedule::box x = s.largest_box();
  return double(x.m) * double(x.n) * double(x.k);
}
bool is_allowed(double work, double least_work) { return work * 24 <= least_work * 25; }

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

/// The work of the grid of least work that fits.
double least_work_of(const schedule& none, index_t memory, double memory_per_link) {
  double least_work = std::numeric_limits<double>::infinity();
  index_t leanest = unlimited_memory;
  for_each_grid(none, [&](schedule s) {
    if (work(s) >= least_work && leanest <= memory) return;
    if (choose_step(s, memory, memory_per_link)) least_work = std::min(least_work, work(s));
    leanest = std::min(leanest, s.memory());
  });
  if (leanest > memory)
    throw memory_error("keramos::dist::gemm: options.memory is " + std::to_string(memory) +
                       " bytes a rank but " + std::to_string(none.m) + "x" + std::to_string(none.n) + "x" +
                       std::to_string(none.k) + " on " + std::to_string(none.ranks) + " ranks needs " +
                       std::to_string(leanest) + " at least; allow more, or use more ranks");
  return least_work;
}

schedule of_least_traffic(const schedule& none, double least_work, index_t memory, double memory_per_link) {
  schedule best;
  double best_received = std::numeric_limits<double>::infinity();
  for_each_grid(none, [&](schedule s) {
    if (!is_allowed(work(s), least_work)) return;
    const double bytes_here = received(s);
    const auto ties = [](const schedule& x) { return std::pair(x.places(), x.pk); };
    if (bytes_here > best_received || (bytes_here == best_received && ties(s) >= ties(best))) return;
    if (choose_step(s, memory, memory_per_link)) best = s, best_received = bytes_here;
  });
  return best;
}

/// How an axis is dealt out to `parts` processes, if it is, from the process of its first block on.
dealt_blocks dealt_as(const layout::axis& a, int parts) {
  const std::size_t blocks = a.at.size();
  if (parts < 2 || a.processes != parts || blocks < 2) return {};
  const dealt_blocks d{a.begin[2] - a.begin[1], a.begin[1], a.process[0]};
  for (std::size_t b = 0; b < blocks; ++b) {
    const index_t length = a.begin[b + 1] - a.begin[b];
    const bool is_last = b + 1 == blocks;
    if (length < 1 || (b > 0 && (is_last ? length > d.block : length != d.block)) ||
        a.process[b] != int((std::size_t(d.from) + b) % std::size_t(parts)))
      return {};
  }
  return d;
}

/// The same of lines of k, which may as well be all of one process.
dealt_blocks k_dealt_as(const layout::axis& a, int parts) {
  if (parts < 2 || a.at.size() != 1) return dealt_as(a, parts);
  return {a.begin[1], a.begin[1], a.process[0] % parts};
}

/// The grid of `s` with its parts dealt out as C is, or where C is not, as A or B is.
schedule dealt_like(schedule s, const operand_layouts& where) {
  const auto of = [](const layout& l) -> const layout::tables& { return l.parts_of_all(); };
  s.row_blocks = dealt_as(of(where.c).rows, s.pm);
  if (s.row_blocks.block == 0) s.row_blocks = dealt_as(of(where.a).rows, s.pm);
  s.col_blocks = dealt_as(of(where.c).cols, s.pn);
  if (s.col_blocks.block == 0) s.col_blocks = dealt_as(of(where.b).cols, s.pn);
  s.a_blocks = k_dealt_as(of(where.a).cols, s.pn);
  s.b_blocks = k_dealt_as(of(where.b).rows, s.pm);
  // Part 0 is the process that has the first block; ranks find their places.
  s.a_blocks.from = (s.a_blocks.from - s.col_blocks.from + s.pn) % s.pn;
  s.b_blocks.from = (s.b_blocks.from - s.row_blocks.from + s.pm) % s.pm;
  s.row_blocks.from = s.col_blocks.from = 0;
  return s;
}

/// Makes steps whole rounds, in which all sharers send as much. False if that takes more memory, if too little of the panels is
/// hidden then (of the only step none has to be), or if steps have very many blocks.
bool choose_rounds(schedule& s, index_t memory, double memory_per_link) {
  if (s.a_blocks.block == 0 && s.b_blocks.block == 0) return true;
  constexpr index_t most_blocks = 64, least_hidden = 4;  // of a step; for which nothing waits, of all: 3 in 4
  const index_t round = round_of(s);
  const auto rounded = [&](index_t step) { return std::min(s.k, ceil_div(step, round) * round); };
  if (s.first_step > 0) s.first_step = rounded(s.first_step);
  s.step = rounded(s.step);
  const auto blocks = [&](const dealt_blocks& d) { return d.block == 0 ? 0 : s.step / d.block; };
  const index_t in_step = std::max(blocks(s.a_blocks), blocks(s.b_blocks));
  if (s.step == s.k && memory_per_link > 0 && is_one_step(s, memory_per_link))
    return in_step * first_part <= most_blocks * (first_part + 1) && s.memory() <= memory;
  return s.first() <= s.k / least_hidden && in_step <= most_blocks && s.memory() <= memory;
}

/// What a round of messages that redistributes takes, as bytes that a rank receives meanwhile: four H200, of which each receives
/// 340 GB/s, took 50 us for messages of any length and the kernels that pack them.
double round_bytes(double memory_per_link) { return memory_per_link > 0 ? 16e6 : 0; }

/// The most bytes that a rank receives or sends, times `weight`, with those of a round if anything is redistributed.
double cost_of(const detail::dist_traffic& traffic, const std::vector<int>& places, double memory_per_link,
               double weight = 1) {
  double most = 0;
  bool redistributes = false;
  for (const auto& x : traffic.of_ranks(places))
    most = std::max({most, x.received, x.sent}), redistributes = redistributes || x.redistributed > 0;
  return weight * most + (redistributes ? round_bytes(memory_per_link) : 0);
}

/// Whether counting takes microseconds, a few milliseconds at most.
bool is_counted(const operand_layouts& where, int ranks) {
  constexpr std::size_t most_blocks = 16384, most_parts = 512;
  std::size_t blocks = 0;
  for (const layout* l : {&where.a, &where.b, &where.c}) {
    const layout::tables& t = l->parts_of_all();
    blocks += t.rows.at.size() + t.cols.at.size();
    if (t.rank.size() > most_parts || l->ranks() > ranks) return false;
  }
  return ranks > 1 && ranks <= 64 && blocks <= most_blocks;
}

}  // namespace

schedule choose_schedule(index_t m, index_t n, index_t k, int ranks, element_bytes bytes, index_t memory,
                         double memory_per_link) {
  if (m < 0 || n < 0 || k < 0 || ranks < 1)
    throw invalid_argument("keramos::dist::choose_schedule: m, n and k are " + std::to_string(m) + ", " +
                           std::to_string(n) + " and " + std::to_string(k) + " on " + std::to_string(ranks) +
                           " ranks but extents must not be negative, and there must be a rank");
  schedule none;
  none.m = m, none.n = n, none.k = k, none.ranks = ranks, none.bytes = bytes;
  return of_least_traffic(none, least_work_of(none, memory, memory_per_link), memory, memory_per_link);
}

schedule choose_schedule(const operand_layouts& where, int ranks, element_bytes bytes, index_t memory,
                         double memory_per_link) {
  const index_t m = where.c.rows(), n = where.c.cols(), k = where.a.cols();
  if (where.a.rows() != m || where.b.rows() != k || where.b.cols() != n)
    throw invalid_argument("keramos::dist::choose_schedule: op(A) is " + where.a.to_string() + ", op(B) " +
                           where.b.to_string() + " and C " + where.c.to_string() +
                           ", whose extents are no product's");
  const schedule plain = choose_schedule(m, n, k, ranks, bytes, memory, memory_per_link);
  if (m == 0 || n == 0 || k == 0 || !is_counted(where, ranks)) return plain;

  constexpr double worth_it = 0.95;
  detail::dist_traffic of_plain(plain);
  of_plain.count(where);
  schedule best = plain;
  double best_cost = cost_of(of_plain, {}, memory_per_link, worth_it);
  const auto consider = [&](const schedule& s) {
    detail::dist_traffic traffic(s);
    if (traffic.scheduled() >= best_cost) return;
    traffic.count(where);
    if (traffic.least_of_places() >= best_cost) return;
    for (const std::vector<int>& places : {std::vector<int>(), traffic.near_places()}) {
      const double cost = cost_of(traffic, places, memory_per_link);
      if (cost >= best_cost) continue;
      best = s, best_cost = cost;
      best.ranks_of_places = places;
    }
  };
  schedule none;
  none.m = m, none.n = n, none.k = k, none.ranks = ranks, none.bytes = bytes;
  const double least_work = least_work_of(none, memory, memory_per_link);
  for_each_grid(none, [&](schedule s) {
    if (!is_allowed(work(s), least_work)) return;
    if (choose_step(s, memory, memory_per_link)) consider(s);
    if (s.pk > 1) return;
    schedule dealt = dealt_like(s, where);
    for (const bool with_k : {true, false}) {
      if (!with_k) dealt.a_blocks = dealt.b_blocks = {};
      if (is_allowed(work(dealt), least_work) && choose_step(dealt, memory, memory_per_link) &&
          (!with_k || choose_rounds(dealt, memory, memory_per_link)))
        consider(dealt);
    }
  });
  return best;
}

}  // namespace keramos::dist
