#include "interrupt.hpp"

#include <time.h>
#include <unistd.h>

#include <csignal>

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

}  // namespace

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
