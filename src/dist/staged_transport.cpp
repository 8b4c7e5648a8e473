// Messages by way of the host's memory, for an MPI that does not take devices' addresses.
#include <utility>

#include <keramos/dist/communicator.hpp>

namespace keramos::dist {
namespace {

using detail::dist_pool;

class staged_pending final : public pending {
 public:
  staged_pending(transport& of_hosts, communicator::queue_type& transfers, dist_pool& pool)
      : of_hosts_(of_hosts), transfers_(transfers), pool_(pool) {}
  staged_pending(const staged_pending&) = delete;
  staged_pending& operator=(const staged_pending&) = delete;
  ~staged_pending() override {
    on_hosts_.reset();
    if (of_hosts_.has_failed()) pool_.abandon();
    transfers_.wait();
    for (const dist_pool::block& b : blocks_) pool_.give(b);
  }

  char* take(std::size_t bytes) { return blocks_.emplace_back(pool_.take(bytes)).data; }
  void copy_when_received(const incoming& x, const char* staged) { received_.emplace_back(x, staged); }
  void begin(std::unique_ptr<pending> on_hosts) { on_hosts_ = std::move(on_hosts); }

  bool progress() override { return on_hosts_->progress() && received_.empty(); }
  void wait() override {
    on_hosts_->wait();
    for (const auto& [x, staged] : received_) transfers_.memcpy(x.data, staged, x.bytes);
    transfers_.wait_and_throw();
  }

 private:
  transport& of_hosts_;
  communicator::queue_type& transfers_;
  dist_pool& pool_;
  std::vector<dist_pool::block> blocks_;
  std::vector<std::pair<incoming, const char*>> received_;
  std::unique_ptr<pending> on_hosts_;
};

class staged final : public transport {
 public:
  staged(std::unique_ptr<transport> of_hosts, communicator::queue_type& transfers, const std::string& note)
      : of_hosts_(std::move(of_hosts)),
        name_(of_hosts_->name() + " through the host's memory" + note),
        transfers_(transfers),
        pool_(dist_pool::kind::pinned) {}
  std::string name() const override { return name_; }
  void check() override { of_hosts_->check(); }
  void leave(const char* why) noexcept override { of_hosts_->leave(why); }
  bool has_failed() const noexcept override { return of_hosts_->has_failed(); }

  std::unique_ptr<pending> start(const std::vector<outgoing>& out, const std::vector<incoming>& in) override {
    auto p = std::make_unique<staged_pending>(*of_hosts_, transfers_, pool_);
    std::vector<outgoing> staged_out;
    std::vector<incoming> staged_in;
    for (const outgoing& x : out) {
      char* const staged = p->take(x.bytes);
      transfers_.memcpy(staged, x.data, x.bytes);
      staged_out.push_back({x.to, staged, x.bytes});
    }
    for (const incoming& x : in) {
      char* const staged = p->take(x.bytes);
      p->copy_when_received(x, staged);
      staged_in.push_back({x.from, staged, x.bytes});
    }
    p->begin(of_hosts_->start(staged_out, staged_in));  // waits for the copies
    return p;
  }

 private:
  std::unique_ptr<transport> of_hosts_;
  std::string name_;
  communicator::queue_type& transfers_;
  dist_pool pool_;
};

}  // namespace
}  // namespace keramos::dist

namespace keramos::detail {

std::unique_ptr<dist::transport> staged_transport(std::unique_ptr<dist::transport> of_hosts,
                                                  dist::communicator::queue_type& transfers,
                                                  const std::string& note) {
  return std::make_unique<dist::staged>(std::move(of_hosts), transfers, note);
}

}  // namespace keramos::detail
