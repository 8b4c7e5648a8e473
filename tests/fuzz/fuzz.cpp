// Random products, batches and scans for as long as asked for, on hosts with their operands against inaccessible pages:
//   fuzz_tests [--minutes N] [--least N] [--seed S] [--cases N]
// It goes on until it has judged `least` products and batches, however long that takes; `cases` are the most.
// An access outside of an operand faults, all results are judged element by element, what surrounds them must stay as
// it was, and overlaps must be refused, but nothing else. The first mistake ends it with the case and how to repeat it.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <keramos/core/runtime.hpp>

#include "check.hpp"

namespace {

using namespace keramos;
using namespace keramos::fuzz;

void on_fault(int) {
  const char text[] = "\nFAILED: accessed memory outside of its operands: ";
  [[maybe_unused]] auto written = write(2, text, sizeof(text) - 1);
  written = write(2, at_work.data(), at_work.size());
  _exit(1);
}

struct options {
  double minutes = 1;
  unsigned long long seed = std::random_device()();
  long long least = 0, cases = 1LL << 62;
};

bool read(int argc, char** argv, options& o) {
  if (const char* given = std::getenv("KERAMOS_TEST_SEED")) o.seed = std::strtoull(given, nullptr, 0);
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) return false;
    char* end = nullptr;
    if (name == "--minutes")
      o.minutes = std::strtod(argv[i + 1], &end);
    else if (name == "--seed")
      o.seed = std::strtoull(argv[i + 1], &end, 0);
    else if (name == "--least")
      o.least = std::strtoll(argv[i + 1], &end, 0);
    else if (name == "--cases")
      o.cases = std::strtoll(argv[i + 1], &end, 0);
    if (!end || *end != '\0') return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  if (!read(argc, argv, o)) {
    std::fprintf(stderr, "usage: %s [--minutes N] [--least N] [--seed S] [--cases N]\n", argv[0]);
    return 2;
  }
  runtime guard;
  signal(SIGSEGV, on_fault);
  signal(SIGBUS, on_fault);
  const arena memory[] = {arena(64 << 20), arena(64 << 20), arena(64 << 20)};
  std::printf("seed %llu\n", o.seed);
  std::fflush(stdout);
  std::vector<check*> checks;
  for (const auto* of : {&checks_of_floats, &checks_of_complex, &checks_of_halves, &checks_of_bytes,
                         &checks_of_eights, &checks_of_halves_and_floats, &checks_of_real_and_complex})
    checks.insert(checks.end(), of->begin(), of->end());
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::duration<double>(60 * o.minutes);
  const auto judged = [] { return done["products"] + done["batches"] + done["overlaps"]; };
  for (long long i = 0; i < o.cases && (judged() < o.least || clock::now() < end); ++i) {
    const unsigned long long seed = o.seed + i;
    std::mt19937_64 rng(seed);
    const auto wrong = checks[std::size_t(draw(rng, index_t(checks.size())))](rng, seed, memory);
    if (wrong) {
      std::fprintf(stderr, "FAILED: %s\n%s", wrong->c_str(), at_work.c_str());
      return 1;
    }
  }
  for (const auto& [kind, count] : done) std::printf("%lld %s\n", count, kind.c_str());
  if (judged() < o.least) {
    std::fprintf(stderr, "FAILED: judged %lld products, not %lld\n", judged(), o.least);
    return 1;
  }
  return 0;
}
