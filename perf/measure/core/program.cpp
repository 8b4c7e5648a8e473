#include "program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "interrupt.hpp"

namespace keramos::perf {

std::string find_program(const std::string& name, const std::vector<std::string>& folders) {
  const char* const path = std::getenv("PATH");
  std::istringstream in(path != nullptr ? path : "");
  std::vector<std::string> all;
  for (std::string folder; std::getline(in, folder, ':');) all.push_back(folder);
  all.insert(all.end(), folders.begin(), folders.end());
  for (const auto& folder : all) {
    const auto file = folder + '/' + name;
    std::error_code failed;
    if (std::filesystem::is_regular_file(file, failed) && access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

program_output run_program(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
  posix_spawnattr_t group;  // of its own, so that one signal reaches its children too
  posix_spawnattr_init(&group);
  posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, argv[0], &files, &group, argv.data(), environ);
  posix_spawnattr_destroy(&group);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);

  program_output output;
  char part[4096];
  while (failed == 0 && interrupting_signal() == 0) {
    pollfd waiting{ends[0], POLLIN, 0};
    if (poll(&waiting, 1, 200) <= 0) continue;  // an interruption may come between the look and the wait
    const auto bytes = read(ends[0], part, sizeof(part));
    if (bytes == 0 || (bytes < 0 && errno != EINTR)) break;
    if (bytes > 0) output.text.append(part, std::size_t(bytes));
  }
  close(ends[0]);
  if (failed != 0) throw std::runtime_error(arguments[0] + ": " + std::strerror(failed));
  if (interrupting_signal() != 0) kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  throw_if_interrupted();
  output.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return output;
}

}  // namespace keramos::perf
