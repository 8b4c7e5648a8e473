#include "products_of.hpp"

namespace keramos::perf::fused {
template <>
epilogue_products make<data_type::i8>(std::int64_t n) {
  return products_of<std::int8_t, std::int8_t, std::int8_t>(n);
}
}  // namespace keramos::perf::fused
