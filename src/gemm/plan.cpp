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

/// Rows and columns of the caller's C that a part leaves to others, the last of both.
index_t corner_rows(const gemm_part& x) { return x.transposed ? x.corner_n : x.corner_m; }
index_t corner_cols(const gemm_part& x) { return x.transposed ? x.corner_m : x.corner_n; }

bool overlap(const gemm_part& x, const gemm_part& y) {
  const index_t i = std::max(x.m0, y.m0), j = std::max(x.n0, y.n0);  // where both begin
  const auto is_in_corner = [&](const gemm_part& of) {
    return i >= of.m0 + of.m - corner_rows(of) && j >= of.n0 + of.n - corner_cols(of);
  };
  return i < std::min(x.m0 + x.m, y.m0 + y.m) && j < std::min(x.n0 + x.n, y.n0 + y.n) && !is_in_corner(x) &&
         !is_in_corner(y);
}

/// Whether a block tile has extents, and such that bytes do not wrap. Nothing so large fits any device.
bool is_possible(const tiling::shape& block) {
  const auto possible = [](int extent) { return 0 < extent && extent <= 1 << 20; };
  return possible(block.m) && possible(block.n) && possible(block.k);
}

void check_part(const gemm_plan& plan, int number) {
  const gemm_part& part = plan.parts[number];
  if ((part.path == gemm_path::tiled || part.path == gemm_path::residues) && !is_possible(part.block))
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
  if (split.whole_tiles != 0 && (split.whole_tiles < 0 || split.parts == 1 || part.path != gemm_path::tiled))
    detail::refuse_plan(number,
                        "has " + std::to_string(split.whole_tiles) +
                            " whole tiles; there can be some where block tiles divide k, otherwise 0");
  if (part.corner_m < 0 || part.corner_n < 0 || (part.corner_m > 0) != (part.corner_n > 0) ||
      corner_rows(part) > part.m || corner_cols(part) > part.n ||
      (part.corner_n > 0 && part.path != gemm_path::tiled))
    detail::refuse_plan(number, "leaves out a corner of " + extents(part.corner_m, part.corner_n) +
                                    "; block tiles of GPUs can leave out some of their rows and columns");
}

std::string product(index_t m, index_t n, index_t k, std::string_view type, std::string_view backend) {
  return "m x n x k = " + extents(m, n) + " x " + std::to_string(k) + " of " + std::string(type) + " on " +
         std::string(backend);
}

std::string batch(const gemm_batch_plan& b) {
  return (b.is_list ? "a list of " + std::to_string(b.count) + ", the largest "
                    : "a batch of " + std::to_string(b.count) + " with ") +
         product(b.m, b.n, b.k, b.type, b.backend);
}

/// "tiled by FMA units, block tile 128x64x8, 3 stages". Collectives of hosts need no name: there is one.
std::string text_of(std::string_view how, const gemm_tile& tile) {
  std::string text(how);
  if (tile.row >= 0) text += " by " + std::string(to_string(tile.math));
  return text + ", block tile " + to_string(tile.block) + ", " + std::to_string(tile.stages) +
         (tile.stages == 1 ? " stage" : " stages");
}

}  // namespace

std::string_view to_string(tiling::math_unit math) {
  switch (math) {
    case tiling::math_unit::fma:
      return "FMA units";
    case tiling::math_unit::matrix:
    case tiling::math_unit::joint:
      return "matrix units";
    case tiling::math_unit::warpgroup:
      return "warpgroups";
  }
  return "?";
}

std::string_view to_string(batch_way way) {
  switch (way) {
    case batch_way::one_product:
      return "as one product";
    case batch_way::one_by_one:
      return "one by one";
    case batch_way::small:
      return "small";
    case batch_way::tiled:
      return "tiled";
  }
  return "?";
}

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
    case gemm_path::residues:
      return "integers of eight bits";
  }
  return "?";
}

