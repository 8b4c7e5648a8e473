// What cases of products need for no type of elements.
#include "gemm_case.hpp"

#include <cstdio>
#include <cstdlib>

#include "batched_case.hpp"
#include "ops_and_layouts.hpp"

namespace keramos::test {

stored_bytes::stored_bytes(std::size_t bytes)
    : device_("matrix", bytes), host_(Kokkos::create_mirror_view(device_)) {}

void stored_bytes::upload() const { Kokkos::deep_copy(device_, host_); }

void stored_bytes::download() const { Kokkos::deep_copy(host_, device_); }

placement::placement(index_t rows, index_t cols, layout l, index_t gap, index_t offset) : offset(offset) {
  const index_t step = l == layout::strided ? 2 + gap % 2 : 1;
  down = l == layout::left ? 1 : cols * step + gap;
  along = l == layout::left ? rows + gap : step;
  size = offset + (rows > 0 ? (rows - 1) * down : 0) + (cols > 0 ? (cols - 1) * along : 0) + 1 + gap;
}

batch_placement::batch_placement(index_t batch, index_t rows, index_t cols, layout l, spacing s, index_t gap,
                                 index_t offset)
    : placement(rows, cols, l, gap, 0) {
  this->offset = offset;
  const index_t inner = s == spacing::interleaved ? batch + gap : 1;
  const index_t reach = inner * (size - 1 - gap) + 1;
  stride = s == spacing::interleaved ? 1
           : s == spacing::shared    ? 0
           : s == spacing::apart     ? reach + gap + 3
           : l == layout::left       ? cols * along
                                     : rows * down;
  down *= inner, along *= inner;
  size = offset + (batch > 0 ? (batch - 1) * stride : 0) + reach + gap;
}

std::string gemm_case::describe() const {
  std::ostringstream s;
  s << m << 'x' << n << 'x' << k << ' ' << char(op_a) << char(op_b) << " layouts " << int(a) << int(b)
    << int(c) << " gap " << gap << " offset " << offset << " alpha " << alpha << " beta " << beta;
  if (alpha_imag != 0 || beta_imag != 0) s << ", imaginary parts " << alpha_imag << ' ' << beta_imag;
  return s.str();
}

std::string batched_case::describe() const {
  std::ostringstream s;
  s << batch << " of " << m << 'x' << n << 'x' << k << ' ' << char(op_a) << char(op_b) << " layouts "
    << int(a) << int(b) << int(c) << " spacings " << int(space_a) << int(space_b) << int(space_c) << " gap "
    << gap << " offset " << offset << " alpha " << alpha << " beta " << beta;
  return s.str();
}

list_case random_list(op op_a, std::uint64_t seed, int multiples_of, int count) {
  std::mt19937_64 rng(seed);
  const bool any = multiples_of == 1, many = count > 9;
  const auto extent = [&] { return multiples_of * index_t(1 + rng() % (any ? 90 : many ? 7 : 20)); };
  list_case list{.members = {}, .op_a = op_a};
  for (int i = 0; i < count; ++i) {
    list_member x{extent(), extent(), many && i == 5 ? 0 : extent()};
    if (!any && !many && i < 2)
      x.m = multiples_of * (i == 0 ? 2 : 20), x.n = multiples_of * (i == 0 ? 20 : 2);
    x.a = any ? layout(i % 3) : layout::right, x.b = any ? layout(i / 3 % 3) : layout::left;
    if (any) x.gap = i, x.offset = i / 2;
    list.members.push_back(x);
  }
  return list;
}

list_case list_of_every_layout(op op_a, op op_b) {
  list_case list{.members = {}, .op_a = op_a, .op_b = op_b};
  for_layouts([&](layout a, layout b, layout c) {
    const auto i = index_t(list.members.size());
    list.members.push_back({7 + i % 5, 5 + i % 4, 11 + i % 3, a, b, c, 2, 1});
  });
  return list;
}

void pack_and_cut(gemm_plan& plan, int k_tile) {
  constexpr bool on_host = backend::traits<default_execution_space>::is_host;
  ASSERT_EQ(plan.size, 1);
  gemm_part& part = plan.parts[0];
  ASSERT_GT(part.m, 10);
  part.split = {};
  part.pack_b = true, part.band_n = 80;
  if (on_host) {
    if (part.path != gemm_path::tiled)  // whole panels of any instruction set
      part.path = gemm_path::tiled, part.block = {48, 48, 64}, part.band_m = part.m;
    if (k_tile > 0) part.block.k = k_tile;
  } else {
    ASSERT_EQ(part.path, gemm_path::tiled);
    part.pack_a = true, part.band_m = 130;
  }
  part.m -= 10;
  plan.parts[1] = part;
  plan.parts[1].m0 = part.m, plan.parts[1].m = 10;
  plan.size = 2;
}

std::uint64_t fresh_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("KERAMOS_TEST_SEED");
    const std::uint64_t s = given ? std::strtoull(given, nullptr, 0) : std::random_device()();
    std::printf("KERAMOS_TEST_SEED=%llu\n", static_cast<unsigned long long>(s));
    return s;
  }();
  return seed;
}

}  // namespace keramos::test
