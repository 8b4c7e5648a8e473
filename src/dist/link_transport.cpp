#include <chrono>
#include <thread>
#include <utility>

#include <keramos/dist/alarm.hpp>
#include <keramos/dist/link_transport.hpp>

namespace keramos::dist {
namespace {

using clock = std::chrono::steady_clock;
using link_type = detail::dist_link;
using alarm = detail::dist_alarm;

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

/// What is queued before is waited for, as long as a transfer: it may be one of a later step.
class nothing_pending final : public pending {
 public:
  nothing_pending(alarm& of_ranks, double seconds, communicator::queue_type::event_type end)
      : alarm_(of_ranks), seconds_(seconds), end_(std::move(end)) {}
  bool progress() override { return false; }
  bool is_queued() const override { return true; }
  void wait() override {
    wait_until(alarm_, seconds_, "work in front of a transfer", [&] { return end_.is_complete(); });
  }

 private:
  alarm& alarm_;
  double seconds_;
  communicator::queue_type::event_type end_;
};

class link_transport final : public transport {
 public:
  link_transport(MPI_Comm comm, std::shared_ptr<link_type> link, communicator::queue_type& transfers,
                 double seconds)
      : link_(std::move(link)),
        transfers_(transfers),
        seconds_(seconds),
        alarm_(comm, link_->name(), [this] { link_->abort(); }) {}

  std::string name() const override { return link_->name(); }
  void check() override { alarm_.check(); }
  void leave(const char* why) noexcept override { alarm_.tell_of_leaving(why); }
  bool has_failed() const noexcept override { return alarm_.has_failed(); }

  std::unique_ptr<pending> start(const std::vector<outgoing>& out, const std::vector<incoming>& in) override {
    alarm_.check();
    std::vector<link_type::transfer> all;
    for (const incoming& x : in)
      if (x.bytes > 0) all.push_back({x.from, x.data, x.bytes, false});
    for (const outgoing& x : out)
      if (x.bytes > 0) all.push_back({x.to, const_cast<void*>(x.data), x.bytes, true});
    if (all.empty()) return std::make_unique<nothing_pending>(alarm_, seconds_, transfers_.mark());
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
