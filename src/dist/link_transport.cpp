#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include <keramos/dist/link_transport.hpp>

namespace keramos::dist {
namespace {

using clock = std::chrono::steady_clock;
using link_type = detail::dist_link;
using detail::check_mpi;

constexpr int tag = 2;  // of messages that tell of a failure
constexpr auto patience = std::chrono::seconds(1);

/// What ranks tell one another when transfers fail. A library that waits for a lost message learns of nothing.
class alarm {
 public:
  alarm(MPI_Comm comm, link_type& link) : comm_(comm), link_(link) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
  }
  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;
  ~alarm() {
    int are_sent = 1;
    MPI_Testall(int(sent_.size()), sent_.data(), &are_sent, MPI_STATUSES_IGNORE);
    if (are_sent) return;
    for (MPI_Request& r : sent_)
      if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
    (void)mine_.release();  // MPI may read it later
  }

  /// @throws communication_error if transfers have failed, here or on a rank that told so
  void check() {
    if (has_failed()) throw communication_error(told_, teller_);
    if (hear()) give_up();
  }
  /// Tells all that transfers have failed here.
  [[noreturn]] void raise(const std::string& why) {
    if (has_failed()) throw communication_error(told_, teller_);
    teller_ = rank_;
    told_ = "keramos::dist: " + link_.name() + " on rank " + std::to_string(rank_) + ": " + why;
    std::snprintf(mine_->data(), mine_->size(), "%s", told_.c_str());
    for (int to = 0; to < size_; ++to)
      if (to != rank_)
        MPI_Isend(mine_->data(), int(mine_->size()), MPI_CHAR, to, tag, comm_,
                  &sent_.emplace_back(MPI_REQUEST_NULL));
    give_up();
  }

 private:
  using words = std::array<char, 1024>;
  bool has_failed() const { return teller_ < size_; }
  /// Whether a rank told of a failure; the lowest one's words are what all ranks throw.
  bool hear() {
    int is_there = 0;
    MPI_Status from;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &is_there, &from), "MPI_Iprobe", comm_);
    if (!is_there) return false;
    words text{};
    check_mpi(
        MPI_Recv(text.data(), int(text.size()), MPI_CHAR, from.MPI_SOURCE, tag, comm_, MPI_STATUS_IGNORE),
        "MPI_Recv", comm_);
    if (from.MPI_SOURCE < teller_) teller_ = from.MPI_SOURCE, told_ = text.data();
    return true;
  }
  /// Ranks that find the failure at the same time throw one message: they listen for a while.
  [[noreturn]] void give_up() {
    link_.abort();
    for (const auto end = clock::now() + patience; clock::now() < end;) {
      while (hear()) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    throw communication_error(told_ + "; the communicator is of no use any more", teller_);
  }

  MPI_Comm comm_;
  link_type& link_;
  int rank_ = 0, size_ = 1;
  int teller_ = 1 << 30;
  std::string told_;
  std::unique_ptr<words> mine_ = std::make_unique<words>();
  std::vector<MPI_Request> sent_;
};

/// Calls is_done until it is true, and now and then whether other ranks have failed.
template <class F>
void wait_until(alarm& of_ranks, double seconds, const char* what, const F& is_done) {
  const auto begin = clock::now();
  auto next = begin + std::chrono::milliseconds(1);
  while (true) {
    std::string why;
    try {
      if (is_done()) return;
    } catch (const communication_error&) {
      throw;
    } catch (const error& e) {
      why = e.what();
    }
    if (!why.empty()) of_ranks.raise(why);
    const auto now = clock::now();
    if (now < next) continue;
    next = now + std::chrono::milliseconds(1);
    of_ranks.check();
    if (now - begin > std::chrono::duration<double>(seconds))
      of_ranks.raise(std::string(what) + " took longer than options.timeout_seconds, " +
                     std::to_string(seconds));
  }
}

class link_pending final : public pending {
 public:
  link_pending(link_type& link, alarm& of_ranks, double seconds, communicator::queue_type::event_type end)
      : link_(link), alarm_(of_ranks), seconds_(seconds), end_(std::move(end)) {}
  link_pending(const link_pending&) = delete;
  link_pending& operator=(const link_pending&) = delete;
  // Memory may be freed next. What is still under way then, after an exception, is given up.
  ~link_pending() override {
    if (!is_done_) link_.abort();
  }

  bool progress() override { return is_done_; }
  bool is_queued() const override { return true; }
  void wait() override {
    if (is_done_) return;
    wait_until(alarm_, seconds_, "a transfer", [&] {
      const bool is_done = end_.is_complete();
      if (!is_done) (void)link_.is_ready();
      return is_done;
    });
    is_done_ = true;
  }

 private:
  link_type& link_;
  alarm& alarm_;
  double seconds_;
  communicator::queue_type::event_type end_;
  bool is_done_ = false;
};

class nothing_pending final : public pending {
 public:
  explicit nothing_pending(communicator::queue_type& transfers) : transfers_(transfers) {}
  bool progress() override { return false; }
  bool is_queued() const override { return true; }
  void wait() override { transfers_.wait_and_throw(); }

 private:
  communicator::queue_type& transfers_;
};

class link_transport final : public transport {
 public:
  link_transport(MPI_Comm comm, std::shared_ptr<link_type> link, communicator::queue_type& transfers,
                 double seconds)
      : link_(std::move(link)), transfers_(transfers), seconds_(seconds), alarm_(comm, *link_) {}

  std::string name() const override { return link_->name(); }
  void check() override { alarm_.check(); }

  std::unique_ptr<pending> start(const std::vector<outgoing>& out, const std::vector<incoming>& in) override {
    alarm_.check();
    std::vector<link_type::transfer> all;
    for (const incoming& x : in)
      if (x.bytes > 0) all.push_back({x.from, x.data, x.bytes, false});
    for (const outgoing& x : out)
      if (x.bytes > 0) all.push_back({x.to, const_cast<void*>(x.data), x.bytes, true});
    if (all.empty()) return std::make_unique<nothing_pending>(transfers_);
    bool is_started = false;
    wait_until(alarm_, seconds_, "the beginning of a transfer", [&] {
      if (!std::exchange(is_started, true)) link_->start(all);
      return link_->is_ready();
    });
    return std::make_unique<link_pending>(*link_, alarm_, seconds_, transfers_.mark());
  }

 private:
  std::shared_ptr<link_type> link_;
  communicator::queue_type& transfers_;
  double seconds_;
  alarm alarm_;
};

}  // namespace
}  // namespace keramos::dist

namespace keramos::detail {

std::string dist_wait_for_link(dist_link& link, double seconds) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::duration<double>(seconds);
  try {
    while (!link.is_ready()) {
      if (clock::now() > end)
        return "it took longer than options.timeout_seconds, " + std::to_string(seconds) + ", to connect";
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

std::unique_ptr<dist::transport> dist_link_transport(MPI_Comm comm, std::shared_ptr<dist_link> link,
                                                     dist::communicator::queue_type& transfers,
                                                     double timeout_seconds) {
  return std::make_unique<dist::link_transport>(comm, std::move(link), transfers, timeout_seconds);
}

}  // namespace keramos::detail
