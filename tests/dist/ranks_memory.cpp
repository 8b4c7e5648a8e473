// Memory that ends in the middle of a call.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include <keramos/dist/move.hpp>

#include "ranks.hpp"

namespace {
constexpr std::size_t large = std::size_t(1) << 16;
bool next_large_fails = false;
}  // namespace
#if !defined(__CUDA_ARCH__)  // for which nvcc compiles them too, and which throws nothing
// In front of the C++ library's own. Inlined, g++ would take malloc and delete for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (bytes >= large && std::exchange(next_large_fails, false)) throw std::bad_alloc();
  if (void* const data = std::malloc(std::max<std::size_t>(bytes, 1))) return data;
  throw std::bad_alloc();
}
// AddressSanitizer has one of its own, whose memory is not free()'s.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(std::max<std::size_t>(bytes, 1));
}
[[gnu::noinline]] void operator delete(void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t) noexcept { std::free(data); }
#endif

namespace {

using namespace keramos;
using namespace keramos::test;

// Rank 0 finds no memory for the second of several turns: all throw error, which says that the first one is done. memory_error
// would say that nothing is written.
TEST(DistMemory, EndsBetweenTurns) {
  if (world().size() == 1 || !backend::traits<default_execution_space>::is_host) return;
  const int ranks = world().size(), rank = world().rank();
  const index_t rows = index_t(40000) * ranks;
  const dist::layout dealt = dist::block_cyclic{rows, 1, 1, 1, {ranks, 1}},
                     on_first = dist::layout::on_rank(rows, 1);
  const std::vector<double> ones(std::size_t(dealt.part_extents(rank).rows), 1.0);
  std::vector<double> target(std::size_t(on_first.part_extents(rank).rows), 0.0);
  detail::dist_move move;
  move.source = detail::dist_operand_of(
      "the source", dist::matrix<const double>(dealt, matrix_view<const double>::column_major(
                                                          ones.data(), index_t(ones.size()), 1)));
  move.target = detail::dist_operand_of(
      "the target", dist::matrix<double>(on_first, matrix_view<double>::column_major(
                                                       target.data(), index_t(target.size()), 1)));
  move.transfer = [&, copy = detail::dist_copy(8)](auto& q, const auto& from, const auto& to) {
    copy(q, from, to);
    next_large_fails = rank == 0;
  };
  const std::string text = message_of<error>([&] {
    try {
      detail::dist_redistribute(world(), move, 8, 'N', "f64", rows * 8);
    } catch (const memory_error&) {
      ADD_FAILURE() << "nothing is said of what is written";
    }
  });
  next_large_fails = false;
  EXPECT_NE(text.find("parts of the target are written already"), std::string::npos) << text;
  EXPECT_TRUE(same_everywhere(text)) << text;
  if (rank > 0) return;
  EXPECT_EQ(target.front(), 1.0);
  EXPECT_EQ(target.back(), 0.0);
}

}  // namespace
