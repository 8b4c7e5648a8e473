// NCCL as the link between devices, by communicators that do not block (NCCL 2.14). AMD's RCCL has the same functions: this is
// both. What includes it has included the library's header.
#pragma once

#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

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

/// `Stream` owns a stream of high priority, `Exec`'s, as `.stream`.
template <class Exec, class Stream>
class nccl_link final : public device_link<Exec> {
  using base = device_link<Exec>;
  using typename base::id;
  using typename base::transfer;

 public:
  /// `library`: its name.
  nccl_link(const char* library, const id& of_all, int rank, int ranks)
      : library_(library), exec_(stream_.stream) {
    ncclUniqueId unique;
    static_assert(sizeof(unique) == sizeof(of_all));
    std::memcpy(&unique, of_all.data(), sizeof(unique));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    try {
      nccl::check(ncclCommInitRankConfig(&comm_, ranks, unique, rank, &config), "ncclCommInitRankConfig",
                  comm_);
    } catch (const error&) {
      abort();
      throw;
    }
  }
  nccl_link(const nccl_link&) = delete;
  nccl_link& operator=(const nccl_link&) = delete;
  ~nccl_link() override {
    if (!comm_) return;
    try {
      // It waits for the other ranks, which end too; but not for ever.
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      nccl::check(ncclCommFinalize(comm_), "ncclCommFinalize", comm_);
      while (!is_ready())
        if (std::chrono::steady_clock::now() > end) throw error("other ranks do not end");
      (void)ncclCommDestroy(comm_);
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
    ncclResult_t state = ncclSuccess;
    nccl::check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError", comm_);
    nccl::check(state, library_, comm_);
    return state == ncclSuccess;
  }
  void start(const std::vector<transfer>& transfers) override {
    nccl::check(ncclGroupStart(), "ncclGroupStart", comm_);
    std::string why;
    for (const transfer& t : transfers) try {
        if (t.is_sent)
          nccl::check(ncclSend(t.data, t.bytes, ncclChar, t.peer, comm_, stream_.stream), "ncclSend", comm_);
        else
          nccl::check(ncclRecv(t.data, t.bytes, ncclChar, t.peer, comm_, stream_.stream), "ncclRecv", comm_);
      } catch (const error& e) {
        why = e.what();
        break;
      }
    const ncclResult_t end = ncclGroupEnd();  // also after a failure: in an open group nothing can be aborted
    if (!why.empty()) throw error(why);
    nccl::check(end, "ncclGroupEnd", comm_);
  }
  void abort() noexcept override {
    if (comm_) (void)ncclCommAbort(std::exchange(comm_, nullptr));
  }

 private:
  const char* library_;
  Stream stream_;
  Exec exec_;
  ncclComm_t comm_ = nullptr;
};

}  // namespace keramos::backend
