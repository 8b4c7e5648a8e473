#include "products_of.hpp"

namespace keramos::perf::fused {
template <>
epilogue_products make<data_type::bf16>(std::int64_t n) {
  return products_of<bfloat16>(n);
}
}  // namespace keramos::perf::fused
