#include "process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "measure/core/cpus.hpp"
#include "measure/core/host.hpp"
#include "measure/core/interrupt.hpp"

namespace keramos::perf {
namespace {

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

// In the child: the descriptors where the worker expects them, whatever their numbers were.
void place_descriptors(int socket, int memory) {
  const int s = fcntl(socket, F_DUPFD, 10), m = fcntl(memory, F_DUPFD, 10);
  if (s < 0 || m < 0 || dup2(s, worker_socket) < 0 || dup2(m, worker_memory) < 0) _exit(127);
  close(s);
  close(m);
}

}  // namespace

shared_memory::shared_memory() : descriptor_(memfd_create("keramos-perf", MFD_CLOEXEC)) {
  require(descriptor_ >= 0, "memfd_create");
}
shared_memory::~shared_memory() {
  clear();
  close(descriptor_);
}
const void* shared_memory::map(std::size_t bytes) {
  if (mapped_ != nullptr) munmap(mapped_, bytes_);
  mapped_ = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (mapped_ == MAP_FAILED) mapped_ = nullptr;
  require(mapped_ != nullptr, "mmap");
  bytes_ = bytes;
  return mapped_;
}
void shared_memory::clear() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_);
  mapped_ = nullptr;
  [[maybe_unused]] const int ignored = ftruncate(descriptor_, 0);
}

worker_process::worker_process(const worker_start& start, const shared_memory& memory) {
  int ends[2];
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
  std::vector<std::string> arguments{"keramos-perf"};
  arguments.insert(arguments.end(), start.arguments.begin(), start.arguments.end());
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  const auto program = executable_path();

  const pid_t owner = getpid();
  pid_ = fork();
  require(pid_ >= 0, "fork");
  if (pid_ == 0) {
    // Its owner looks after interruptions, which terminals and schedulers send to all processes, and no worker
    // outlives it, stopped or not. Both last over execv.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != owner) _exit(127);
    place_descriptors(ends[1], memory.descriptor());
    if (!start.cpus.empty()) confine_to(start.cpus);
    // The harness pins threads itself. Said explicitly, or Kokkos would advise to bind.
    setenv("OMP_PROC_BIND", "false", 0);
    if (!start.library_folder.empty()) {
      const char* const before = std::getenv("LD_LIBRARY_PATH");
      const auto path = fmt::format("{}:{}", start.library_folder, before ? before : "");
      setenv("LD_LIBRARY_PATH", path.c_str(), 1);
    }
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  close(ends[1]);
  socket_ = ends[0];
  channel_ = std::make_unique<line_channel>(socket_);
}

worker_process::~worker_process() { end_now(); }

void worker_process::end_now() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
}

// The socket is closed from the other side: the worker is dead or dies.
void worker_process::bury() {
  int status = 0;
  kill(pid_, SIGCONT);
  const bool known = waitpid(pid_, &status, 0) == pid_;
  pid_ = -1;
  end_now();
  throw_if_interrupted();  // it got the same signal
  if (known && WIFSIGNALED(status)) {
    throw std::runtime_error(
        fmt::format("its process died of signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))));
  }
  throw std::runtime_error(fmt::format("its process ended with status {}", known ? WEXITSTATUS(status) : -1));
}

nlohmann::json worker_process::ask(const nlohmann::json& request, double limit_s,
                                   const std::function<void()>& waiting) {
  using clock = std::chrono::steady_clock;
  if (!is_alive()) throw std::runtime_error("its process has died");
  const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(
                                      std::chrono::duration<double>(std::min(limit_s, 1e9)));
  kill(pid_, SIGCONT);
  nlohmann::json answer;
  try {
    if (!channel_->send(request) || !channel_->receive(answer, end, waiting)) bury();
  } catch (const interruption&) {
    end_now();  // it is in the middle of something that nobody wants any more
    throw;
  } catch (const no_answer&) {
    end_now();
    throw std::runtime_error(
        fmt::format("no answer for {:.0f} s: its process was ended; if it is only slow, pass a larger "
                    "--provider-timeout",
                    limit_s));
  }
  kill(pid_, SIGSTOP);
  if (answer.contains("unavailable")) throw unavailable_error(answer["unavailable"].get<std::string>());
  if (answer.contains("error")) throw std::runtime_error(answer["error"].get<std::string>());
  return answer["value"];
}

}  // namespace keramos::perf
