#include "products_of.hpp"

namespace keramos::perf::fused {
template <>
epilogue_products make<data_type::f8_bf16>(std::int64_t n) {
  return products_of<float8_e4m3, float8_e4m3, bfloat16>(n);
}
}  // namespace keramos::perf::fused
