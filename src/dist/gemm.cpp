#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <keramos/dist/gemm.hpp>
#include <keramos/dist/move.hpp>
#include <keramos/dist/plan.hpp>
#include <keramos/dist/recorder.hpp>

namespace keramos::detail {
namespace {

constexpr const char* caller = "keramos::dist::gemm";
constexpr bool is_host = backend::traits<dist::communicator::execution_space>::is_host;

/// As good as that of memory that is allocated, so that products are computed alike wherever operands lie.
constexpr index_t alignment = 128;

/// Where part `i` of `parts` of n begins: as schedule.cpp cuts.
index_t cut(index_t n, int parts, int i) { return n / parts * i + n % parts * i / parts; }

/// What one rank does of one product.
class rank_product {
  using activity = dist::activity;

 public:
  /// Allocates, here only, so that it may be made before ranks have agreed. @throws memory_error or std::bad_alloc
  rank_product(dist::communicator& comm, const dist_product& p, const dist_plan& plan,
               dist::gemm_report& report)
      : comm_(comm),
        p_(p),
        plan_(plan),
        s_(plan.schedule),
        report_(report),
        works_(plan.works),
        im_(plan.im),
        in_(plan.in),
        ik_(plan.ik),
        m_(plan.m),
        n_(plan.n),
        account_(comm.pool()) {
    bands_a_ = bands_of(m_, s_.first_rows(im_), in_place(p_.a, plan_.a_stays, p_.plain_a, 1, m_));
    bands_b_ = bands_of(n_, s_.first_cols(in_), in_place(p_.b, plan_.b_stays, p_.plain_b, n_, 1));
    into_c_ = may_write_c();
    allocate();
  }

  void run(dist_recorder& recorder) {
    recorder_ = &recorder;
    // Where nothing is sent, what belongs to the second stage is copied later: while the first one's panels travel, if a queue
    // orders transfers.
    copies_by_stages_ = works_ && s_.first_sixteenths > 0 && plan_.a->is_local() && plan_.b->is_local();
    redistribute(copies_by_stages_ ? 0 : -1);
    multiply();
    // A product that failed is told before C is written. On a device, products that did not fail may still be running.
    dist_allocate(comm_, [&] {
      if (failure_) std::rethrow_exception(failure_);
    });
    add_shares();
    write_c();
    comm_.queue().wait_and_throw();
  }

 private:
  /// Rows of A, or columns of B, whose panels travel together. Lines of k stand one behind the other, those of this rank and those
  /// of a panel.
  struct band {
    index_t begin, end;
    char* own = nullptr;
    char* panel[2] = {};
    index_t size() const { return end - begin; }
  };
  /// One for each stage, or for all. `own`: where the matrix lies as the schedule wants it, or null, as it is with two.
  static std::vector<band> bands_of(index_t lines, index_t first, char* own) {
    if (first >= lines) return {{0, lines, own}};
    return {{0, first}, {first, lines}};
  }

  /// One block of memory for all, in which what is not needed at the same time has the same place: copies of A and B, then
  /// panels or messages; sums at the end; the others' sums, and the messages of C, where copies were.
  void allocate() {
    const int buffers = s_.steps() > 1 ? 2 : 1;
    // Of a line of k: what is copied, and what panels take.
    const index_t copy_a = plan_.own_k_a * p_.bytes.a, copy_b = plan_.own_k_b * p_.bytes.b,
                  panel_a = works_ && s_.pn > 1 ? s_.step * p_.bytes.a : 0,
                  panel_b = works_ && s_.pm > 1 ? s_.step * p_.bytes.b : 0,
                  sums = into_c_ ? 0 : m_ * n_ * p_.bytes.sum,
                  others = works_ ? (s_.pk - 1) * share_size(ik_) * p_.bytes.sum : 0,
                  messages = std::max(plan_.a->message_bytes(), plan_.b->message_bytes());
    const auto most = [&](const auto& bytes) {
      index_t copies = 0, panels = 0;
      const auto add = [&](const std::vector<band>& bands, index_t copy, index_t panel) {
        for (const band& x : bands)
          copies += x.own ? 0 : bytes(x.size() * copy), panels += bytes(x.size() * panel);
      };
      add(bands_a_, copy_a, panel_a), add(bands_b_, copy_b, panel_b);
      return std::max(copies + std::max(bytes(messages), buffers * panels + bytes(sums)),
                      bytes(sums) + std::max(bytes(others), bytes(plan_.c->message_bytes())));
    };
    // What aligns its parts is not counted.
    const auto padded = [](index_t bytes) { return ceil_div(bytes, alignment) * alignment; };
    report_.memory = most([](index_t bytes) { return bytes; });
    const index_t size = most(padded);
    if (size == 0) return;
    memory_ = dist_memory(account_, size + alignment);
    char* const begin =
        memory_.data() +
        (alignment - reinterpret_cast<std::uintptr_t>(memory_.data()) % alignment) % alignment;
    char* next = begin;
    const auto take = [&](index_t bytes) { return std::exchange(next, next + padded(bytes)); };
    const auto take_copies = [&](std::vector<band>& bands, index_t copy) {
      for (band& x : bands)
        if (!x.own) x.own = take(x.size() * copy);
    };
    take_copies(bands_a_, copy_a), take_copies(bands_b_, copy_b);
    messages_ = next;
    const auto take_panels = [&](std::vector<band>& bands, index_t panel) {
      for (band& x : bands)
        for (int i = 0; i < buffers; ++i) x.panel[i] = take(x.size() * panel);
    };
    take_panels(bands_a_, panel_a), take_panels(bands_b_, panel_b);
    others_ = begin;
    sums_ = begin + size - padded(sums);
  }

