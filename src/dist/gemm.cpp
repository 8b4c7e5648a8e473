#include <algorithm>
#include <cstdint>
#include <exception>
#include <new>
#include <vector>

#include <keramos/dist/gemm.hpp>
#include <keramos/dist/recorder.hpp>

namespace keramos::detail {
namespace {

std::string shape_of(index_t rows, index_t cols) { return std::to_string(rows) + "x" + std::to_string(cols); }

constexpr const char* caller = "keramos::dist::gemm";
constexpr bool is_host = backend::traits<dist::communicator::execution_space>::is_host;

/// Where part `i` of `parts` of n begins: as schedule.cpp cuts.
index_t cut(index_t n, int parts, int i) { return n / parts * i + n % parts * i / parts; }

void check_extents(const dist_product& p) {
  const auto extents = [](const dist_operand& x) { return shape_of(x.layout.rows(), x.layout.cols()); };
  const index_t m = p.c.layout.rows(), n = p.c.layout.cols(), k = p.a.layout.cols();
  const auto check = [&](const dist_operand& x, index_t rows, index_t cols, const char* shape) {
    if (x.layout.rows() == rows && x.layout.cols() == cols) return;
    throw invalid_argument(std::string(caller) + ": op(" + x.name + ") is " + extents(x) + " but must be " +
                           shape_of(rows, cols) + " (" + shape + "), for C is " + extents(p.c) +
                           "; pass another op or fix " + x.name + "'s extents");
  };
  check(p.a, m, k, "m x k");
  check(p.b, k, n, "k x n");
}

dist::operand_layouts layouts_of(const dist_product& p) { return {p.a.layout, p.b.layout, p.c.layout}; }

/// What one rank does of one product.
class rank_product {
  using activity = dist::activity;

 public:
  rank_product(dist::communicator& comm, const dist_product& p, const dist::schedule& s, index_t memory,
               dist::gemm_report& report, dist_recorder& recorder)
      : comm_(comm),
        p_(p),
        s_(s),
        memory_(memory),
        report_(report),
        recorder_(recorder),
        account_(comm.pool()) {
    if ((works_ = s.place(comm.rank(), im_, in_, ik_))) {
      m_ = s.rows_of(im_);
      n_ = s.cols_of(in_);
    }
  }

  void run() {
    const dist::layout of_a = s_.layout_a(), of_b = s_.layout_b();
    const index_t own_k_a = of_a.part_extents(comm_.rank()).cols,
                  own_k_b = of_b.part_extents(comm_.rank()).rows;
    own_a_ = in_place(p_.a, of_a, p_.plain_a, 1, m_);
    own_b_ = in_place(p_.b, of_b, p_.plain_b, n_, 1);
    dist_allocate(comm_, [&] {
      if (!own_a_) copy_a_ = dist_memory(account_, m_ * own_k_a * p_.bytes.a), own_a_ = copy_a_.data();
      if (!own_b_) copy_b_ = dist_memory(account_, n_ * own_k_b * p_.bytes.b), own_b_ = copy_b_.data();
    });
    move(activity::redistribute_a, p_.a, local("A", of_a, own_a_, m_, own_k_a, 1, m_, p_.bytes.a), p_.bytes.a,
         p_.copy_a, true);
    move(activity::redistribute_b, p_.b, local("B", of_b, own_b_, own_k_b, n_, n_, 1, p_.bytes.b), p_.bytes.b,
         p_.copy_b, false);
    dist_allocate(comm_, [&] {
      const int buffers = s_.steps() > 1 ? 2 : 1;
      for (int i = 0; i < buffers && works_; ++i) {
        if (s_.pn > 1) panel_a_[i] = dist_memory(account_, m_ * s_.step * p_.bytes.a);
        if (s_.pm > 1) panel_b_[i] = dist_memory(account_, n_ * s_.step * p_.bytes.b);
      }
      sums_ = dist_memory(account_, m_ * n_ * p_.bytes.sum);
    });
    multiply();
    for (dist_memory* used : {&copy_a_, &copy_b_, &panel_a_[0], &panel_a_[1], &panel_b_[0], &panel_b_[1]})
      *used = dist_memory();
    add_shares();
    write_c();
    report_.memory = account_.most;
  }

