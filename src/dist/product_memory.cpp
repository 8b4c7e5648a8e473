#include <keramos/dist/product_memory.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <keramos/dist/gemm.hpp>

namespace keramos::detail {
namespace {

/// As good as that of memory that is allocated, so that products are computed alike wherever operands lie.
constexpr index_t alignment = 128;

index_t padded(index_t bytes) { return ceil_div(bytes, alignment) * alignment; }

/// An operand's own memory, if it lies there as the schedule wants it, or null.
char* in_place(const dist_operand& x, bool stays, bool is_plain, index_t row_stride, index_t col_stride) {
  if (!stays || !is_plain || x.parts.empty()) return nullptr;
  const region& r = x.parts.front();
  const bool fits = r.row_stride == row_stride && r.col_stride == col_stride &&
                    reinterpret_cast<std::uintptr_t>(r.data) % alignment == 0;
  return fits ? static_cast<char*>(const_cast<void*>(r.data)) : nullptr;
}

/// Two, if `first` of the lines are a stage of their own. `own` is where all of them lie in one piece, or null.
std::vector<dist_band> bands_of(index_t lines, index_t first, char* own) {
  if (first >= lines) return {{0, lines, own}};
  return {{0, first}, {first, lines}};
}

}  // namespace

dist_product_memory::dist_product_memory(dist::communicator& comm, const dist_product& p,
                                         const dist_plan& plan, bool has_sums)
    : account_(comm.pool()) {
  const dist::schedule& s = plan.schedule;
  const index_t m = plan.m, n = plan.n;
  const bool works = plan.works;
  a = bands_of(m, s.first_rows(plan.im), works ? in_place(p.a, plan.a_stays, p.plain_a, 1, m) : nullptr);
  b = bands_of(n, s.first_cols(plan.in), works ? in_place(p.b, plan.b_stays, p.plain_b, n, 1) : nullptr);

  const int buffers = s.steps() > 1 ? 2 : 1;
  // Of a line of k: what is copied, and what panels take.
  const index_t copy_a = plan.own_k_a * p.bytes.a, copy_b = plan.own_k_b * p.bytes.b,
                panel_a = works && s.pn > 1 ? s.step * p.bytes.a : 0,
                panel_b = works && s.pm > 1 ? s.step * p.bytes.b : 0,
                of_sums = has_sums ? m * n * p.bytes.sum : 0,
                of_others = works ? (s.pk - 1) * dist_shares(plan).elements(plan.ik) * p.bytes.sum : 0,
                of_messages = std::max(plan.a->message_bytes(), plan.b->message_bytes());
  const auto most = [&](const auto& size) {
    index_t copies = 0, panels = 0;
    const auto add = [&](const std::vector<dist_band>& bands, index_t copy, index_t panel) {
      for (const dist_band& x : bands)
        copies += x.own ? 0 : size(x.size() * copy), panels += size(x.size() * panel);
    };
    add(a, copy_a, panel_a), add(b, copy_b, panel_b);
    return std::max(copies + std::max(size(of_messages), buffers * panels + size(of_sums)),
                    size(of_sums) + std::max(size(of_others), size(plan.c->message_bytes())));
  };
  bytes = most([](index_t size) { return size; });
  const index_t size = most(padded);
  if (size == 0) return;

  memory_ = dist_memory(account_, size + alignment);
  const auto past = reinterpret_cast<std::uintptr_t>(memory_.data()) % alignment;
  char* const begin = memory_.data() + (alignment - past) % alignment;
  char* next = begin;
  const auto take = [&](index_t taken) { return std::exchange(next, next + padded(taken)); };
  const auto take_copies = [&](std::vector<dist_band>& bands, index_t copy) {
    for (dist_band& x : bands)
      if (!x.own) x.own = take(x.size() * copy);
  };
  take_copies(a, copy_a), take_copies(b, copy_b);
  messages = next;
  const auto take_panels = [&](std::vector<dist_band>& bands, index_t panel) {
    for (dist_band& x : bands)
      for (int i = 0; i < buffers; ++i) x.panel[i] = take(x.size() * panel);
  };
  take_panels(a, panel_a), take_panels(b, panel_b);
  others = begin;
  sums = begin + size - padded(of_sums);
}

dist_shares::dist_shares(const dist_plan& plan)
    : lines(plan.schedule.sums_by_columns() ? plan.n : plan.m),
      line(plan.schedule.sums_by_columns() ? plan.m : plan.n),
      parts(plan.schedule.pk) {}

// As schedule.cpp cuts.
index_t dist_shares::begin(int ik) const { return lines / parts * ik + lines % parts * ik / parts; }

}  // namespace keramos::detail