  /// The operand's own memory, if it lies there as the schedule wants it, or null.
  char* in_place(const dist_operand& x, bool stays, bool is_plain, index_t row_stride,
                 index_t col_stride) const {
    if (!works_ || !stays || !is_plain || x.parts.empty()) return nullptr;
    const region& r = x.parts.front();
    const bool fits = r.row_stride == row_stride && r.col_stride == col_stride &&
                      reinterpret_cast<std::uintptr_t>(r.data) % alignment == 0;
    return fits ? static_cast<char*>(const_cast<void*>(r.data)) : nullptr;
  }
  /// Whether the product may be written where C lies, instead of sums that are read once more. Hosts do not, where no product
  /// that fails leaves C written on other ranks; nor does a schedule that is given, with which bits are the same wherever C lies.
  bool may_write_c() const {
    if (is_host || !works_ || s_.pk > 1 || s_.steps() > 1 || plan_.given || !plan_.c_stays ||
        p_.c.parts.empty())
      return false;
    const auto overlaps_c = [&](const region& x) { return overlaps(x, p_.c.parts.front()); };
    return std::none_of(p_.a.parts.begin(), p_.a.parts.end(), overlaps_c) &&
           std::none_of(p_.b.parts.begin(), p_.b.parts.end(), overlaps_c);
  }
  void move(activity what, const dist_path& path, const dist_operand& from, const dist_operand& to,
            const dist_transfer& transfer, bool by_columns, char* messages, int part = -1) {
    const auto begin = recorder_->now(comm_.queue());
    const index_t received = dist_run(comm_, path, {from, to, transfer, by_columns, part}, messages);
    report_.redistributed_bytes += received;
    recorder_->add({.what = what, .bytes = received}, begin, recorder_->now(comm_.queue()));
  }

  /// All, or the part that belongs to a stage. What travels in panels comes first.
  void redistribute(int part) {
    const auto move_a = [&] {
      dist_operand own{"A", {}, {}};
      for (const band& x : bands_a_)
        own.parts.push_back({"A", x.own, std::size_t(p_.bytes.a), x.size(), plan_.own_k_a, 1, x.size()});
      move(activity::redistribute_a, *plan_.a, p_.a, own, p_.copy_a, true, messages_, part);
    };
    const auto move_b = [&] {
      dist_operand own{"B", {}, {}};
      for (const band& x : bands_b_)
        own.parts.push_back({"B", x.own, std::size_t(p_.bytes.b), plan_.own_k_b, x.size(), x.size(), 1});
      move(activity::redistribute_b, *plan_.b, p_.b, own, p_.copy_b, false, messages_, part);
    };
    if (s_.pn == 1 && plan_.a->is_local()) {
      move_b(), panels_are_there_ = comm_.queue().completion(), move_a();
    } else {
      move_a();
      if (s_.pm == 1 && plan_.b->is_local()) panels_are_there_ = comm_.queue().completion();
      move_b();
    }
  }

