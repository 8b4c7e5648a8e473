#include "products.hpp"

#include <stdexcept>

#include "measure/core/problem.hpp"

namespace keramos::perf {

namespace fused {  // instantiated in products_<type>.cpp
template <class T, class C = T>
epilogue_products make(std::int64_t n);
template <>
epilogue_products make<float>(std::int64_t n);
template <>
epilogue_products make<double>(std::int64_t n);
template <>
epilogue_products make<float16>(std::int64_t n);
template <>
epilogue_products make<bfloat16>(std::int64_t n);
template <>
epilogue_products make<float8_e4m3, bfloat16>(std::int64_t n);
}  // namespace fused

namespace {
constexpr data_type types[] = {data_type::f32, data_type::f64, data_type::f16, data_type::bf16,
                               data_type::f8_bf16};
}
constinit const std::span<const data_type> epilogue_types = types;

epilogue_products make_epilogue_products(data_type type, std::int64_t n) {
  switch (type) {
    case data_type::f32:
      return fused::make<float>(n);
    case data_type::f64:
      return fused::make<double>(n);
    case data_type::f16:
      return fused::make<float16>(n);
    case data_type::bf16:
      return fused::make<bfloat16>(n);
    case data_type::f8_bf16:
      return fused::make<float8_e4m3, bfloat16>(n);
    default:
      throw std::logic_error("not one of epilogue_types");
  }
}

}  // namespace keramos::perf
