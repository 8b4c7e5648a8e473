#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>
#include <utility>

#include <keramos/dist/alarm.hpp>
#include <keramos/dist/communicator.hpp>

namespace keramos::detail {
namespace {

using clock = std::chrono::steady_clock;
using dist::communication_error;

constexpr int tag = 2;
constexpr auto patience = std::chrono::seconds(1);

}  // namespace

dist_alarm::dist_alarm(MPI_Comm comm, std::string name, std::function<void()> abort)
    : comm_(comm), name_(std::move(name)), abort_(std::move(abort)) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  // Also who has no memory left can tell.
  told_.reserve(mine_->size());
  sent_.reserve(std::size_t(size_));
}

dist_alarm::~dist_alarm() {
  if (sent_.empty()) return;
  int are_sent = 0, is_finalised = 0;
  MPI_Finalized(&is_finalised);
  if (is_finalised) {  // nobody may be asked any more
    (void)mine_.release();
    return;
  }
  MPI_Testall(int(sent_.size()), sent_.data(), &are_sent, MPI_STATUSES_IGNORE);
  if (are_sent) return;
  for (MPI_Request& r : sent_)
    if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
  (void)mine_.release();  // MPI may read it later
}

void dist_alarm::check() {
  if (has_failed()) throw communication_error(told_ + dist_of_no_use, teller_);
  if (hear()) give_up();
}

void dist_alarm::raise(const std::string& why) {
  if (has_failed()) throw communication_error(told_ + dist_of_no_use, teller_);
  std::snprintf(mine_->data(), mine_->size(), "keramos::dist: %s on rank %d: %s", name_.c_str(), rank_,
                why.c_str());
  send();
  give_up();
}

void dist_alarm::tell_of_leaving(const char* why) noexcept {
  if (has_failed()) return;
  std::string_view text(why);
  if (text.ends_with(dist_of_no_use)) text.remove_suffix(std::string_view(dist_of_no_use).size());
  std::snprintf(mine_->data(), mine_->size(), "keramos::dist: rank %d left the call: %.*s", rank_,
                int(std::min(text.size(), mine_->size())), text.data());
  send();
}

/// To all others, what stands in `mine_`.
void dist_alarm::send() noexcept {
  teller_ = rank_;
  told_ = mine_->data();
  for (int to = 0; to < size_; ++to)
    if (to != rank_)
      MPI_Isend(mine_->data(), int(mine_->size()), MPI_CHAR, to, tag, comm_,
                &sent_.emplace_back(MPI_REQUEST_NULL));
  abort_();
}

/// Whether a rank told of a failure; the lowest one's words are what all ranks throw.
bool dist_alarm::hear() {
  int is_there = 0;
  MPI_Status from;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &is_there, &from), "MPI_Iprobe", comm_);
  if (!is_there) return false;
  words text{};
  check_mpi(MPI_Recv(text.data(), int(text.size()), MPI_CHAR, from.MPI_SOURCE, tag, comm_, MPI_STATUS_IGNORE),
            "MPI_Recv", comm_);
  if (from.MPI_SOURCE < teller_) teller_ = from.MPI_SOURCE, told_ = text.data();
  return true;
}

/// Ranks that find the failure at the same time throw one message: they listen for a while.
void dist_alarm::give_up() {
  abort_();
  for (const auto end = clock::now() + patience; clock::now() < end;) {
    while (hear()) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  throw communication_error(told_ + dist_of_no_use, teller_);
}

}  // namespace keramos::detail
