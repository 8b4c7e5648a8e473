#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <keramos/dist/gemm.hpp>
#include <keramos/dist/move.hpp>
#include <keramos/dist/plan.hpp>
#include <keramos/dist/product_memory.hpp>
#include <keramos/dist/recorder.hpp>

namespace keramos::detail {
namespace {

constexpr const char* caller = "keramos::dist::gemm";
constexpr bool is_host = backend::traits<dist::communicator::execution_space>::is_host;

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
        into_c_(may_write_c()),
        memory_(comm, p, plan, !into_c_),
        shares_(plan) {
    report_.memory = memory_.bytes;
    if (p.takes_numbers) numbers_.emplace(comm, p.c.layout);
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
  /// Whether the product may be written where C lies, instead of sums that are read once more: in several steps only if C is of the
  /// type of sums. Hosts do not, where no product that fails leaves C written on other ranks; nor does a schedule that is given, with
  /// which bits are the same wherever C lies.
  bool may_write_c() const {
    if (is_host || !works_ || p_.takes_numbers || s_.pk > 1 || (s_.steps() > 1 && !p_.c_is_of_sums) ||
        plan_.given || !plan_.c_stays || p_.c.parts.empty())
      return false;
    const auto overlaps_c = [&](const region& x) { return overlaps(x, p_.c.parts.front()); };
    return std::none_of(p_.a.parts.begin(), p_.a.parts.end(), overlaps_c) &&
           std::none_of(p_.b.parts.begin(), p_.b.parts.end(), overlaps_c);
  }
  void move(activity what, const dist_path& path, const dist_operand& from, const dist_operand& to,
            const dist_transfer& transfer, bool by_columns, char* messages, int part = -1) {
    const auto begin = recorder_->now(comm_.queue());
    const bool writes = what == activity::write_c;
    const index_t received = dist_run(
        comm_, path,
        {from, to, transfer, by_columns, part, writes, writes && numbers_ ? &*numbers_ : nullptr}, messages);
    report_.redistributed_bytes += received;
    recorder_->add({.what = what, .bytes = received}, begin, recorder_->now(comm_.queue()));
  }

  /// All, or the part that belongs to a stage. What travels in panels comes first.
  void redistribute(int part) {
    const auto move_a = [&] {
      dist_operand own{"A", {}, {}};
      for (const dist_band& x : memory_.a)
        own.parts.push_back({"A", x.own, std::size_t(p_.bytes.a), x.size(), plan_.own_k_a, 1, x.size()});
      move(activity::redistribute_a, *plan_.a, p_.a, own, p_.copy_a, true, memory_.messages, part);
    };
    const auto move_b = [&] {
      dist_operand own{"B", {}, {}};
      for (const dist_band& x : memory_.b)
        own.parts.push_back({"B", x.own, std::size_t(p_.bytes.b), plan_.own_k_b, x.size(), x.size(), 1});
      move(activity::redistribute_b, *plan_.b, p_.b, own, p_.copy_b, false, memory_.messages, part);
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
    const auto gather_band = [&](const dist_band& x, int bytes, const auto& runs, int sharers, int mine,
                                 const auto& rank_of, index_t& held) {
      const index_t line = x.size() * bytes;
      return gather(own, x.panel[t % 2], x.own + held * line, line, begin, runs, sharers, mine, rank_of, held,
                    out, in);
    };
    if (b < memory_.a.size())
      s.a[b] = gather_band(
          memory_.a[b], p_.bytes.a, s_.runs_of_a(ik_, t), s_.pn, in_,
          [&](int x) { return s_.rank_of(im_, x, ik_); }, s.held_a);
    if (b < memory_.b.size())
      s.b[b] = gather_band(
          memory_.b[b], p_.bytes.b, s_.runs_of_b(ik_, t), s_.pm, im_,
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
    for (std::size_t x = 0; x < memory_.a.size(); ++x)
      for (std::size_t y = 0; y < memory_.b.size(); ++y)
        if (s_.first_sixteenths == 0 || std::max(x, y) == std::size_t(i))
          multiply_bands(s, i, memory_.a[x], s.a[x], memory_.b[y], s.b[y], transfers);
  }
  /// On hosts in a few strips of columns, between which transfers go on. A device's product is only queued.
  void multiply_bands(const stage& s, int i, const dist_band& rows, const char* panel_a,
                      const dist_band& cols, const char* panel_b, dist_transfers& transfers) {
    const bool adds = s_.first_sixteenths == 0 && i > 0;
    const index_t strip = is_host && transfers
                              ? std::max<index_t>(256, ceil_div(ceil_div(cols.size(), 4), 64) * 64)
                              : cols.size();
    const matrix_view<char> sums{memory_.sums, m_, n_, s_.sums_by_columns() ? 1 : n_,
                                 s_.sums_by_columns() ? m_ : 1};
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
        p_.multiply_into_c(comm_.queue(), a, b, part_of(own_c(), index_t(p_.c.parts.front().element_bytes)),
                           adds);
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

  /// Those of this rank's products that rank ik adds up.
  char* sums_of(int ik) const { return memory_.sums + shares_.begin(ik) * shares_.line * p_.bytes.sum; }
  void add_shares() {
    if (!works_ || s_.pk == 1) return;
    const index_t size = shares_.elements(ik_);
    const index_t bytes = size * p_.bytes.sum;
    char* const own = sums_of(ik_);
    std::vector<dist::outgoing> out;
    std::vector<dist::incoming> in;
    char* next = memory_.others;
    for (int ik = 0; ik < s_.pk; ++ik) {
      if (ik == ik_) continue;
      const int rank = s_.rank_of(im_, in_, ik);
      if (bytes > 0) in.push_back({rank, next, std::size_t(bytes)}), report_.sum_bytes += bytes;
      if (shares_.elements(ik) > 0)
        out.push_back({rank, sums_of(ik), std::size_t(shares_.elements(ik) * p_.bytes.sum)});
      next += bytes;
    }
    comm_.transfers().depends_on(comm_.queue().completion());
    dist_transfers(*recorder_, comm_, activity::exchange_sums, -1, out, in).wait();
    const auto begin = recorder_->now(comm_.queue());
    if (size > 0) p_.add(comm_.queue(), own, memory_.others, ik_, s_.pk, size);
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
    const index_t share = works_ ? shares_.count(ik_) : 0;
    const char* const own = works_ ? sums_of(ik_) : nullptr;
    dist_operand sums{"the sums", {}, {}};
    sums.parts.push_back({"the sums", own, std::size_t(p_.bytes.sum), by_columns ? m_ : share,
                          by_columns ? share : n_, by_columns ? 1 : n_, by_columns ? m_ : 1});
    move(activity::write_c, *plan_.c, sums, p_.c, p_.update, by_columns, memory_.others);
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
  const bool into_c_;    // products are written where C lies
  dist_product_memory memory_;
  const dist_shares shares_;
  std::optional<dist_numbers> numbers_;  // of C, for an epilogue
  bool copies_by_stages_ = false;
  /// Behind the redistribution of an operand whose panels travel, where the other's do not and no messages lie where these panels
  /// will: they need not wait for the other.
  std::optional<dist::communicator::queue_type::event_type> panels_are_there_;
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
      dist_for_each_own(comm, p.c, p.takes_numbers,
                        [&](const dist_rectangle& r) { p.update(comm.queue(), {}, r); });
    return report;
  }
  dist_in_call(comm, [&] {
    dist_recorder recorder(comm, options.timeline);
    product->run(recorder);
    recorder.finish();
  });
  product.reset();
  comm.pool().trim();
  return report;
}

}  // namespace keramos::detail
