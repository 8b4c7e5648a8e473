// What the harness measures: anything that can do C <- alpha op(A) op(B) + beta C.
// A provider is one file in this folder and one line in providers.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/cblas_library.hpp"
#include "core/problem.hpp"

namespace keramos::perf {

// A, B and C of one copy of the problem.
struct operand_set {
  const void* a;
  const void* b;
  void* c;
};

// Copies of one problem with different data. Calls go through them in turn, so that small
// problems do not live in the cache.
struct gemm_operands {
  std::vector<operand_set> device;  // where the default execution space can reach them
  std::vector<operand_set> host;    // the same pointers where that space is a host
};

struct provider_info {
  std::string name;                    // what results call it, e.g. "kokkoskernels-native"
  std::string version;                 // "" where it does not tell
  std::vector<std::string> libraries;  // real paths; first what holds the code that computes
  int threads = 0;                     // host threads it uses; 0: none or not known
  bool on_host = false;                // works on gemm_operands::host
};

class gemm_provider {
 public:
  virtual ~gemm_provider() = default;
  virtual provider_info info() const = 0;
  // Why it cannot do this problem, in a few words; "" if it can.
  virtual std::string cannot(const gemm_case&) const { return {}; }
  // The operands stay where they are until the next prepare.
  virtual void prepare(const gemm_case&, const gemm_operands&) = 0;
  // Does the product `calls` times, back to back over the operand sets from the first on, waits,
  // and returns the seconds that took, on the device's clock where it has one.
  virtual double run(std::int64_t calls) = 0;
};

struct provider_request {
  std::vector<std::string> names;  // as given to --provider; empty: all that make sense here
  std::string blas_path;
  int threads = 1;  // of host libraries: as many as Keramos uses
  bool device_is_host = true;
};

// One row that results will have: a provider, or why there is none.
struct provider_slot {
  std::string name;
  bool asked_for = false;                   // by name: then it gets rows even if unavailable
  std::unique_ptr<gemm_provider> provider;  // may be null
  std::string problem;                      // then one line that says why
};

// Known names of --provider; throws usage_error for one that is none.
void check_provider_names(const std::vector<std::string>& names);

std::vector<provider_slot> make_providers(const provider_request& request);

// The factories. They return null where this build has no such provider, and throw
// unavailable_error where it has but cannot be used.
std::unique_ptr<gemm_provider> make_keramos();
std::unique_ptr<gemm_provider> make_kokkoskernels_native();
std::unique_ptr<gemm_provider> make_kokkoskernels_tpl(int threads);
std::unique_ptr<gemm_provider> make_blas(const std::string& path, int threads);
std::unique_ptr<gemm_provider> make_cublas();

std::string kokkoskernels_version();  // "" where this build has none

}  // namespace keramos::perf
