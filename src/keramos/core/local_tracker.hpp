// The checked build's eye on local memory, on hosts, where a group is one thread and a missing barrier does
// no harm that could be seen otherwise. Internal; only included with KERAMOS_CHECKS.
//
// Each local element remembers the epoch (the number of barriers before) and item of its last write and of
// its last access. Within an epoch, an item that accesses what another wrote, or writes what another
// accessed, ends the program with a message. A write is a change of value, found when the item's turn in a
// phase ends: writing what was there already is not seen. Elements reached through data() are not watched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

namespace keramos::detail {

class local_tracker {
 public:
  /// The one of this thread, which runs one group after the other.
  static local_tracker& of_this_thread() {
    static thread_local local_tracker tracker;
    return tracker;
  }

  /// A group begins. Its local memory is filled with all-ones bytes (NaN as floating-point numbers, -1 as
  /// integers), so that what is read before it is written shows.
  void begin(const char* label, long long group, std::byte* local, std::size_t bytes) {
    label_ = label;
    group_ = group;
    local_ = local;
    if (bytes > 0) std::memset(local, 0xff, bytes);
    if (shadow_.size() < bytes) shadow_.resize(bytes);
    ++epoch_;
    barriers_ = 0;
    item_ = whole_group;
    touched_.clear();
    old_.clear();
  }
  void barrier() {
    end_item();
    ++epoch_;
    ++barriers_;
  }
  /// An item's turn in a phase; between turns, and in between phases, the whole group's.
  void begin_item(int item) {
    end_item();
    item_ = item;
  }
  void end_item() {
    std::size_t old = 0;
    for (const touch& t : touched_) {
      element& e = shadow_[t.offset];
      if (std::memcmp(local_ + t.offset, old_.data() + old, t.size) != 0) {
        if (item_ == whole_group) fail(t, "is written outside a phase, by every thread (rule 2)", nobody);
        if (e.access_epoch == epoch_ && e.accessed_by != item_)
          fail(t, "is written while an item uses it that", e.accessed_by);
        e.write_epoch = epoch_;
        e.written_by = item_;
      }
      e.accessed_by = e.access_epoch == epoch_ && e.accessed_by != item_ ? several : item_;
      e.access_epoch = epoch_;
      old += t.size;
    }
    touched_.clear();
    old_.clear();
    ++turn_;
    item_ = whole_group;
  }
  /// Somebody asks for the element at p.
  void access(const void* p, std::size_t size) {
    const auto offset = std::size_t(static_cast<const std::byte*>(p) - local_);
    if (offset >= shadow_.size()) return;  // not this group's local memory
    element& e = shadow_[offset];
    if (e.write_epoch == epoch_ && e.written_by != item_)
      fail({offset, size}, "is used after it was written, with no barrier between, by", e.written_by);
    if (e.turn == turn_) return;
    e.turn = turn_;
    touched_.push_back({offset, size});
    const auto* at = static_cast<const std::byte*>(p);
    old_.insert(old_.end(), at, at + size);
  }

  /// The numbers 0 ... count - 1 in a new random order. KERAMOS_SEED=<number> repeats a run's orders.
  const std::vector<int>& shuffled(int count) {
    order_.resize(std::size_t(count));
    for (int i = 0; i < count; ++i) order_[std::size_t(i)] = i;
    for (int i = count - 1; i > 0; --i)
      std::swap(order_[std::size_t(i)], order_[std::size_t(random_() % std::uint64_t(i + 1))]);
    return order_;
  }

 private:
  static constexpr int whole_group = -1, several = -2, nobody = -3;

  struct element {
    std::uint64_t write_epoch = 0, access_epoch = 0, turn = 0;
    int written_by = nobody, accessed_by = nobody;
  };
  struct touch {
    std::size_t offset, size;
  };

  static std::uint64_t seed() {
    static const std::uint64_t seed = [] {
      const char* given = std::getenv("KERAMOS_SEED");
      return given ? std::strtoull(given, nullptr, 10) : std::random_device()();
    }();
    return seed;
  }
  static std::string name_of(int item) {
    if (item == whole_group) return "code outside phases";
    if (item == several) return "other items";
    return "item " + std::to_string(item);
  }

  [[noreturn]] void fail(const touch& t, const char* what, int other) const {
    static std::mutex first_to_fail;
    first_to_fail.lock();  // for good: one message is enough
    const std::string by = other == nobody ? "" : " " + name_of(other) + " did";
    const std::string message =
        "keramos: kernel " + std::string(label_) + ", group " + std::to_string(group_) + ", after barrier " +
        std::to_string(barriers_) + ": local element of " + std::to_string(t.size) + " bytes at offset " +
        std::to_string(t.offset) + " " + what + by + "; this is " + name_of(item_) +
        ". Put g.barrier() between the two phases (rule 3). KERAMOS_SEED=" + std::to_string(seed()) + "\n";
    Kokkos::abort(message.c_str());
    std::abort();
  }

  const char* label_ = "";
  long long group_ = 0;
  std::byte* local_ = nullptr;
  int barriers_ = 0;
  int item_ = whole_group;
  std::uint64_t epoch_ = 1, turn_ = 1;
  std::vector<element> shadow_;
  std::vector<touch> touched_;
  std::vector<std::byte> old_;
  std::vector<int> order_;
  std::mt19937_64 random_{seed()};
};

}  // namespace keramos::detail
