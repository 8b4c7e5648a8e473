// RCCL as the link between AMD's devices. Not yet run: no HIP device was at hand.
#include <unistd.h>

#include <hip/hip_runtime.h>
#include <rccl/rccl.h>

#include <keramos/backends/hip/queue.hpp>
#include <keramos/backends/simt/nccl_link.hpp>

namespace keramos::backend {
namespace {

/// A stream whose blocks go before those of others where a compute unit has room for one.
struct urgent_stream {
  hipStream_t stream = nullptr;

  urgent_stream() {
    int least = 0, greatest = 0;
    hip::check(hipDeviceGetStreamPriorityRange(&least, &greatest), "hipDeviceGetStreamPriorityRange");
    hip::check(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, greatest),
               "hipStreamCreateWithPriority");
  }
  urgent_stream(const urgent_stream&) = delete;
  urgent_stream& operator=(const urgent_stream&) = delete;
  ~urgent_stream() { (void)hipStreamDestroy(stream); }

  bool is_idle() const {
    const hipError_t state = hipStreamQuery(stream);
    if (state != hipErrorNotReady) hip::check(state, "hipStreamQuery");
    return state == hipSuccess;
  }
};

}  // namespace

template <>
device_link<Kokkos::HIP>::id device_link<Kokkos::HIP>::make_id() {
  return nccl::make_id<id>();
}
template <>
std::unique_ptr<device_link<Kokkos::HIP>> device_link<Kokkos::HIP>::connect(const id& of_all, int rank,
                                                                            int ranks) {
  return std::make_unique<nccl_link<Kokkos::HIP, urgent_stream>>("RCCL", of_all, rank, ranks);
}
/// By its machine and place there: some devices have no UUID of their own.
template <>
std::string device_link<Kokkos::HIP>::device_of(const Kokkos::HIP& exec) {
  char machine[256] = "", place[64] = "";
  (void)gethostname(machine, sizeof(machine) - 1);
  hip::check(hipDeviceGetPCIBusId(place, int(sizeof(place)), exec.hip_device()), "hipDeviceGetPCIBusId");
  return std::string(machine) + ' ' + place;
}

}  // namespace keramos::backend