 private:
  dist_operand local(const char* name, const dist::layout& layout, const void* data, index_t rows,
                     index_t cols, index_t row_stride, index_t col_stride, int bytes) const {
    return {name, layout, {region{name, data, std::size_t(bytes), rows, cols, row_stride, col_stride}}};
  }
  /// The operand's own memory, if it lies there as the schedule wants it, or null.
  char* in_place(const dist_operand& x, const dist::layout& wanted, bool is_plain, index_t row_stride,
                 index_t col_stride) const {
    constexpr std::uintptr_t alignment =
        128;  // as good as that of a copy, so that products are computed alike
    if (!works_ || !is_plain || x.parts.empty() || !x.layout.same_places(wanted)) return nullptr;
    const region& r = x.parts.front();
    const bool fits = r.row_stride == row_stride && r.col_stride == col_stride &&
                      reinterpret_cast<std::uintptr_t>(r.data) % alignment == 0;
    return fits ? static_cast<char*>(const_cast<void*>(r.data)) : nullptr;
  }
  void move(activity what, const dist_operand& from, const dist_operand& to, int bytes,
            const dist_transfer& transfer, bool by_columns) {
    // What is left on the rank that holds most: all ranks must halve alike.
    const std::uint64_t mine = std::uint64_t(account_.now);
    std::uint64_t held = 0;
    comm_.largest(&mine, &held, 1);
    const auto begin = recorder_.now(comm_.queue());
    const index_t received =
        dist_run(comm_, {bytes, from, to, transfer, by_columns}, account_, memory_ - index_t(held));
    report_.redistributed_bytes += received;
    recorder_.add({.what = what, .bytes = received}, begin, recorder_.now(comm_.queue()));
  }

  /// The panels of a step. `held`: lines of k of the own parts of A and B that belong to it or to steps before.
  struct step {
    index_t count = 0, held_a = 0, held_b = 0;
    const char* a = nullptr;
    const char* b = nullptr;
    dist_transfers transfers;
  };
  /// Begins to gather one operand's panel, of lines of `line` bytes from `begin` of k on. `own`: this rank's of the step, which
  /// lie one behind the other. Returns where the panel is, and counts own lines.
  template <class RankOf>
  const char* gather(char* panel, const char* own, index_t line, index_t begin,
                     const std::vector<dist::schedule::run>& runs, int sharers, int mine,
                     const RankOf& rank_of, index_t& held, std::vector<dist::outgoing>& out,
                     std::vector<dist::incoming>& in) {
    const char* next = own;
    for (const auto& r : runs) {
      const index_t bytes = (r.end - r.begin) * line;
      if (r.sharer == mine) held += r.end - r.begin;
      if (sharers == 1 || bytes == 0) continue;
      char* const there = panel + (r.begin - begin) * line;
      if (r.sharer != mine) {
        in.push_back({rank_of(r.sharer), there, std::size_t(bytes)}), report_.panel_bytes += bytes;
        continue;
      }
      comm_.transfers().memcpy(there, next, std::size_t(bytes));
      for (int x = 0; x < sharers; ++x)
        if (x != mine) out.push_back({rank_of(x), next, std::size_t(bytes)});
      next += bytes;
    }
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
    comm_.transfers().depends_on(comm_.queue().completion());
    s.a = gather(
        panel_a_[t % 2].data(), own_a_ + held_a * line_a, line_a, begin, s_.runs_of_a(ik_, t), s_.pn, in_,
        [&](int x) { return s_.rank_of(im_, x, ik_); }, s.held_a, out, in);
    s.b = gather(
        panel_b_[t % 2].data(), own_b_ + held_b * line_b, line_b, begin, s_.runs_of_b(ik_, t), s_.pm, im_,
        [&](int x) { return s_.rank_of(x, in_, ik_); }, s.held_b, out, in);
    s.transfers = dist_transfers(recorder_, comm_, activity::panels, t, out, in);
    return s;
  }

  void multiply() {
    if (!works_) return;
    step now = start(0, 0, 0);
    for (int t = 0; t < s_.steps(); ++t) {
      now.transfers.wait();
      step next;
      if (t + 1 < s_.steps()) next = start(t + 1, now.held_a, now.held_b);
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
      const matrix_view<char> c{sums_.data() + j * col * p_.bytes.sum, m_, width, row, col};
      const auto begin = recorder_.now(comm_.queue());
      p_.multiply(comm_.queue(), a, b, c, t > 0);
      if (is_host) comm_.queue().wait_and_throw();
      recorder_.add({.what = activity::product,
                     .step = t,
                     .multiply_adds = double(m_) * double(width) * double(s.count)},
                    begin, recorder_.now(comm_.queue()));
      transfers.progress();
    }
  }