  /// The panels of a stage, by bands: those of a step, or of a band and those before. `held`: lines of k of the own parts of A and
  /// B that belong to it or to steps before.
  struct stage {
    index_t count = 0, held_a = 0, held_b = 0;
    const char* a[2] = {};
    const char* b[2] = {};
    dist_transfers transfers;
  };
  /// Begins to gather one operand's panel, of lines of `line` bytes from `begin` of k on. `own`: this rank's of the step, which
  /// lie one behind the other; `q` puts them into the panel. Returns where that is, and counts own lines.
  template <class RankOf>
  const char* gather(dist::communicator::queue_type& q, char* panel, const char* own, index_t line,
                     index_t begin, const std::vector<dist::schedule::run>& runs, int sharers, int mine,
                     const RankOf& rank_of, index_t& held, std::vector<dist::outgoing>& out,
                     std::vector<dist::incoming>& in) {
    const char* next = own;
    std::vector<dist_stretch> kept;
    for (const auto& r : runs) {
      const index_t bytes = (r.end - r.begin) * line;
      if (r.sharer == mine) held += r.end - r.begin;
      if (sharers == 1 || bytes == 0) continue;
      char* const there = panel + (r.begin - begin) * line;
      if (r.sharer != mine) {
        in.push_back({rank_of(r.sharer), there, std::size_t(bytes)}), report_.panel_bytes += bytes;
        continue;
      }
      kept.push_back({(r.begin - begin) * line, bytes});
      for (int x = 0; x < sharers; ++x)
        if (x != mine) out.push_back({rank_of(x), next, std::size_t(bytes)});
      next += bytes;
    }
    dist_spread(q, panel, own, kept);
    return sharers == 1 ? own : panel;
  }
  /// `before`: the stage before, if there is one.
  stage start(int i, const stage& before) {
    stage s;
    const bool is_cut = s_.first_sixteenths > 0;
    const int t = is_cut ? 0 : i;
    const index_t begin = s_.step_begin(ik_, t);
    s.count = s_.step_begin(ik_, t + 1) - begin;
    if (is_cut)
      std::copy(before.a, before.a + 2, s.a), std::copy(before.b, before.b + 2, s.b);
    else
      s.held_a = before.held_a, s.held_b = before.held_b;
    std::vector<dist::outgoing> out;
    std::vector<dist::incoming> in;
    if (i > 0 && copies_by_stages_) redistribute(i);
    // The panels of the step before the last are not needed any more when its product is done.
    comm_.transfers().depends_on(panels_are_there_ ? *panels_are_there_ : comm_.queue().completion());
    panels_are_there_.reset();
    // Before the first product there is nothing else to do: own lines are put into its panels while those of others arrive. Those
    // of the second band as well, so that its transfers need not wait for a copy, which the product would keep from running.
    auto& own = i == 0 || is_cut ? comm_.queue() : comm_.transfers();
    const std::size_t b = is_cut ? std::size_t(i) : 0;
    const auto gather_band = [&](const band& x, int bytes, const auto& runs, int sharers, int mine,
                                 const auto& rank_of, index_t& held) {
      const index_t line = x.size() * bytes;
      return gather(own, x.panel[t % 2], x.own + held * line, line, begin, runs, sharers, mine, rank_of, held,
                    out, in);
    };
    if (b < bands_a_.size())
      s.a[b] = gather_band(
          bands_a_[b], p_.bytes.a, s_.runs_of_a(ik_, t), s_.pn, in_,
          [&](int x) { return s_.rank_of(im_, x, ik_); }, s.held_a);
    if (b < bands_b_.size())
      s.b[b] = gather_band(
          bands_b_[b], p_.bytes.b, s_.runs_of_b(ik_, t), s_.pm, im_,
          [&](int x) { return s_.rank_of(x, in_, ik_); }, s.held_b);
    s.transfers = dist_transfers(*recorder_, comm_, activity::panels, i, out, in);
    return s;
  }

