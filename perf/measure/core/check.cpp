#include "check.hpp"

#include <fmt/format.h>

#include <numeric>
#include <optional>

#include "batched_check.hpp"
#include "freivalds.hpp"
#include "quantized_check.hpp"
#include "visit_type.hpp"

namespace keramos::perf {
namespace {

constexpr std::int64_t rows_of_large_cases = 64;

std::vector<std::int64_t> choose_rows(std::int64_t m, check_method method, std::uint64_t seed) {
  if (method == check_method::every_element || m <= rows_of_large_cases) {
    std::vector<std::int64_t> all(m);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  // One row from each of 64 stripes; the first and the last always, where edges are handled.
  std::vector<std::int64_t> rows;
  const random_stream random(seed, 0x5045);
  for (std::int64_t r = 0; r < rows_of_large_cases; ++r) {
    const auto begin = r * m / rows_of_large_cases;
    const auto end = (r + 1) * m / rows_of_large_cases;
    rows.push_back(begin + static_cast<std::int64_t>(random.bits(r) % (end - begin)));
  }
  rows.front() = 0;
  rows.back() = m - 1;
  return rows;
}

template <class A, class B, class C>
class typed_check : public gemm_check {
  using T = reference::wider_element<A, B>;
  using part = typename keramos::detail::part_of<C>::type;

 public:
  typed_check(const gemm_case& g, const void* a, const void* b, const void* c0, std::uint64_t seed,
              bool on_host, check_method method)
      : problem_(g, static_cast<const A*>(a), static_cast<const B*>(b), on_host),
        elements_(g, problem_, static_cast<const part*>(c0), choose_rows(problem_.m, method, seed)) {
    if (method == check_method::freivalds) {
      freivalds_.emplace(g, problem_, static_cast<const part*>(c0), seed);
    }
  }

  verdict operator()(const void* c) override {
    const auto elements = elements_(static_cast<const part*>(c));
    verdict v = judge(elements, "element");
    if (v.passed && freivalds_) {
      const auto sums = judge((*freivalds_)(static_cast<const part*>(c)), "a sum of elements from");
      if (!sums.passed) v = sums;
    }
    return v;
  }

 private:
  verdict judge(const worst_element& worst, const char* what) const {
    verdict v{!(worst.ratio > 1), worst.error, worst.bound, {}};
    if (!v.passed) {
      const auto at = problem_.in_c(worst.row, worst.col);
      v.where = fmt::format("{} ({}, {})", what, at.row, at.col);
    }
    return v;
  }

  row_major_problem<T> problem_;
  element_check<T, part> elements_;
  std::optional<freivalds_check<T, part>> freivalds_;
};

}  // namespace

std::unique_ptr<gemm_check> make_gemm_check(const gemm_case& g, const void* a, const void* b, const void* c0,
                                            std::uint64_t seed, bool on_host) {
  if (g.type == data_type::i8) return make_quantized_check(g, a, b, c0, seed);
  if (g.batch > 0) return make_batched_check(g, a, b, c0, seed, on_host);
  const bool small = g.operations() / 2 <= double(element_wise_limit);
  return make_gemm_check(g, a, b, c0, seed, on_host,
                         small ? check_method::every_element : check_method::freivalds);
}

std::unique_ptr<gemm_check> make_gemm_check(const gemm_case& g, const void* a, const void* b, const void* c0,
                                            std::uint64_t seed, bool on_host, check_method method) {
  return visit_type(g.type, [&](auto types) -> std::unique_ptr<gemm_check> {
    using of = decltype(types);
    if constexpr (std::is_same_v<typename of::c, std::int8_t>)
      return make_quantized_check(g, a, b, c0, seed);
    else
      return std::make_unique<typed_check<typename of::a, typename of::b, typename of::c>>(g, a, b, c0, seed,
                                                                                           on_host, method);
  });
}

}  // namespace keramos::perf