  /// Lines of this rank's block of C: columns, or rows. Rank ik of those that share it has those from share_begin(ik) on.
  index_t line() const { return (s_.sums_by_columns() ? m_ : n_); }
  index_t share_begin(int ik) const { return cut(s_.sums_by_columns() ? n_ : m_, s_.pk, ik); }
  index_t share_size(int ik) const { return (share_begin(ik + 1) - share_begin(ik)) * line(); }

  void add_shares() {
    dist_memory others;
    const index_t size = works_ ? share_size(ik_) : 0;
    dist_allocate(comm_, [&] {
      if (failure_) std::rethrow_exception(failure_);
      others = dist_memory(account_, (s_.pk - 1) * size * p_.bytes.sum);
    });
    if (!works_ || s_.pk == 1) return;
    const index_t bytes = size * p_.bytes.sum;
    char* const own = sums_.data() + share_begin(ik_) * line() * p_.bytes.sum;
    std::vector<dist::outgoing> out;
    std::vector<dist::incoming> in;
    char* next = others.data();
    for (int ik = 0; ik < s_.pk; ++ik) {
      if (ik == ik_) continue;
      const int rank = s_.rank_of(im_, in_, ik);
      if (bytes > 0) in.push_back({rank, next, std::size_t(bytes)}), report_.sum_bytes += bytes;
      if (share_size(ik) > 0)
        out.push_back({rank, sums_.data() + share_begin(ik) * line() * p_.bytes.sum,
                       std::size_t(share_size(ik) * p_.bytes.sum)});
      next += bytes;
    }
    comm_.transfers().depends_on(comm_.queue().completion());
    dist_transfers(recorder_, comm_, activity::exchange_sums, -1, out, in).wait();
    const auto begin = recorder_.now(comm_.queue());
    if (size > 0) p_.add(comm_.queue(), own, others.data(), ik_, s_.pk, size);
    const auto end = recorder_.now(comm_.queue());
    comm_.queue().wait_and_throw();
    if (size > 0) recorder_.add({.what = activity::add_sums}, begin, end);
  }

  void write_c() {
    const bool by_columns = s_.sums_by_columns();
    const index_t share = works_ ? share_begin(ik_ + 1) - share_begin(ik_) : 0;
    const char* const own = works_ ? sums_.data() + share_begin(ik_) * line() * p_.bytes.sum : nullptr;
    move(activity::write_c,
         local("the sums", s_.layout_sums(), own, by_columns ? m_ : share, by_columns ? share : n_,
               by_columns ? 1 : n_, by_columns ? m_ : 1, p_.bytes.sum),
         p_.c, p_.bytes.sum, p_.update, by_columns);
  }

