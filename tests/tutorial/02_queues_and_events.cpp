// Work on one queue is in order; events order queues among each other, and tell time.
#include <vector>

#include <keramos/keramos.hpp>
using values = Kokkos::View<double*, keramos::default_execution_space>;

keramos::event scale(keramos::queue& q, values x, double factor) {
  return q.parallel_for(
      "scale", keramos::range{x.extent(0)}, KERAMOS_LAMBDA(keramos::index_t i) { x(i) *= factor; });
}
keramos::event add(keramos::queue& q, values x, values y, const keramos::queue::events& after) {
  return q.parallel_for(
      "add", keramos::range{x.extent(0)}, after, KERAMOS_LAMBDA(keramos::index_t i) { x(i) += y(i); });
}

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  const int n = 100000;
  const std::vector<double> ones(n, 1.0);
  values x("x", n), y("y", n);

  keramos::queue first, second({.own_instance = true});  // the second overlaps the first if it can
  first.copy(ones.data(), x.data(), n);                  // from the host; returns at once
  second.fill(y.data(), 10.0, n);
  const keramos::event scaled = scale(second, y, 4.0);

  const keramos::event start = first.mark();
  const keramos::event done = add(first, x, y, {scaled});  // begins when `scaled` is complete
  const keramos::event stop = first.mark();

  std::vector<double> result(n);
  first.copy(x.data(), result.data(), n).wait();  // in order: after `add`
  if (!done.is_complete() || elapsed_seconds(start, stop) < 0) return 1;
  for (const double v : result)
    if (v != 41.0) return 1;
}
