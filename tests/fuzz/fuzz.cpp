// Random products, batches and scans for as long as asked for, their operands against inaccessible pages:
//   fuzz_tests [--minutes N] [--least N] [--seed S] [--cases N]
// It goes on until it has judged `least` products and batches, however long that takes; `cases` are the most.
// An access outside of an operand faults, all results are judged element by element, what surrounds them must stay as
// it was, and overlaps must be refused, but nothing else. The first mistake ends it with the case and how to repeat it.
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <map>

#include <keramos/core/runtime.hpp>

#include "product.hpp"
#include "scan.hpp"

namespace {

using namespace keramos;
using namespace keramos::fuzz;

std::string at_work;  // what a fault interrupts

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

std::map<std::string, long long> done;

/// Makes cases until one's result is promised, and runs that; what is wrong with it.
template <class Make>
std::optional<std::string> check(const Make& make, const char* kind, unsigned long long seed) {
  auto c = make();
  while (!c.is_defined()) c = make();
  at_work = c.describe() + "\nRepeat with --cases 1 --seed " + std::to_string(seed) + "\n";
  ++done[kind];
  return c.run();
}

template <class T, class B = T, class C = T>
std::optional<std::string> check_one(std::mt19937_64& rng, unsigned long long seed,
                                     const arena (&memory)[3]) {
  using product = fuzz::product<T, B, C>;
  using form = typename product::form;
  const form forms[] = {form::one, form::strided, form::list, form::pointers};
  const auto make = [&](form f, bool close) {
    return [&, f, close] { return product(rng, f, close, memory); };
  };
  constexpr bool has_scans = std::is_arithmetic_v<T> && product::one_type && !test::is_quantized<C>;
  const index_t kind = draw(rng, has_scans ? 10 : product::one_type ? 9 : 6);
  if (kind < 4) return check(make(form::one, false), "products", seed);
  if (kind < 6) return check(make(forms[1 + draw(rng, 3)], false), "batches", seed);
  if constexpr (has_scans)
    if (kind == 9) return check([&] { return scan<T>(rng, memory); }, "scans", seed);
  return check(make(forms[draw(rng, 3)], true), "overlaps", seed);
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
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::duration<double>(60 * o.minutes);
  const auto judged = [] { return done["products"] + done["batches"] + done["overlaps"]; };
  for (long long i = 0; i < o.cases && (judged() < o.least || clock::now() < end); ++i) {
    const unsigned long long seed = o.seed + i;
    std::mt19937_64 rng(seed);
    using check = std::optional<std::string>(std::mt19937_64&, unsigned long long, const arena(&)[3]);
    check* const of_type[] = {check_one<float>,
                              check_one<double>,
                              check_one<std::int32_t>,
                              check_one<Kokkos::complex<float>>,
                              check_one<Kokkos::complex<double>>,
                              check_one<float16>,
                              check_one<bfloat16>,
                              check_one<float16, float16, float>,
                              check_one<bfloat16, bfloat16, float>,
                              check_one<std::int8_t, std::int8_t, std::int32_t>,
                              check_one<std::int8_t, std::uint8_t, std::int32_t>,
                              check_one<std::uint8_t, std::int8_t, std::int32_t>,
                              check_one<std::uint8_t, std::uint8_t, std::int32_t>,
                              check_one<std::int8_t, std::int8_t, std::int8_t>,
                              check_one<std::uint8_t, std::int8_t, std::uint8_t>,
                              check_one<std::int8_t, std::uint8_t, std::int8_t>,
                              check_one<float8_e4m3, float8_e4m3, float16>,
                              check_one<float8_e4m3, float8_e5m2, float>,
                              check_one<float8_e5m2, float8_e4m3, bfloat16>,
                              check_one<float8_e5m2, float8_e5m2, float16>,
                              check_one<float8_e5m2, float8_e5m2, float>};
    const auto wrong = pick(rng, of_type)(rng, seed, memory);
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
