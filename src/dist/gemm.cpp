#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <keramos/dist/gemm.hpp>
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
    own_a_ = in_place(p_.a, plan_.a_stays, p_.plain_a, 1, m_);
    own_b_ = in_place(p_.b, plan_.b_stays, p_.plain_b, n_, 1);
    into_c_ = may_write_c();
    allocate();
  }

  void run(dist_recorder& recorder) {
    recorder_ = &recorder;
    move(activity::redistribute_a, *plan_.a, p_.a, local("A", own_a_, m_, plan_.own_k_a, 1, m_, p_.bytes.a),
         p_.copy_a, true, messages_);
    if (s_.pm == 1 && plan_.b->message_bytes() == 0) a_is_there_ = comm_.queue().completion();
    move(activity::redistribute_b, *plan_.b, p_.b, local("B", own_b_, plan_.own_k_b, n_, n_, 1, p_.bytes.b),
         p_.copy_b, false, messages_);
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
  /// One block of memory for all, in which what is not needed at the same time has the same place: copies of A and B, then
  /// panels or messages; sums at the end; the others' sums, and the messages of C, where copies were.
  void allocate() {
    const int buffers = s_.steps() > 1 ? 2 : 1;
    const index_t copy_a = own_a_ ? 0 : m_ * plan_.own_k_a * p_.bytes.a,
                  copy_b = own_b_ ? 0 : n_ * plan_.own_k_b * p_.bytes.b,
                  panel_a = works_ && s_.pn > 1 ? m_ * s_.step * p_.bytes.a : 0,
                  panel_b = works_ && s_.pm > 1 ? n_ * s_.step * p_.bytes.b : 0,
                  sums = into_c_ ? 0 : m_ * n_ * p_.bytes.sum,
                  others = works_ ? (s_.pk - 1) * share_size(ik_) * p_.bytes.sum : 0,
                  messages = std::max(plan_.a->message_bytes(), plan_.b->message_bytes());
    const auto most = [&](const auto& bytes) {
      return std::max(
          bytes(copy_a) + bytes(copy_b) +
              std::max(bytes(messages), buffers * (bytes(panel_a) + bytes(panel_b)) + bytes(sums)),
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
    if (!own_a_) own_a_ = take(copy_a);
    if (!own_b_) own_b_ = take(copy_b);
    messages_ = next;
    for (int i = 0; i < buffers; ++i) panel_a_[i] = take(panel_a), panel_b_[i] = take(panel_b);
    others_ = begin;
    sums_ = begin + size - padded(sums);
  }

  dist_operand local(const char* name, const void* data, index_t rows, index_t cols, index_t row_stride,
                     index_t col_stride, int bytes) const {
    return {name, {}, {region{name, data, std::size_t(bytes), rows, cols, row_stride, col_stride}}};
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
            const dist_transfer& transfer, bool by_columns, char* messages) {
    const auto begin = recorder_->now(comm_.queue());
    const index_t received = dist_run(comm_, path, {from, to, transfer, by_columns}, messages);
    report_.redistributed_bytes += received;
    recorder_->add({.what = what, .bytes = received}, begin, recorder_->now(comm_.queue()));
  }

  /// The panels of a step. `held`: lines of k of the own parts of A and B that belong to it or to steps before.
  struct step {
    index_t count = 0, held_a = 0, held_b = 0;
    const char* a = nullptr;
    const char* b = nullptr;
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
  step start(int t, index_t held_a, index_t held_b) {
    step s;
    const index_t begin = s_.step_begin(ik_, t);
    s.count = s_.step_begin(ik_, t + 1) - begin;
    s.held_a = held_a, s.held_b = held_b;
    const index_t line_a = m_ * p_.bytes.a, line_b = n_ * p_.bytes.b;
    std::vector<dist::outgoing> out;
    std::vector<dist::incoming> in;
    // The panels of the step before the last are not needed any more when its product is done.
    comm_.transfers().depends_on(t == 0 && a_is_there_ ? *a_is_there_ : comm_.queue().completion());
    // Before the first product there is nothing else to do: own lines are put into its panels while those of others arrive.
    auto& own = t == 0 ? comm_.queue() : comm_.transfers();
    s.a = gather(
        own, panel_a_[t % 2], own_a_ + held_a * line_a, line_a, begin, s_.runs_of_a(ik_, t), s_.pn, in_,
        [&](int x) { return s_.rank_of(im_, x, ik_); }, s.held_a, out, in);
    s.b = gather(
        own, panel_b_[t % 2], own_b_ + held_b * line_b, line_b, begin, s_.runs_of_b(ik_, t), s_.pm, im_,
        [&](int x) { return s_.rank_of(x, in_, ik_); }, s.held_b, out, in);
    s.transfers = dist_transfers(*recorder_, comm_, activity::panels, t, out, in);
    return s;
  }

  void multiply() {
    if (!works_) return;
    step now = start(0, 0, 0);
    for (int t = 0; t < s_.steps(); ++t) {
      step next;
      const auto start_next = [&] {
        if (t + 1 < s_.steps()) next = start(t + 1, now.held_a, now.held_b);
      };
      // Transfers that a queue orders are queued while those before them arrive, so that no product waits until they are.
      const bool is_queued = now.transfers.is_queued();
      if (is_queued) start_next();
      now.transfers.wait();
      if (!is_queued) start_next();
      if (now.count > 0 && !failure_) try {
          multiply_panels(now, t, next.transfers);
        } catch (const dist::communication_error&) {
          throw;
        } catch (const std::exception&) {
          failure_ = std::current_exception();
        }
      now = std::move(next);
    }
  }
  /// On hosts in a few strips of columns, between which transfers go on. A device's product is only queued.
  void multiply_panels(const step& s, int t, dist_transfers& transfers) {
    const index_t strip =
        is_host && transfers ? std::max<index_t>(256, ceil_div(ceil_div(n_, 4), 64) * 64) : n_;
    const index_t row = s_.sums_by_columns() ? 1 : n_,
                  col = s_.sums_by_columns() ? m_ : 1;  // strides of sums
    for (index_t j = 0; j < n_; j += strip) {
      const index_t width = std::min(strip, n_ - j);
      const matrix_view<char> a{const_cast<char*>(s.a), m_, s.count, 1, m_};
      const matrix_view<char> b{const_cast<char*>(s.b) + j * p_.bytes.b, s.count, width, n_, 1};
      const matrix_view<char> c{sums_ + j * col * p_.bytes.sum, m_, width, row, col};
      const auto begin = recorder_->now(comm_.queue());
      if (into_c_)
        p_.multiply_into_c(comm_.queue(), a, b, own_c());
      else
        p_.multiply(comm_.queue(), a, b, c, t > 0);
      if (is_host) comm_.queue().wait_and_throw();
      recorder_->add({.what = activity::product,
                      .step = t,
                      .multiply_adds = double(m_) * double(width) * double(s.count)},
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
    move(activity::write_c, *plan_.c,
         local("the sums", own, by_columns ? m_ : share, by_columns ? share : n_, by_columns ? 1 : n_,
               by_columns ? m_ : 1, p_.bytes.sum),
         p_.c, p_.update, by_columns, others_);
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
  /// Behind A's redistribution, where B is not sent and no messages lie where the first panels will: these need not wait for B.
  std::optional<dist::communicator::queue_type::event_type> a_is_there_;
  dist_account account_;
  dist_memory memory_;
  char* own_a_ = nullptr;
  char* own_b_ = nullptr;
  char *panel_a_[2] = {}, *panel_b_[2] = {}, *sums_ = nullptr, *messages_ = nullptr;
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
