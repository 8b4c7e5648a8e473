// From one layout to another: routes, the messages on them, and turns where memory is short.
#pragma once

#include <memory>
#include <vector>

#include <keramos/dist/route.hpp>

namespace keramos::detail {

/// What this rank sends, receives and keeps when elements of some bytes go from one layout to another at once.
struct dist_turn {
  dist_route out, in;
  std::vector<std::size_t> out_at, in_at;  ///< the byte at which each piece begins in messages, and the end
  dist_lists from, to;

  KERAMOS_EXPORT dist_turn(dist::communicator& comm, const dist::layout& source, const dist::layout& target,
                           int bytes);
};

/// How elements get from one layout to another, as far as layouts say it; without data, so that it serves many calls. In turns,
/// the same on all ranks, if messages take more than `memory` bytes on some rank. Of one turn all is made here, of several each
/// when it comes. Not collective; extents agree.
class dist_path {
 public:
  struct area {
    index_t i, j, rows, cols;
  };

  KERAMOS_EXPORT dist_path(dist::communicator& comm, const dist::layout& source, const dist::layout& target,
                           int bytes, index_t memory);
  bool is_for(const dist::layout& source, const dist::layout& target, int bytes, index_t memory) const {
    return bytes_ == bytes && memory_ == memory && source_ == source && target_ == target;
  }
  /// What messages take on this rank, at most.
  index_t message_bytes() const { return message_bytes_; }
  /// Whether this rank neither sends nor receives.
  bool is_local() const { return whole_ && message_bytes_ == 0; }
  /// None if extents are 0.
  const std::vector<area>& turns() const { return turns_; }
  /// The only turn; null if there are several.
  const dist_turn* whole() const { return whole_.get(); }
  const dist::layout& source() const { return source_; }
  const dist::layout& target() const { return target_; }
  int bytes() const { return bytes_; }
  /// Bytes of memory that it holds, by and large.
  std::size_t size() const;

 private:
  void divide(const area& x, const dist::layout& source, const dist::layout& target, int rank);

  dist::layout source_, target_;
  int bytes_;
  index_t memory_, message_bytes_ = 0;
  std::vector<area> turns_;
  std::unique_ptr<const dist_turn> whole_;
};

}  // namespace keramos::detail