  void multiply() {
    if (!works_) return;
    stage now = start(0, {});
    for (int i = 0; i < s_.stages(); ++i) {
      stage next;
      const auto start_next = [&] {
        if (i + 1 < s_.stages()) next = start(i + 1, now);
      };
      // Transfers that a queue orders are queued while those before them arrive, so that no product waits until they are.
      const bool is_queued = now.transfers.is_queued();
      if (is_queued) start_next();
      now.transfers.wait();
      if (!is_queued) start_next();
      if (now.count > 0 && !failure_) try {
          multiply_panels(now, i, next.transfers);
        } catch (const dist::communication_error&) {
          throw;
        } catch (const std::exception&) {
          failure_ = std::current_exception();
        }
      now = std::move(next);
    }
  }
  /// What can be multiplied now, and not before.
  void multiply_panels(const stage& s, int i, dist_transfers& transfers) {
    for (std::size_t x = 0; x < bands_a_.size(); ++x)
      for (std::size_t y = 0; y < bands_b_.size(); ++y)
        if (s_.first_sixteenths == 0 || std::max(x, y) == std::size_t(i))
          multiply_bands(s, i, bands_a_[x], s.a[x], bands_b_[y], s.b[y], transfers);
  }
  /// On hosts in a few strips of columns, between which transfers go on. A device's product is only queued.
  void multiply_bands(const stage& s, int i, const band& rows, const char* panel_a, const band& cols,
                      const char* panel_b, dist_transfers& transfers) {
    const bool adds = s_.first_sixteenths == 0 && i > 0;
    const index_t strip = is_host && transfers
                              ? std::max<index_t>(256, ceil_div(ceil_div(cols.size(), 4), 64) * 64)
                              : cols.size();
    const matrix_view<char> sums{sums_, m_, n_, s_.sums_by_columns() ? 1 : n_, s_.sums_by_columns() ? m_ : 1};
    for (index_t j = 0; rows.size() > 0 && j < cols.size(); j += strip) {
      const index_t width = std::min(strip, cols.size() - j);
      const matrix_view<char> a{const_cast<char*>(panel_a), rows.size(), s.count, 1, rows.size()};
      const matrix_view<char> b{const_cast<char*>(panel_b) + j * p_.bytes.b, s.count, width, cols.size(), 1};
      const auto part_of = [&](const matrix_view<char>& c, index_t bytes) {
        return matrix_view<char>{
            c.data + (rows.begin * c.row_stride + (cols.begin + j) * c.col_stride) * bytes, rows.size(),
            width, c.row_stride, c.col_stride};
      };
      const auto begin = recorder_->now(comm_.queue());
      if (into_c_)
        p_.multiply_into_c(comm_.queue(), a, b, part_of(own_c(), index_t(p_.c.parts.front().element_bytes)));
      else
        p_.multiply(comm_.queue(), a, b, part_of(sums, p_.bytes.sum), adds);
      if (is_host) comm_.queue().wait_and_throw();
      recorder_->add({.what = activity::product,
                      .step = i,
                      .multiply_adds = double(rows.size()) * double(width) * double(s.count)},
                     begin, recorder_->now(comm_.queue()));
      transfers.progress();
    }
  }

  matrix_view<char> own_c() const {
    const region& r = p_.c.parts.front();
    return {static_cast<char*>(const_cast<void*>(r.data)), m_, n_, r.row_stride, r.col_stride};
  }

  /// Lines of this rank's block of C: columns, or rows. Rank ik of those that share it has those from share_begin(ik) on.
  index_t line() const { return (s_.sums_by_columns() ? m_ : n_); }
  index_t share_begin(int ik) const { return cut(s_.sums_by_columns() ? n_ : m_, s_.pk, ik); }
  index_t share_size(int ik) const { return (share_begin(ik + 1) - share_begin(ik)) * line(); }

  void add_shares() {
    if (!works_ || s_.pk == 1) return;
    const index_t size = share_size(ik_);
    const index_t bytes = size * p_.bytes.sum;
    char* const own = sums_ + share_begin(ik_) * line() * p_.bytes.sum;
    std::vector<dist::outgoing> out;
    std::vector<dist::incoming> in;
    char* next = others_;
    for (int ik = 0; ik < s_.pk; ++ik) {
      if (ik == ik_) continue;
      const int rank = s_.rank_of(im_, in_, ik);
      if (bytes > 0) in.push_back({rank, next, std::size_t(bytes)}), report_.sum_bytes += bytes;
      if (share_size(ik) > 0)
        out.push_back({rank, sums_ + share_begin(ik) * line() * p_.bytes.sum,
                       std::size_t(share_size(ik) * p_.bytes.sum)});
      next += bytes;
    }
    comm_.transfers().depends_on(comm_.queue().completion());
    dist_transfers(*recorder_, comm_, activity::exchange_sums, -1, out, in).wait();
    const auto begin = recorder_->now(comm_.queue());
    if (size > 0) p_.add(comm_.queue(), own, others_, ik_, s_.pk, size);
    const auto end = recorder_->now(comm_.queue());
    if (size > 0) recorder_->add({.what = activity::add_sums}, begin, end);
  }

