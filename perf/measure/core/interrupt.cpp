#include "interrupt.hpp"

#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <initializer_list>

namespace keramos::perf {
namespace {

volatile std::sig_atomic_t noted = 0;
volatile std::sig_atomic_t noted_at = 0;

int seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int(now.tv_sec);
}

// Launchers pass a Ctrl-C on that the terminal has sent already: what comes at once is the same one.
void note(int signal) {
  if (noted == 0) {
    noted_at = seconds_now();
    noted = signal;
  } else if (seconds_now() > noted_at + 1) {
    _exit(128 + signal);
  }
}

void end_at_once(int signal) {
  const char* const said = signal == SIGINT ? "keramos-perf: INCOMPLETE: interrupted by signal 2\n"
                                            : "keramos-perf: INCOMPLETE: interrupted by signal 15\n";
  [[maybe_unused]] const auto ignored = write(STDERR_FILENO, said, std::strlen(said));
  _exit(128 + signal);
}

}  // namespace

void end_on_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action.sa_handler = end_at_once;
    sigaction(signal, &action, nullptr);
  }
}

void note_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // waiting calls return, so that nobody waits for the end of a long product
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupting_signal() { return noted; }

void throw_if_interrupted() {
  if (noted != 0) throw interruption{noted};
}

}  // namespace keramos::perf
