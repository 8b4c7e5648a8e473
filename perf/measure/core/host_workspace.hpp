// Operands in plain host memory, for what knows no Kokkos: CBLAS workers and the verification.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "problem.hpp"

namespace keramos::perf {

// A, B and C of one copy of the problem.
struct operand_set {
  const void* a;
  const void* b;
  void* c;
};

// Calls f(set) `calls` times, over the sets in turn from the first on. No division: it would cost
// as much as a tenth of the smallest products.
template <class Set, class F>
void in_turn(const std::vector<Set>& sets, std::int64_t calls, const F& f) {
  const Set* set = sets.data();
  const Set* const end = set + sets.size();
  for (std::int64_t i = 0; i < calls; ++i) {
    f(*set);
    if (++set == end) set = sets.data();
  }
}

// `sets` copies of one problem filled with random data, element by element the same as those of
// `workspace` (device/machine.hpp) for the same seed. The CPUs of the calling thread's process touch
// the memory first.
class host_workspace {
 public:
  host_workspace(const gemm_case& g, std::int64_t sets, std::uint64_t seed);

  const std::vector<operand_set>& operands() const { return operands_; }
  // C of the first set: NaN (integers: -1) if beta is 0, else the initial random C.
  void reset_c();
  const void* c() const { return operands_.front().c; }
  const void* initial_c() const { return first_c_.get(); }  // of the first set; null if beta is 0
  std::size_t c_bytes() const;

 private:
  struct free_memory {
    void operator()(char* p) const { std::free(p); }
  };
  using memory = std::unique_ptr<char, free_memory>;

  template <class T>
  memory make(std::size_t stride, std::uint64_t seed, std::uint64_t stream) const;

  gemm_case problem_;
  std::int64_t sets_;
  memory a_, b_, c_, first_c_;
  std::vector<operand_set> operands_;
};

}  // namespace keramos::perf
