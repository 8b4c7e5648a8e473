#include <algorithm>

#include <keramos/config.hpp>
#include <keramos/core/usm.hpp>
#include <keramos/dist/memory.hpp>

namespace keramos::detail {
namespace {

using stream = backend::stream<default_execution_space>;

char* allocate_bytes(dist_pool::kind kind, std::size_t bytes) {
  return kind == dist_pool::kind::device
             ? allocate<stream::device_space, char>("keramos::dist", bytes)
             : allocate<stream::host_space, char>("keramos::dist (pinned memory)", bytes);
}
void free_bytes(dist_pool::kind kind, char* data) {
  if (kind == dist_pool::kind::device)
    Kokkos::kokkos_free<stream::device_space>(data);
  else
    Kokkos::kokkos_free<stream::host_space>(data);
}

}  // namespace

dist_pool::block dist_pool::take(std::size_t bytes) {
  // The smallest that will do, if it is not far too large.
  const auto found = idle_.lower_bound(bytes);
  if (found != idle_.end() && found->first / 2 <= bytes) {
    const block b{found->second.data, found->first};
    idle_.erase(found);
    return b;
  }
  try {
    return {allocate_bytes(kind_, bytes), bytes};
  } catch (const memory_error&) {
    if (idle_.empty()) throw;
    free_all();
    return {allocate_bytes(kind_, bytes), bytes};
  }
}

void dist_pool::give(block b) {
  if (is_abandoned_) return;
  if (keeps_)
    idle_.emplace(b.bytes, idle{b.data, 0});
  else
    free_bytes(kind_, b.data);
}

void dist_pool::trim() {
  std::size_t all = kept();
  while (!idle_.empty()) {
    const auto oldest = std::max_element(
        idle_.begin(), idle_.end(), [](const auto& x, const auto& y) { return x.second.age < y.second.age; });
    const std::size_t largest = idle_.rbegin()->first;
    if (oldest->second.age < most_age && all / 2 <= largest) break;
    if (oldest->second.age == 0) break;  // all of it was used
    all -= oldest->first;
    free_bytes(kind_, oldest->second.data);
    idle_.erase(oldest);
  }
  for (auto& [bytes, b] : idle_) ++b.age;
}

std::size_t dist_pool::kept() const {
  std::size_t all = 0;
  for (const auto& [bytes, b] : idle_) all += bytes;
  return all;
}

void dist_pool::free_all() {
  for (const auto& [bytes, b] : idle_) free_bytes(kind_, b.data);
  idle_.clear();
}

}  // namespace keramos::detail