  void write_c() {
    if (into_c_) {
      const auto now = recorder_->now(comm_.queue());
      recorder_->add({.what = activity::write_c}, now, now);
      return;
    }
    const bool by_columns = s_.sums_by_columns();
    const index_t share = works_ ? share_begin(ik_ + 1) - share_begin(ik_) : 0;
    const char* const own = works_ ? sums_ + share_begin(ik_) * line() * p_.bytes.sum : nullptr;
    dist_operand sums{"the sums", {}, {}};
    sums.parts.push_back({"the sums", own, std::size_t(p_.bytes.sum), by_columns ? m_ : share,
                          by_columns ? share : n_, by_columns ? 1 : n_, by_columns ? m_ : 1});
    move(activity::write_c, *plan_.c, sums, p_.c, p_.update, by_columns, others_);
  }

  dist::communicator& comm_;
  const dist_product& p_;
  const dist_plan& plan_;
  const dist::schedule& s_;
  dist::gemm_report& report_;
  dist_recorder* recorder_ = nullptr;
  const bool works_;
  const int im_, in_, ik_;
  const index_t m_, n_;  // of this rank's block
  bool into_c_ = false;  // products are written where C lies
  bool copies_by_stages_ = false;
  /// Behind the redistribution of an operand whose panels travel, where the other's do not and no messages lie where these panels
  /// will: they need not wait for the other.
  std::optional<dist::communicator::queue_type::event_type> panels_are_there_;
  dist_account account_;
  dist_memory memory_;
  std::vector<band> bands_a_, bands_b_;
  char *sums_ = nullptr, *messages_ = nullptr;
  char* others_ = nullptr;  // sums of other ranks, then messages of C
  // Of a product here. Other ranks wait for this one's panels: it sends them, and all throw when they next agree.
  std::exception_ptr failure_;
};

}  // namespace

std::string dist_bytes_text(const void* data, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i)
    for (const int shift : {4, 0})
      text += "0123456789abcdef"[static_cast<const unsigned char*>(data)[i] >> shift & 15];
  return text;
}

dist::gemm_report dist_multiply(dist::communicator& comm, const dist_product& p,
                                const dist::gemm_options& options) {
  if (options.timeline) options.timeline->clear();
  dist::gemm_report report;
  dist::failure why = p.why;
  std::string message = p.message;
  std::shared_ptr<const dist_plan> plan;
  std::optional<rank_product> product;
  const auto multiplies = [&] { return plan->a && !p.needs_no_terms; };
  // All that may fail on one rank comes first, so that ranks agree once. Then the plan is the same on all.
  if (why == dist::failure::none) try {
      for (const dist_operand* x : {&p.a, &p.b, &p.c})
        dist_check(caller, *x, comm.rank(), comm.size(), x == &p.c);
      plan = dist_plan_of(comm, p, options);
      report.schedule = plan->schedule;
      if (multiplies()) try {
          dist_with_memory(comm, [&] { product.emplace(comm, p, *plan, report); });
        } catch (const memory_error&) {
          throw memory_error(dist_no_memory);
        }
    } catch (const invalid_argument& e) {
      why = dist::failure::argument, message = e.what();
    } catch (const memory_error& e) {
      why = dist::failure::memory, message = e.what();
    } catch (const std::bad_alloc&) {
      why = dist::failure::memory, message = dist_no_memory;
    } catch (const std::exception& e) {
      why = dist::failure::other, message = e.what();
    }
  std::string call = "function: ";  // by statements: g++ 12 warns of one long sum
  call += caller;
  call += "\n" + p.call;
  if (plan) call += plan->text;
  call += "op_a and op_b: ";
  call += {char(options.op_a), char(options.op_b)};
  call += "\nmemory: " + std::to_string(options.memory) + "\ntimeline: ";
  call += options.timeline ? "wanted\n" : "none\n";
  comm.agree(call, why, message);

  if (report.schedule.m == 0 || report.schedule.n == 0) return report;
  if (!multiplies()) {
    if (!p.keeps_c)
      dist_for_each_own(comm, p.c, [&](const dist_rectangle& r) { p.update(comm.queue(), {}, r); });
    return report;
  }
  dist_recorder recorder(comm, options.timeline);
  product->run(recorder);
  recorder.finish();
  product.reset();
  comm.pool().trim();
  return report;
}

}  // namespace keramos::detail
