#include "products_of.hpp"

namespace keramos::perf::fused {
template <>
epilogue_products make<data_type::c32>(std::int64_t n) {
  return products_of<complex<float>>(n);
}
}  // namespace keramos::perf::fused
