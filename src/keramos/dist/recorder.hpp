// Writes a rank's timeline. Internal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <keramos/dist/communicator.hpp>
#include <keramos/dist/timeline.hpp>

namespace keramos::detail {

/// Where nobody asks for a timeline it does nothing.
class dist_recorder {
  using queue_type = dist::communicator::queue_type;

 public:
  /// A place in a queue's order; none without a timeline.
  using mark = std::optional<queue_type::event_type>;

  /// Collective if there is a timeline: work that was queued before is waited for, and all ranks for one another.
  dist_recorder(dist::communicator& comm, std::vector<dist::interval>* to) : to_(to) {
    if (!to_) return;
    comm.queue().wait();
    comm.transfers().wait();
    const std::uint64_t none = 0;
    std::uint64_t of_all = 0;
    comm.largest(&none, &of_all, 1);
    zero_ = comm.queue().mark();
    zero_->wait();
    elapsed_seconds(*zero_, *zero_);  // throws where marks have no times, before any work is done
  }

  mark now(const queue_type& q) const { return to_ ? mark(q.mark()) : mark(); }
  /// Both of one queue.
  void add(const dist::interval& what, const mark& begin, const mark& end) {
    if (to_) all_.push_back({what, *begin, *end});
  }

  /// Gives the caller what was added, in the order in which it began. Both queues are of one device, and their events of one
  /// clock.
  void finish() {
    if (!to_) return;
    for (entry& e : all_) {
      e.begin.wait(), e.end.wait();
      e.what.begin = elapsed_seconds(*zero_, e.begin);
      e.what.end = elapsed_seconds(*zero_, e.end);  // rounded as the beginning of what follows
      to_->push_back(e.what);
    }
    std::stable_sort(to_->begin(), to_->end(),
                     [](const auto& x, const auto& y) { return x.begin < y.begin; });
  }

 private:
  struct entry {
    dist::interval what;
    queue_type::event_type begin, end;
  };
  std::vector<dist::interval>* to_;
  mark zero_;
  std::vector<entry> all_;
};

/// Transfers that have begun, with their place in the timeline.
class dist_transfers {
 public:
  dist_transfers() = default;
  dist_transfers(dist_recorder& recorder, dist::communicator& comm, dist::activity what, int step,
                 const std::vector<dist::outgoing>& out, const std::vector<dist::incoming>& in)
      : recorder_(&recorder), comm_(&comm), what_{what, step}, begin_(recorder.now(comm.transfers())) {
    is_any_ = !out.empty() || !in.empty();
    for (const dist::incoming& x : in) what_.bytes += index_t(x.bytes);
    pending_ = comm.transport().start(out, in);
    if (pending_->is_queued()) end_here();
  }
  void progress() {
    if (pending_ && pending_->progress()) end_here();
  }
  void wait() {
    pending_->wait();
    end_here();
    if (is_any_) recorder_->add(what_, begin_, end_);
  }
  bool is_queued() const { return pending_ && pending_->is_queued(); }
  explicit operator bool() const { return pending_ != nullptr; }

 private:
  void end_here() {
    if (!end_) end_ = recorder_->now(comm_->transfers());
  }

  dist_recorder* recorder_ = nullptr;
  dist::communicator* comm_ = nullptr;
  dist::interval what_;
  bool is_any_ = false;
  dist_recorder::mark begin_, end_;
  std::unique_ptr<dist::pending> pending_;
};

}  // namespace keramos::detail
