#include "simulate.hpp"

#include <algorithm>

namespace keramos::perf {

dist::schedule schedule_of(const gemm_case& g, int ranks, std::int64_t memory) {
  const dist::element_bytes bytes{int(size_of_a(g.type)), int(size_of_b(g.type)), int(size_of_sum(g.type))};
  return dist::choose_schedule(g.m, g.n, g.k, ranks, bytes, memory);
}

double predicted_seconds(const dist::schedule& s, const gemm_case& g, const machine_model& machine) {
  using keramos::detail::ceil_div;
  const double m = double(ceil_div(s.m, s.pm)), n = double(ceil_div(s.n, s.pn));
  const index_t k = ceil_div(s.k, s.pk);
  const auto received = [](double bytes, int sharers) { return bytes * (sharers - 1) / sharers; };
  const auto transfer = [&](double lines) {
    const double bytes = received(m * lines * s.bytes.a, s.pn) + received(n * lines * s.bytes.b, s.pm);
    return machine.latency_s * (s.pn - 1 + s.pm - 1) + bytes / machine.bytes_per_s;
  };
  const auto multiply = [&](double lines) {
    return operations_of_multiply_add(g.type) * m * n * lines / machine.operations_per_s;
  };
  double seconds = 0, under_way = transfer(double(std::min(s.step, k)));
  for (index_t begin = 0; begin < k; begin += s.step) {
    const index_t left = k - begin;
    seconds += under_way;
    const double here = multiply(double(std::min(s.step, left)));
    const double next = left > s.step ? transfer(double(std::min(s.step, left - s.step))) : 0;
    seconds += here;
    under_way = std::max(0.0, next - here);
  }
  return seconds + machine.latency_s * (s.pk - 1) + received(m * n * s.bytes.sum, s.pk) / machine.bytes_per_s;
}

}  // namespace keramos::perf
