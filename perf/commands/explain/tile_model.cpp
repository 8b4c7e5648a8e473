#include "tile_model.hpp"

namespace keramos::perf {

tile_figures figures_of(const tile_description& t) {
  const auto of_a = static_cast<std::int64_t>(size_of_a(t.type)),
             of_b = static_cast<std::int64_t>(size_of_b(t.type));
  const auto bytes = (t.m * of_a + t.n * of_b) * t.k;
  const int each = operations_of_multiply_add(t.type);
  tile_figures f{};
  f.threads = t.team > 0 ? t.team : (t.m / t.thread_m) * (t.n / t.thread_n);
  f.loads = (t.m + t.n) * t.k;
  f.operations = each * t.m * t.n * t.k;
  f.scratch_bytes = bytes * t.stages;
  f.naive_intensity = double(each) / double(of_a + of_b);
  f.intensity = double(f.operations) / double(bytes);
  f.reduction = f.intensity / f.naive_intensity;
  return f;
}

}  // namespace keramos::perf
