#include "products_of.hpp"

namespace keramos::perf::fused {
template <>
epilogue_products make<data_type::f64>(std::int64_t n) {
  return products_of<double>(n);
}
}  // namespace keramos::perf::fused