  dist::communicator& comm_;
  const dist_product& p_;
  const dist::schedule& s_;
  index_t memory_;
  dist::gemm_report& report_;
  dist_recorder& recorder_;
  bool works_ = false;
  int im_ = 0, in_ = 0, ik_ = 0;
  index_t m_ = 0, n_ = 0;  // of this rank's block
  dist_account account_;
  char* own_a_ = nullptr;
  char* own_b_ = nullptr;
  dist_memory copy_a_, copy_b_, panel_a_[2], panel_b_[2], sums_;
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

dist::schedule dist_schedule(const dist_product& p, int ranks, const dist::gemm_options& options) {
  check_extents(p);
  const index_t m = p.c.layout.rows(), n = p.c.layout.cols(), k = p.a.layout.cols();
  if (!options.schedule)
    return dist::choose_schedule(layouts_of(p), ranks, p.bytes, options.memory, dist_memory_per_link);
  const dist::schedule& s = *options.schedule;
  const auto refuse = [&](const std::string& why) {
    throw invalid_argument(std::string(caller) + ": options.schedule " + why + ": " + shape_of(s.m, s.n) +
                           "x" + std::to_string(s.k) + " on " + std::to_string(s.ranks) + " ranks, grid " +
                           shape_of(s.pm, s.pn) + "x" + std::to_string(s.pk) + ", steps of " +
                           std::to_string(s.step));
  };
  if (s.m != m || s.n != n || s.k != k || s.ranks != ranks || s.bytes.a != p.bytes.a ||
      s.bytes.b != p.bytes.b || s.bytes.sum != p.bytes.sum)
    refuse("is for other extents, elements or ranks than " + shape_of(m, n) + "x" + std::to_string(k) +
           " on " + std::to_string(ranks));
  const auto fits = [](int parts, index_t extent) {
    return parts >= 1 && parts <= std::max<index_t>(1, extent);
  };
  if (!fits(s.pm, m) || !fits(s.pn, n) || !fits(s.pk, k) || index_t(s.pm) * s.pn * s.pk > ranks ||
      s.step < 1 || s.first_step < 0)
    refuse("has a grid or a step that does not fit");
  const auto deals = [&](const dist::dealt_blocks& d, index_t extent, int parts) {
    return d.block == 0 || (s.pk == 1 && d.block > 0 && d.first > 0 && d.block <= extent &&
                            d.first <= extent && d.from >= 0 && d.from < parts);
  };
  if (!deals(s.row_blocks, m, s.pm) || !deals(s.col_blocks, n, s.pn) || !deals(s.a_blocks, k, s.pn) ||
      !deals(s.b_blocks, k, s.pm))
    refuse("has blocks that do not fit");
  std::vector<int> places = s.ranks_of_places;
  std::sort(places.begin(), places.end());
  if (!places.empty() && (int(places.size()) != s.places() || places.front() < 0 || places.back() >= ranks ||
                          std::adjacent_find(places.begin(), places.end()) != places.end()))
    refuse("does not give each place a rank of its own");
  if (s.memory() > options.memory)
    throw memory_error(std::string(caller) + ": options.memory is " + std::to_string(options.memory) +
                       " bytes a rank but options.schedule needs " + std::to_string(s.memory()));
  return s;
}

std::string dist_explain(const dist_product& p, int ranks, const dist::gemm_options& options) {
  const dist::schedule s = dist_schedule(p, ranks, options);
  std::string text = s.to_string();
  const dist::operand_layouts where = layouts_of(p);
  constexpr int most_ranks = 64;  // counting takes the square of their number
  const bool moves = s.m > 0 && s.n > 0 && s.k > 0;
  if (!moves || ranks > most_ranks || std::max({where.a.ranks(), where.b.ranks(), where.c.ranks()}) > ranks)
    return text;
  index_t redistributed = 0;
  for (const dist::rank_traffic& x : traffic_of(s, where))
    redistributed = std::max(redistributed, x.redistributed);
  return text + "; to redistribute the matrices a rank receives at most " + std::to_string(redistributed) +
         " bytes more";
}

dist::gemm_report dist_multiply(dist::communicator& comm, const dist_product& p,
                                const dist::gemm_options& options) {
  if (options.timeline) options.timeline->clear();
  dist::gemm_report report;
  dist::failure why = p.why;
  std::string message = p.message, schedule_text;
  if (why == dist::failure::none) try {
      report.schedule = dist_schedule(p, comm.size(), options);
      schedule_text = options.schedule ? report.schedule.to_string() : "chosen";
      dist_check(caller, p.a, comm.rank(), comm.size(), false);
      dist_check(caller, p.b, comm.rank(), comm.size(), false);
      dist_check(caller, p.c, comm.rank(), comm.size(), true);
    } catch (const invalid_argument& e) {
      why = dist::failure::argument, message = e.what();
    } catch (const memory_error& e) {
      why = dist::failure::memory, message = e.what();
    } catch (const std::bad_alloc&) {
      why = dist::failure::memory,
      message = std::string(caller) + ": there is no memory to choose a schedule";
    }
  comm.agree(std::string("function: ") + caller + "\n" + p.call + "op(A): " + p.a.layout.to_string() +
                 "\nop(B): " + p.b.layout.to_string() + "\nC: " + p.c.layout.to_string() +
                 "\nop_a and op_b: " + char(options.op_a) + char(options.op_b) +
                 "\nmemory: " + std::to_string(options.memory) + "\nschedule: " + schedule_text +
                 "\ntimeline: " + (options.timeline ? "wanted" : "none") + "\n",
             why, message);

  const dist::schedule& s = report.schedule;
  if (s.m == 0 || s.n == 0) return report;
  if (p.needs_no_terms || s.k == 0) {
    if (!p.keeps_c)
      dist_for_each_own(comm, p.c, [&](const dist_rectangle& r) { p.update(comm.queue(), {}, r); });
    return report;
  }
  dist_recorder recorder(comm, options.timeline);
  rank_product(comm, p, s, options.memory, report, recorder).run();
  recorder.finish();
  comm.pool().trim();
  return report;
}

}  // namespace keramos::detail
