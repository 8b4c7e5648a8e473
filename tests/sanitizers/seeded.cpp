// Mistakes that a build with a sanitizer must find, so that its silence elsewhere means something:
//   seeded race | overflow | undefined
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <keramos/keramos.hpp>

using namespace keramos;

// Items of different threads write one element without an atomic_ref.
void race(queue& q, int* sum) {
  q.parallel_for(
      "race", range{100'000}, KERAMOS_LAMBDA(index_t i) { *sum += int(i % 2); });
}
void one_too_many(queue& q, int* x, index_t n) {
  q.parallel_for(
      "one_too_many", range{n + 1}, KERAMOS_LAMBDA(index_t i) { x[i] = 1; });
}
void exceed(queue& q, int* x) {
  q.parallel_for(
      "exceed", range{1}, KERAMOS_LAMBDA(index_t) { *x += 1; });
}

int main(int argc, char** argv) {
  const std::string mistake = argc > 1 ? argv[1] : "";
  runtime guard;
  queue q;
  std::vector<int> x(100, mistake == "undefined" ? std::numeric_limits<int>::max() : 0);
  if (mistake == "race") race(q, x.data());
  if (mistake == "overflow") one_too_many(q, x.data(), index_t(x.size()));
  if (mistake == "undefined") exceed(q, x.data());
  q.wait();
  std::printf("%d: the mistake was not found\n", x[0]);
}
