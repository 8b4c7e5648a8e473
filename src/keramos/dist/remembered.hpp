// What a communicator remembers of its last calls, lest the same call is planned again. Internal.
//
// A plan is a function of what all ranks must pass alike, and of the rank. So it does not matter whether other ranks remember it
// too, and each call's agreement still finds ranks that pass different things, before anything is done by a plan. Plans refer to
// no data of the caller's.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include <keramos/dist/path.hpp>
#include <keramos/dist/plan.hpp>

namespace keramos::detail {

/// The last few plans, the latest first.
template <class Plan>
class dist_recent {
 public:
  static constexpr std::size_t most = 8, most_bytes = std::size_t(64)
                                                      << 20;  // the latest is kept in any case

  /// The plan of which `is_it` is true, or a new one by `make`.
  template <class Is, class Make>
  std::shared_ptr<const Plan> get(const Is& is_it, const Make& make) {
    for (auto i = plans_.begin(); i != plans_.end(); ++i)
      if (is_it(**i)) {
        const std::shared_ptr<const Plan> found = *i;
        plans_.erase(i);
        plans_.push_front(found);
        return found;
      }
    plans_.push_front(make());
    ++made_;
    std::size_t bytes = 0, count = 0;
    for (const auto& p : plans_) {
      bytes += p->size();
      if (count > 0 && (count == most || bytes > most_bytes)) break;
      ++count;
    }
    plans_.resize(count);
    return plans_.front();
  }
  void clear() { plans_.clear(); }
  std::size_t count() const { return plans_.size(); }
  /// How many were made since the communicator is there.
  int made() const { return made_; }

 private:
  std::deque<std::shared_ptr<const Plan>> plans_;
  int made_ = 0;
};

struct dist_remembered {
  dist_recent<dist_plan> products;
  dist_recent<dist_path> paths;  // of redistribute

  void clear() { products.clear(), paths.clear(); }
};

}  // namespace keramos::detail
