// NCCL as the link between devices. AMD's RCCL has the same functions: this is both. What includes it has included the library's
// header.
//
// Ranks connect by a communicator that does not block, so that nobody waits for ever for one that does not come. But such a
// communicator makes a thread for each group of transfers: on a virtual machine with four H200 a kilobyte took 187 us, and 25
// by one that blocks. So the first is split into one that blocks (ncclCommSplit, NCCL 2.18), by which each pair of ranks
// exchanges a byte as soon as it is there, for then all ranks are. A group has nothing to wait for after that: it is only queued.
#pragma once

#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <keramos/backends/device_link.hpp>
#include <keramos/base/error.hpp>

namespace keramos::backend {
namespace nccl {

inline std::string reason(ncclResult_t status, ncclComm_t comm) {
  const char* const more = ncclGetLastError(comm);
  return std::string(ncclGetErrorString(status)) + (more && *more ? std::string(" (") + more + ")" : "");
}
inline void check(ncclResult_t status, const char* what, ncclComm_t comm) {
  if (status != ncclSuccess && status != ncclInProgress)
    throw error(std::string(what) + " failed: " + reason(status, comm));
}

/// An id that all ranks connect by.
template <class Id>
Id make_id() {
  ncclUniqueId made;
  static_assert(sizeof(made) == sizeof(Id));
  check(ncclGetUniqueId(&made), "ncclGetUniqueId", nullptr);
  Id bytes;
  std::memcpy(bytes.data(), &made, bytes.size());
  return bytes;
}

}  // namespace nccl

/// `Stream` owns a stream of high priority, `Exec`'s, as `.stream`, and says whether it `is_idle()`.
template <class Exec, class Stream>
class nccl_link final : public device_link<Exec> {
  using base = device_link<Exec>;
  using typename base::id;
  using typename base::transfer;

 public:
  /// `library`: its name.
  nccl_link(const char* library, const id& of_all, int rank, int ranks)
      : library_(library),
        rank_(rank),
        ranks_(ranks),
        exec_(stream_.stream),
        bytes_("keramos::dist: first bytes", std::size_t(2 * ranks)) {
    ncclUniqueId unique;
    static_assert(sizeof(unique) == sizeof(of_all));
    std::memcpy(&unique, of_all.data(), sizeof(unique));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    try {
      nccl::check(ncclCommInitRankConfig(&first_, ranks, unique, rank, &config), "ncclCommInitRankConfig",
                  first_);
    } catch (const error&) {
      abort();
      throw;
    }
  }
  nccl_link(const nccl_link&) = delete;
  nccl_link& operator=(const nccl_link&) = delete;
  ~nccl_link() override {
    if (!first_) return;
    try {
      if (comm_) nccl::check(ncclCommDestroy(std::exchange(comm_, nullptr)), "ncclCommDestroy", first_);
      // It waits for the other ranks, which end too; but not for ever.
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      nccl::check(ncclCommFinalize(first_), "ncclCommFinalize", first_);
      while (!is_done(first_))
        if (std::chrono::steady_clock::now() > end) throw error("other ranks do not end");
      (void)ncclCommDestroy(first_);
    } catch (const error&) {
      abort();
    }
  }

  std::string name() const override {
    int version = 0;
    (void)ncclGetVersion(&version);  // 22803; until 2.8 it was 2708
    return std::string(library_) + " " + std::to_string(version / 10000) + "." +
           std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
  }
  const Exec& execution_space() const override { return exec_; }
  bool is_ready() override {
    if (!is_done(carrier())) return false;
    switch (phase_) {
      case phase::connecting:
        if (ranks_ > most_in_pairs) break;
        split();
        phase_ = phase::splitting;
        return false;
      case phase::splitting:
        meet();
        phase_ = phase::meeting;
        return false;
      case phase::meeting:
        if (!stream_.is_idle()) return false;
        break;
      case phase::ready:
        return true;
    }
    bytes_ = {};
    phase_ = phase::ready;
    return true;
  }
  void start(const std::vector<transfer>& transfers) override { queue(carrier(), transfers); }
  void abort() noexcept override {
    for (ncclComm_t* c : {&comm_, &first_})
      if (*c) (void)ncclCommAbort(std::exchange(*c, nullptr));
  }

 private:
  /// More ranks than that connect when they first exchange something, for which each needs memory of NCCL's.
  static constexpr int most_in_pairs = 64;
  enum class phase { connecting, splitting, meeting, ready };

  /// What is asked now, and carries transfers in the end.
  ncclComm_t carrier() const { return phase_ > phase::splitting && comm_ ? comm_ : first_; }
  /// Whether what was asked last of a communicator is done. Throws what has failed.
  bool is_done(ncclComm_t comm) {
    ncclResult_t state = ncclSuccess;
    nccl::check(ncclCommGetAsyncError(comm, &state), "ncclCommGetAsyncError", comm);
    nccl::check(state, library_, comm);
    return state == ncclSuccess;
  }
  /// Connects all pairs. Memory for it was allocated before, so that no rank fails between split() and this.
  void meet() {
    std::vector<transfer> all;
    for (int peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_) continue;
      all.push_back({peer, bytes_.data() + 2 * peer, 1, false});
      all.push_back({peer, bytes_.data() + 2 * peer + 1, 1, true});
    }
    queue(comm_, all);
  }
  void split() {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    config.splitShare = 1;
    nccl::check(ncclCommSplit(first_, 0, rank_, &comm_, &config), "ncclCommSplit", first_);
  }
  void queue(ncclComm_t comm, const std::vector<transfer>& transfers) {
    nccl::check(ncclGroupStart(), "ncclGroupStart", comm);
    std::string why;
    for (const transfer& t : transfers) try {
        if (t.is_sent)
          nccl::check(ncclSend(t.data, t.bytes, ncclChar, t.peer, comm, stream_.stream), "ncclSend", comm);
        else
          nccl::check(ncclRecv(t.data, t.bytes, ncclChar, t.peer, comm, stream_.stream), "ncclRecv", comm);
      } catch (const error& e) {
        why = e.what();
        break;
      }
    const ncclResult_t end = ncclGroupEnd();  // also after a failure: in an open group nothing can be aborted
    if (!why.empty()) throw error(why);
    nccl::check(end, "ncclGroupEnd", comm);
  }

  const char* library_;
  int rank_, ranks_;
  Stream stream_;
  Exec exec_;
  phase phase_ = phase::connecting;
  ncclComm_t first_ = nullptr;       // does not block
  ncclComm_t comm_ = nullptr;        // blocks
  Kokkos::View<char*, Exec> bytes_;  // that ranks meet by
};

}  // namespace keramos::backend
