// What the main process and its workers say to each other: one line of JSON for each request, one for
// each answer, over a socket; C of a product goes through shared memory.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "measure/device/machine.hpp"
#include "measure/providers/provider.hpp"

namespace keramos::perf {

// File descriptors of a worker.
constexpr int worker_socket = 3;
constexpr int worker_memory = 4;

nlohmann::json to_message(const gemm_case& g);
gemm_case case_from(const nlohmann::json& message);
nlohmann::json to_message(const provider_info& info);
provider_info info_from(const nlohmann::json& message);
nlohmann::json to_message(const device_description& device);
device_description device_from(const nlohmann::json& message);

struct no_answer {};

// Lines over one end of a socket.
class line_channel {
 public:
  explicit line_channel(int descriptor) : descriptor_(descriptor) {}
  bool send(const nlohmann::json& message);  // false: the other end is gone
  bool receive(nlohmann::json& message);     // waits; false: the other end is gone
  // Waits until `end` and calls `waiting` some times a second; throws no_answer when the time is over.
  bool receive(nlohmann::json& message, std::chrono::steady_clock::time_point end,
               const std::function<void()>& waiting);

 private:
  int descriptor_;
  std::string pending_;
};

}  // namespace keramos::perf
