#include "products.hpp"

#include <stdexcept>

#include "measure/core/problem.hpp"

namespace keramos::perf {

#define KERAMOS_PERF_FOR_EACH_EPILOGUE(X) \
  X(f32) X(f64) X(f16) X(bf16) X(f8_bf16) X(f16xf32) X(i32) X(i8) X(c32) X(c64)

namespace fused {  // instantiated in products_<type>.cpp
template <data_type>
epilogue_products make(std::int64_t n);
#define KERAMOS_PERF_DECLARE(Name) \
  template <>                      \
  epilogue_products make<data_type::Name>(std::int64_t n);
KERAMOS_PERF_FOR_EACH_EPILOGUE(KERAMOS_PERF_DECLARE)
#undef KERAMOS_PERF_DECLARE
}  // namespace fused

namespace {
#define KERAMOS_PERF_WORD(Name) data_type::Name,
constexpr data_type types[] = {KERAMOS_PERF_FOR_EACH_EPILOGUE(KERAMOS_PERF_WORD)};
#undef KERAMOS_PERF_WORD
}  // namespace
constinit const std::span<const data_type> epilogue_types = types;

epilogue_products make_epilogue_products(data_type type, std::int64_t n) {
  switch (type) {
#define KERAMOS_PERF_CASE(Name) \
  case data_type::Name:         \
    return fused::make<data_type::Name>(n);
    KERAMOS_PERF_FOR_EACH_EPILOGUE(KERAMOS_PERF_CASE)
#undef KERAMOS_PERF_CASE
    default:
      throw std::logic_error("not one of epilogue_types");
  }
}

}  // namespace keramos::perf
