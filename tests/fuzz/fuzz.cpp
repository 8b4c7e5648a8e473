// Random products, batches and scans for as long as asked for, their operands against inaccessible pages:
//   fuzz_tests [--minutes N] [--seed S] [--cases N]
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
  long long cases = 1LL << 62;
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
    else if (name == "--cases")
      o.cases = std::strtoll(argv[i + 1], &end, 0);
    if (!end || *end != '\0') return false;
  }
  return true;
}

std::map<std::string, long long> done;

/// Runs a case; what is wrong with it.
template <class Case>
std::optional<std::string> check(Case&& c, const char* kind, unsigned long long seed) {
  at_work = c.describe() + "\nRepeat with --cases 1 --seed " + std::to_string(seed) + "\n";
  ++done[kind];
  return c.run();
}

template <class T, class B = T, class C = T>
std::optional<std::string> check_one(std::mt19937_64& rng, unsigned long long seed,
                                     const arena (&memory)[3]) {
  using product = fuzz::product<T, B, C>;
  using form = typename product::form;
  const form forms[] = {form::one, form::strided, form::list};
  const index_t kind = draw(rng, 10);
  if (kind < 4) return check(product(rng, form::one, false, memory), "products", seed);
  if (kind < 6) return check(product(rng, forms[1 + draw(rng, 2)], false, memory), "batches", seed);
  if (kind < 9 && product::one_type)
    return check(product(rng, pick(rng, forms), true, memory), "overlaps", seed);
  if constexpr (std::is_arithmetic_v<T> && product::one_type && !test::is_quantized<C>)
    return check(scan<T>(rng, memory), "scans", seed);
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  if (!read(argc, argv, o)) {
    std::fprintf(stderr, "usage: %s [--minutes N] [--seed S] [--cases N]\n", argv[0]);
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
  for (long long i = 0; i < o.cases && clock::now() < end; ++i) {
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
                              check_one<float8_e4m3, float8_e5m2, float>,
                              check_one<float8_e5m2, float8_e4m3, bfloat16>};
    const auto wrong = pick(rng, of_type)(rng, seed, memory);
    if (wrong) {
      std::fprintf(stderr, "FAILED: %s\n%s", wrong->c_str(), at_work.c_str());
      return 1;
    }
  }
  for (const auto& [kind, count] : done) std::printf("%lld %s\n", count, kind.c_str());
  return 0;
}
