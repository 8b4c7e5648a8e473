// A worker process as its owner sees it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "protocol.hpp"

namespace keramos::perf {

// Memory that workers write and the owner reads.
class shared_memory {
 public:
  shared_memory();
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  int descriptor() const { return descriptor_; }
  // What a worker has put there; valid until the next map or clear.
  const void* map(std::size_t bytes);
  void clear();

 private:
  int descriptor_;
  void* mapped_ = nullptr;
  std::size_t bytes_ = 0;
};

struct worker_start {
  std::vector<std::string> arguments;  // of the program, beginning with "worker"
  std::vector<int> cpus;               // it is confined to; empty: no confinement
  std::string library_folder;          // put in front of LD_LIBRARY_PATH; may be empty
};

// A worker runs only while it answers: between requests it is stopped (SIGSTOP), so that no pool of
// threads that wait actively takes a core from another worker's turn.
class worker_process {
 public:
  worker_process(const worker_start& start, const shared_memory& memory);
  ~worker_process();
  worker_process(const worker_process&) = delete;
  worker_process& operator=(const worker_process&) = delete;

  // Sends a request and waits for its answer, at most so many seconds; calls `waiting` some times a second.
  // Throws unavailable_error or std::runtime_error as the worker says, or when it has died. One that does not
  // answer in time, or whose answer nobody wants after an interruption, is ended.
  nlohmann::json ask(const nlohmann::json& request, double limit_s,
                     const std::function<void()>& waiting = {});
  bool is_alive() const { return pid_ > 0; }

 private:
  [[noreturn]] void bury();
  void end_now();

  pid_t pid_ = -1;
  int socket_ = -1;
  std::unique_ptr<line_channel> channel_;
};

}  // namespace keramos::perf
