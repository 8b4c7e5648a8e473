#include "tile_model.hpp"

namespace keramos::perf {

tile_figures figures_of(const tile_description& t) {
  const auto bytes = static_cast<std::int64_t>(size_of_ab(t.type));
  const int each = operations_of_multiply_add(t.type);
  tile_figures f{};
  f.threads = t.team > 0 ? t.team : (t.m / t.thread_m) * (t.n / t.thread_n);
  f.loads = (t.m + t.n) * t.k;
  f.operations = each * t.m * t.n * t.k;
  f.scratch_bytes = f.loads * t.stages * bytes;
  f.naive_intensity = double(each) / double(2 * bytes);
  f.intensity = double(f.operations) / double(f.loads * bytes);
  f.reduction = f.intensity / f.naive_intensity;
  return f;
}

}  // namespace keramos::perf
