#include <algorithm>
#include <limits>

#include <keramos/base/error.hpp>
#include <keramos/gemm/plan.hpp>

namespace keramos {
namespace {

std::string extents(index_t m, index_t n) { return std::to_string(m) + " x " + std::to_string(n); }

bool is_inside(const gemm_part& part, index_t m, index_t n) {
  return part.m0 >= 0 && part.n0 >= 0 && part.m > 0 && part.n > 0 && part.m <= m - part.m0 &&
         part.n <= n - part.n0;
}

bool overlap(const gemm_part& x, const gemm_part& y) {
  return x.m0 < y.m0 + y.m && y.m0 < x.m0 + x.m && x.n0 < y.n0 + y.n && y.n0 < x.n0 + x.n;
}

/// Whether a block tile has extents, and such that bytes do not wrap. Nothing so large fits any device.
bool is_possible(const tiling::shape& block) {
  const auto possible = [](int extent) { return 0 < extent && extent <= 1 << 20; };
  return possible(block.m) && possible(block.n) && possible(block.k);
}

void check_part(const gemm_plan& plan, int number) {
  const gemm_part& part = plan.parts[number];
  if (part.path == gemm_path::tiled && !is_possible(part.block))
    detail::refuse_plan(
        number, "has a block tile of " + to_string(part.block) + ", whose extents must be from 1 to 2^20");
  if (part.block.m <= 0 || part.block.n <= 0) detail::refuse_plan(number, "has blocks without elements");
  const split_plan& split = part.split;
  if (split.parts < 1 || split.fan_in < (split.parts > 1 ? 2 : 1))
    detail::refuse_plan(number, "divides k into " + std::to_string(split.parts) + " parts and adds " +
                                    std::to_string(split.fan_in) + " at once; at least 1 and 2 are needed");
  if (double(split.parts) * std::min(split.fan_in, split.parts) > std::numeric_limits<int>::max())
    detail::refuse_plan(number, "divides k into " + std::to_string(split.parts) + " parts; pass fewer");
  if (split.parts > 1 && (split.k_per_part < 1 || (plan.k - 1) / split.k_per_part + 1 != split.parts))
    detail::refuse_plan(number, "divides k = " + std::to_string(plan.k) + " into " +
                                    std::to_string(split.parts) + " parts of " +
                                    std::to_string(split.k_per_part) + ", which does not come out even");
}

}  // namespace

std::string_view to_string(gemm_path path) {
  switch (path) {
    case gemm_path::tiled:
      return "tiled";
    case gemm_path::unpacked:
      return "unpacked";
    case gemm_path::dots:
      return "dot products";
    case gemm_path::vector:
      return "matrix times vector";
  }
  return "?";
}

std::string to_string(const gemm_part& part) {
  std::string text = extents(part.m, part.n) + " of C";
  if (part.m0 > 0 || part.n0 > 0)
    text += " from row " + std::to_string(part.m0) + ", column " + std::to_string(part.n0);
  text += ": " + std::string(to_string(part.path));
  if (part.path == gemm_path::tiled) {
    text += ", block tile " + to_string(part.block) + ", " + std::to_string(part.stages) +
            (part.stages == 1 ? " stage" : " stages");
  } else {
    text += ", blocks of " + extents(part.block.m, part.block.n);
  }
  if (part.split.parts > 1)
    text += ", k in " + std::to_string(part.split.parts) + " parts of " +
            std::to_string(part.split.k_per_part) + ", " + std::to_string(part.split.fan_in) +
            " added at once";
  if (part.pack_a) text += ", A packed beforehand";
  if (part.pack_b) text += ", B packed beforehand";
  if (part.transposed) text += ", transposed";
  return text;
}

std::string to_string(const gemm_plan& plan) {
  if (plan.size == 0) return "nothing to multiply";
  std::string text;
  for (int i = 0; i < plan.size; ++i) {
    if (i > 0) text += '\n';
    text += to_string(plan.parts[i]);
  }
  return text;
}

namespace detail {

void refuse_plan(int number, const std::string& why) {
  throw invalid_argument("keramos::gemm: part " + std::to_string(number) + " of options.plan " + why +
                         "; pass what plan_gemm returns for this product, or no plan");
}

void check_block(const tiling::shape& block) {
  if (!is_possible(block))
    throw launch_error("keramos::gemm: options.block is " + to_string(block) +
                       " but its extents must be from 1 to 2^20; pass others or none");
}

void check_plan(const gemm_plan& plan, index_t m, index_t n, index_t k, std::string_view backend,
                std::string_view type) {
  const auto product = [](index_t m, index_t n, index_t k, std::string_view type, std::string_view backend) {
    return "m x n x k = " + extents(m, n) + " x " + std::to_string(k) + " of " + std::string(type) + " on " +
           std::string(backend);
  };
  if (plan.m != m || plan.n != n || plan.k != k || plan.backend != backend || plan.type != type)
    throw invalid_argument("keramos::gemm: options.plan is for " +
                           product(plan.m, plan.n, plan.k, plan.type, plan.backend) + " but the product is " +
                           product(m, n, k, type, backend) + "; make a plan for it with keramos::plan_gemm");
  if (plan.size < 1 || plan.size > gemm_plan::most_parts)
    throw invalid_argument("keramos::gemm: options.plan has " + std::to_string(plan.size) +
                           " parts; from 1 to 3 are possible");
  index_t area = 0;
  for (int i = 0; i < plan.size; ++i) {
    if (!is_inside(plan.parts[i], m, n)) refuse_plan(i, "is not inside C");
    for (int j = 0; j < i; ++j)
      if (overlap(plan.parts[i], plan.parts[j])) refuse_plan(i, "overlaps part " + std::to_string(j));
    area += plan.parts[i].m * plan.parts[i].n;
    check_part(plan, i);
  }
  if (area != m * n)
    throw invalid_argument("keramos::gemm: the parts of options.plan do not make up C, which is " +
                           extents(m, n) + "; pass what plan_gemm returns for this product, or no plan");
}

}  // namespace detail

}  // namespace keramos
