#include <algorithm>
#include <string>
#include <vector>

#include <keramos/dist/gemm.hpp>
#include <keramos/dist/remembered.hpp>

namespace keramos::detail {
namespace {

constexpr const char* caller = "keramos::dist::gemm";

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

}  // namespace

std::string dist_flaw_of(const dist::schedule& s) {
  const auto fits = [](int parts, index_t extent) {
    return parts >= 1 && parts <= std::max<index_t>(1, extent);
  };
  if (!fits(s.pm, s.m) || !fits(s.pn, s.n) || !fits(s.pk, s.k) || index_t(s.pm) * s.pn * s.pk > s.ranks ||
      s.step < 1 || s.step > std::max<index_t>(1, s.k) || s.first_step < 0)
    return "has a grid or a step that does not fit";
  if (s.first_sixteenths < 0 || s.first_sixteenths > 15 || (s.first_sixteenths > 0 && s.steps() > 1))
    return "has first_sixteenths of " + std::to_string(s.first_sixteenths) +
           ", but these are 0 to 15, and 0 with more than one step";
  const auto deals = [&](const dist::dealt_blocks& d, index_t extent, int parts) {
    return d.block == 0 || (s.pk == 1 && d.block > 0 && d.first > 0 && d.block <= extent &&
                            d.first <= extent && d.from >= 0 && d.from < parts);
  };
  if (!deals(s.row_blocks, s.m, s.pm) || !deals(s.col_blocks, s.n, s.pn) || !deals(s.a_blocks, s.k, s.pn) ||
      !deals(s.b_blocks, s.k, s.pm))
    return "has blocks that do not fit";
  std::vector<int> places = s.ranks_of_places;
  std::sort(places.begin(), places.end());
  if (!places.empty() &&
      (int(places.size()) != s.places() || places.front() < 0 || places.back() >= s.ranks ||
       std::adjacent_find(places.begin(), places.end()) != places.end()))
    return "does not give each place a rank of its own";
  return {};
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
  if (const std::string why = dist_flaw_of(s); !why.empty()) refuse(why);
  if (s.memory() > options.memory)
    throw memory_error(std::string(caller) + ": options.memory is " + std::to_string(options.memory) +
                       " bytes a rank but options.schedule needs " + std::to_string(s.memory()));
  return s;
}

std::string dist_explain(const dist_product& p, int ranks, const dist::gemm_options& options) {
  for (const dist_operand* x : {&p.a, &p.b, &p.c}) dist_check_ranks(caller, *x, ranks);
  const dist::schedule s = dist_schedule(p, ranks, options);
  std::string text = s.to_string();
  const dist::operand_layouts where = layouts_of(p);
  constexpr int most_ranks = 64;  // counting takes the square of their number
  const bool moves = s.m > 0 && s.n > 0 && s.k > 0;
  if (!moves || ranks > most_ranks) return text;
  index_t redistributed = 0;
  for (const dist::rank_traffic& x : traffic_of(s, where))
    redistributed = std::max(redistributed, x.redistributed);
  return text + "; to redistribute the matrices a rank receives at most " + std::to_string(redistributed) +
         " bytes more";
}

dist_plan::dist_plan(dist::communicator& comm, const dist::operand_layouts& of, const dist::schedule& s,
                     const dist::gemm_options& options)
    : where(of),
      memory(options.memory),
      given(options.schedule),
      schedule(s),
      text("op(A): " + of.a.to_string() + "\nop(B): " + of.b.to_string() + "\nC: " + of.c.to_string() +
           "\nschedule: " + (options.schedule ? s.to_string() : "chosen") + "\n") {
  if (s.m == 0 || s.n == 0 || s.k == 0) return;
  const dist::layout of_a = s.layout_a(true), of_b = s.layout_b(true);
  if ((works = s.place(comm.rank(), im, in, ik))) m = s.rows_of(im), n = s.cols_of(in);
  own_k_a = of_a.part_extents(comm.rank()).cols, own_k_b = of_b.part_extents(comm.rank()).rows;
  a_stays = of.a.same_places(of_a), b_stays = of.b.same_places(of_b);
  c_stays = of.c.same_places(s.layout_sums());
  // What messages may take is what is left on the rank that holds most, even if A and B have to be copied: all ranks must
  // halve alike.
  std::vector<index_t> held = of_a.sizes();
  const std::vector<index_t> of_b_held = of_b.sizes();
  held.resize(std::max(held.size(), of_b_held.size()));
  for (index_t& x : held) x *= s.bytes.a;
  for (std::size_t r = 0; r < of_b_held.size(); ++r) held[r] += of_b_held[r] * s.bytes.b;
  const index_t copies = *std::max_element(held.begin(), held.end());
  const dist::schedule::box x = s.largest_box();
  a = std::make_unique<dist_path>(comm, of.a, of_a, s.bytes.a, memory - copies);
  b = std::make_unique<dist_path>(comm, of.b, of_b, s.bytes.b, memory - copies);
  c = std::make_unique<dist_path>(comm, s.layout_sums(), of.c, s.bytes.sum, memory - x.m * x.n * s.bytes.sum);
}

bool dist_plan::is_for(const dist_product& p, const dist::gemm_options& options) const {
  return memory == options.memory && schedule.bytes == p.bytes && where.a == p.a.layout &&
         where.b == p.b.layout && where.c == p.c.layout && given == options.schedule;
}

std::size_t dist_plan::size() const { return a ? a->size() + b->size() + c->size() : text.size(); }

std::shared_ptr<const dist_plan> dist_plan_of(dist::communicator& comm, const dist_product& p,
                                              const dist::gemm_options& options) {
  return comm.remembered().products.get([&](const dist_plan& known) { return known.is_for(p, options); },
                                        [&] {
                                          return std::make_shared<dist_plan>(
                                              comm, layouts_of(p), dist_schedule(p, comm.size(), options),
                                              options);
                                        });
}

}  // namespace keramos::detail
