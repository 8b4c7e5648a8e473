#include "machine.hpp"

#include <keramos/core/runtime.hpp>
#include <optional>

#include "machine_queue.hpp"

namespace keramos::perf {
namespace {

using space = keramos::default_execution_space;
constexpr bool on_host = keramos::backend::traits<space>::is_host;

keramos::queue* the_queue = nullptr;

std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
         std::to_string(KOKKOS_VERSION % 100);
}

}  // namespace

bool default_device_is_host() { return on_host; }
keramos::queue& machine_queue() { return *the_queue; }
int host_threads() { return on_host ? the_queue->device().units : 0; }

struct machine::state {
  state(int& argc, char** argv) : runtime(argc, argv) {
    queue.emplace();
    the_queue = &*queue;
    const auto info = queue->device();
    description.backend = info.backend;
    description.name = info.name;
    description.units = info.units;
    description.clock_hz = info.clock_hz;
    description.is_host = on_host;
    description.threads = on_host ? info.units : int(Kokkos::DefaultHostExecutionSpace().concurrency());
    description.kokkos_version = kokkos_version();
    description.keramos_version = KERAMOS_VERSION;
  }
  ~state() { the_queue = nullptr; }

  keramos::runtime runtime;
  std::optional<keramos::queue> queue;  // gone before the runtime
  device_description description;
};

machine::machine(int& argc, char** argv) : state_(std::make_unique<state>(argc, argv)) {}
machine::~machine() = default;
const device_description& machine::device() const { return state_->description; }

}  // namespace keramos::perf
