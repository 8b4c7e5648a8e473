// Threads that share the packing of B: each goes on when all of it is done, whoever did it.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <type_traits>
#include <vector>

#include <keramos/keramos.hpp>

#include <keramos/gemm/collective/host_panels.hpp>
#include <keramos/gemm/host/kernels.hpp>

namespace {

// However many threads share the packing, each finds all of it done when finish() returns; one alone does it all.
template <class Types>
void test_shared_packing(const keramos::detail::host::kernel_table<Types>& t) {
  using namespace keramos::detail::host;
  using T = typename Types::accumulator;
  using E = typename Types::b;
  const int n = 5 * t.nr - 3, k = 37, kc = 8, panels = 5, k_tiles = 5;
  std::vector<E> b(n * k);
  std::vector<T> expected(panels * t.nr * k_tiles * t.packed(kc));
  for (std::size_t i = 0; i < b.size(); ++i) {
    if constexpr (std::is_same_v<E, keramos::float8>)
      b[i].bits = std::uint8_t(i % 120);
    else
      b[i] = E(int(i + 1));
  }
  pack_panels_kernel<Types> kernel{&t, {b.data(), 1, n}, n, k, panels, kc, expected.data(), 1};
  for (keramos::index_t i = 0; i < kernel.size(); ++i) kernel(i);
  for (int threads : {1, 2, 4})
    for (int round = 0; round < 20; ++round) {
      std::vector<T> packed(expected.size(), T(0));
      kernel.to = packed.data();
      shared_packing<Types> packing(kernel);
      std::atomic<int> right = 0;
      std::vector<std::thread> all;
      for (int i = 0; i < threads; ++i)
        all.emplace_back([&] {
          packing.finish();
          right += std::memcmp(packed.data(), expected.data(), packed.size() * sizeof(T)) == 0;
        });
      for (auto& thread : all) thread.join();
      ASSERT_EQ(right, threads) << t.isa;
    }
}

template <class Types>
class HostThreadsPacking : public testing::Test {};
using all_types = testing::Types<keramos::types::f32, keramos::types::f64, keramos::types::i32,
                                 keramos::types::f16, keramos::types::f16_f32, keramos::types::bf16,
                                 keramos::types::bf16_f32, keramos::types::f16xf32, keramos::types::bf16xf32,
                                 keramos::types::i8_i32, keramos::types::f8_bf16>;
TYPED_TEST_SUITE(HostThreadsPacking, all_types);

// With every instruction set that this processor has.
TYPED_TEST(HostThreadsPacking, IsShared) {
  using namespace keramos::detail::host;
  keramos::backend::host::for_each_version(compiled_tables<TypeParam>(),
                                           [](auto* table) { test_shared_packing<TypeParam>(*table); });
}

}  // namespace
