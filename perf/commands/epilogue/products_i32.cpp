#include "products_of.hpp"

namespace keramos::perf::fused {
template <>
epilogue_products make<data_type::i32>(std::int64_t n) {
  return products_of<std::int32_t>(n);
}
}  // namespace keramos::perf::fused
