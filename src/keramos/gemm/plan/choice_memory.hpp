// Choices that depend on a problem's shape, remembered: to make one takes longer than a launch.
#pragma once

#include <array>
#include <cstdint>

#include <keramos/base/index.hpp>

namespace keramos::detail {

/// The last choice for each of some shapes. A Key has extents m, n, k and whatever else decides; one made by
/// default is of no problem.
template <class Key, class Choice>
class choice_memory {
 public:
  template <class Choose>
  const Choice& get(const Key& key, const Choose& choose) {
    auto mixed = std::uint64_t(key.m * 73856093 ^ key.n * 19349663 ^ key.k * 83492791);
    if constexpr (requires { key.c; }) mixed ^= std::uint64_t(key.c) * 12582917;
    if constexpr (requires { key.count; }) mixed ^= std::uint64_t(key.count) * 50331653;
    entry& e = entries_[(mixed ^ mixed >> 17) % entries_.size()];
    if (!(e.key == key)) e = {key, choose()};
    return e.choice;
  }

 private:
  struct entry {
    Key key{};
    Choice choice;
  };
  std::array<entry, 64> entries_{};
};

}  // namespace keramos::detail
