#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <keramos/base/error.hpp>
#include <keramos/dist/schedule.hpp>

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

/// The step with which the panels of the first, for which the product waits, and sums that are read and written again in each
/// other step take the least time together.
index_t balanced_step(const schedule& s, double memory_per_link) {
  constexpr index_t unit = 128;
  const schedule::box x = s.largest_box();
  const double panels = panels_received(s) / double(first_part);
  const double sums = 2.0 * double(x.m) * double(x.n) * s.bytes.sum;
  const auto others = std::max<index_t>(1, index_t(std::lround(std::sqrt(panels * memory_per_link / sums))));
  return ceil_div(ceil_div(x.k * first_part, others * first_part + 1), unit) * unit;
}

/// The longest step that fits, of those that give each sharer something; false if none does.
bool choose_step(schedule& s, index_t memory, double memory_per_link) {
  const schedule::box x = s.largest_box();
  s.first_step = 0;
  const index_t line_bytes = std::max<index_t>(1, x.m * s.bytes.a + x.n * s.bytes.b);
  const index_t least = std::clamp<index_t>(std::max(s.pm, s.pn), 1, std::max<index_t>(1, x.k));
  // With one sharer nothing is sent, and there is nothing to hide.
  const bool sends = s.pm > 1 || s.pn > 1, is_balanced = sends && memory_per_link > 0 && s.m > 0 && s.n > 0;
  s.step = sends ? std::min(x.k, std::max(least_step, least_panel_bytes / line_bytes)) : x.k;
  if (is_balanced) s.step = std::min(x.k, std::max(s.step, balanced_step(s, memory_per_link)));
  for (s.step = std::max(least, s.step);; s.step = std::max(least, s.step / 2)) {
    if (is_balanced && s.step < x.k) s.first_step = std::max(least, s.step / first_part);
    if (s.memory() <= memory) return true;
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

}  // namespace keramos::dist