std::string to_string(const gemm_part& part) {
  std::string text = extents(part.m, part.n) + " of C";
  if (part.m0 > 0 || part.n0 > 0)
    text += " from row " + std::to_string(part.m0) + ", column " + std::to_string(part.n0);
  if (part.corner_n > 0) text += ", but for the last " + extents(corner_rows(part), corner_cols(part));
  if (part.path == gemm_path::tiled || part.path == gemm_path::residues)
    text += ": " + text_of(to_string(part.path), part);
  else
    text += ": " + std::string(to_string(part.path)) + ", blocks of " + extents(part.block.m, part.block.n);
  if (part.split.parts > 1)
    text += ", k in " + std::to_string(part.split.parts) + " parts of " +
            std::to_string(part.split.k_per_part) + ", " + std::to_string(part.split.fan_in) +
            " added at once";
  if (part.split.whole_tiles > 0)
    text += ", but for the first " + std::to_string(part.split.whole_tiles) + " tiles";
  if (part.path == gemm_path::residues && (part.band_m < part.m || part.band_n < part.n))
    text += ", in bands of " + extents(part.band_m, part.band_n);
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

std::string to_string(const gemm_batch_plan& plan) {
  if (plan.count == 0 || plan.m == 0 || plan.n == 0 || plan.k == 0) return "nothing to multiply";
  std::string text = std::to_string(plan.count) + (plan.is_list ? " of at most" : " of") +
                     " m x n x k = " + extents(plan.m, plan.n) + " x " + std::to_string(plan.k) + ": ";
  if (plan.way == batch_way::tiled)
    text += text_of("tiled", plan);
  else if (plan.way == batch_way::small && plan.row >= 0)
    text += text_of("small", plan) + ", " + std::to_string(plan.team_problems) + " a team";
  else if (plan.way == batch_way::small)
    text += "small, one a thread";
  else
    text += to_string(plan.way);
  if (plan.transposed) text += ", transposed";
  if (plan.way == batch_way::small && !plan.products.empty())
    text += ", " + std::to_string(plan.products.size()) + " larger ones one by one";
  for (const gemm_plan& p : plan.products) text += '\n' + to_string(p);
  return text;
}

namespace detail {

void refuse_batch_plan(const std::string& why) {
  throw invalid_argument("keramos::gemm_batched: options.plan " + why +
                         "; pass what plan_gemm_batched returns for this batch, or no plan");
}

void check_batch_plan(const gemm_batch_plan& plan, const gemm_batch_plan& b) {
  if (plan.count != b.count || plan.is_list != b.is_list || plan.m != b.m || plan.n != b.n || plan.k != b.k ||
      plan.backend != b.backend || plan.type != b.type)
    throw invalid_argument("keramos::gemm_batched: options.plan is for " + batch(plan) + " but this is " +
                           batch(b) + "; make a plan for it with keramos::plan_gemm_batched");
  if (plan.way == batch_way::tiled && !is_possible(plan.block))
    refuse_batch_plan("has a block tile of " + to_string(plan.block) +
                      ", whose extents must be from 1 to 2^20");
}

void check_products(const gemm_batch_plan& plan, index_t products) {
  if (index_t(plan.products.size()) != products)
    refuse_batch_plan("has plans of " + std::to_string(plan.products.size()) + " products, of which " +
                      std::to_string(products) + " are done as such");
}

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
  if (plan.m != m || plan.n != n || plan.k != k || plan.backend != backend || plan.type != type)
    throw invalid_argument("keramos::gemm: options.plan is for " +
                           product(plan.m, plan.n, plan.k, plan.type, plan.backend) + " but the product is " +
                           product(m, n, k, type, backend) + "; make a plan for it with keramos::plan_gemm");
  if (plan.size < 1 || plan.size > gemm_plan::most_parts)
    throw invalid_argument("keramos::gemm: options.plan has " + std::to_string(plan.size) +
                           " parts; from 1 to " + std::to_string(gemm_plan::most_parts) + " are possible");
  index_t area = 0;
  for (int i = 0; i < plan.size; ++i) {
    if (!is_inside(plan.parts[i], m, n)) refuse_plan(i, "is not inside C");
    check_part(plan, i);
    for (int j = 0; j < i; ++j)
      if (overlap(plan.parts[i], plan.parts[j])) refuse_plan(i, "overlaps part " + std::to_string(j));
    area += plan.parts[i].m * plan.parts[i].n - plan.parts[i].corner_m * plan.parts[i].corner_n;
  }
  if (area != m * n)
    throw invalid_argument("keramos::gemm: the parts of options.plan do not make up C, which is " +
                           extents(m, n) + "; pass what plan_gemm returns for this product, or no plan");
}

}  // namespace detail

}  // namespace keramos
