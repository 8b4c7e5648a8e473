// Ctrl-C, and the SIGTERM that job schedulers send: the run ends early and in order.
#pragma once

namespace keramos::perf {

// Thrown where work can stop. Not a std::exception: it must pass by what makes a failed case of one.
struct interruption {
  int signal;
  bool told = false;  // the user has read of it
};

// The first that main does: SIGINT and SIGTERM say so and end the program at once, with the status of a run that was
// interrupted. One that is ignored, as workers' are, stays so.
void end_on_interrupts();

// From now on SIGINT and SIGTERM only leave a note. A second one, a second or more after the first,
// ends the program at once.
void note_interrupts();

int interrupting_signal();  // 0: none yet
void throw_if_interrupted();

}  // namespace keramos::perf
