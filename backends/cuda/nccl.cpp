// NCCL as the link between NVIDIA's devices, by communicators that do not block (NCCL 2.14).
#include <chrono>
#include <cstring>
#include <utility>

#include <cuda_runtime.h>
#include <nccl.h>

#include <keramos/backends/cuda/queue.hpp>
#include <keramos/backends/device_link.hpp>

namespace keramos::backend {
namespace {

std::string reason(ncclResult_t status, ncclComm_t comm) {
  const char* const more = ncclGetLastError(comm);
  return std::string(ncclGetErrorString(status)) + (more && *more ? std::string(" (") + more + ")" : "");
}
void check(ncclResult_t status, const char* what, ncclComm_t comm) {
  if (status != ncclSuccess && status != ncclInProgress)
    throw error(std::string(what) + " failed: " + reason(status, comm));
}

/// A stream whose blocks go before those of others where a multiprocessor has room for one.
struct urgent_stream {
  cudaStream_t stream = nullptr;

  urgent_stream() {
    int least = 0, greatest = 0;
    cuda::check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    cuda::check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest),
                "cudaStreamCreateWithPriority");
  }
  urgent_stream(const urgent_stream&) = delete;
  urgent_stream& operator=(const urgent_stream&) = delete;
  ~urgent_stream() { (void)cudaStreamDestroy(stream); }
};

class nccl final : public device_link<Kokkos::Cuda> {
 public:
  nccl(const id& of_all, int rank, int ranks) : exec_(stream_.stream) {
    ncclUniqueId id;
    static_assert(sizeof(id) == sizeof(of_all));
    std::memcpy(&id, of_all.data(), sizeof(id));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check(ncclCommInitRankConfig(&comm_, ranks, id, rank, &config), "ncclCommInitRankConfig", comm_);
  }
  nccl(const nccl&) = delete;
  nccl& operator=(const nccl&) = delete;
  ~nccl() override {
    if (!comm_) return;
    try {
      // It waits for the other ranks, which end too; but not for ever.
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      check(ncclCommFinalize(comm_), "ncclCommFinalize", comm_);
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
    return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
  }
  const Kokkos::Cuda& execution_space() const override { return exec_; }
  bool is_ready() override {
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError", comm_);
    check(state, "NCCL", comm_);
    return state == ncclSuccess;
  }
  void start(const std::vector<transfer>& transfers) override {
    check(ncclGroupStart(), "ncclGroupStart", comm_);
    std::string why;
    for (const transfer& t : transfers) try {
        if (t.is_sent)
          check(ncclSend(t.data, t.bytes, ncclChar, t.peer, comm_, stream_.stream), "ncclSend", comm_);
        else
          check(ncclRecv(t.data, t.bytes, ncclChar, t.peer, comm_, stream_.stream), "ncclRecv", comm_);
      } catch (const error& e) {
        why = e.what();
        break;
      }
    const ncclResult_t end = ncclGroupEnd();  // also after a failure: in an open group nothing can be aborted
    if (!why.empty()) throw error(why);
    check(end, "ncclGroupEnd", comm_);
  }
  void abort() noexcept override {
    if (comm_) (void)ncclCommAbort(std::exchange(comm_, nullptr));
  }

 private:
  urgent_stream stream_;
  Kokkos::Cuda exec_;
  ncclComm_t comm_ = nullptr;
};

}  // namespace

template <>
device_link<Kokkos::Cuda>::id device_link<Kokkos::Cuda>::make_id() {
  ncclUniqueId made;
  check(ncclGetUniqueId(&made), "ncclGetUniqueId", nullptr);
  id bytes;
  std::memcpy(bytes.data(), &made, bytes.size());
  return bytes;
}
template <>
std::unique_ptr<device_link<Kokkos::Cuda>> device_link<Kokkos::Cuda>::connect(const id& of_all, int rank,
                                                                              int ranks) {
  return std::make_unique<nccl>(of_all, rank, ranks);
}
template <>
std::string device_link<Kokkos::Cuda>::device_of(const Kokkos::Cuda& exec) {
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, exec.cuda_device()), "cudaGetDeviceProperties");
  return std::string(properties.uuid.bytes, sizeof(properties.uuid.bytes));
}

}  // namespace keramos::backend
