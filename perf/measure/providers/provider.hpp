// What the harness measures: anything that can do C <- alpha op(A) op(B) + beta C.
// A provider is one file in this folder and one line in providers.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "measure/core/cblas_library.hpp"
#include "measure/core/host_workspace.hpp"
#include "measure/core/problem.hpp"

namespace keramos::perf {

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

// What a command calls: single products, batches of one size, or lists of problems.
enum class call_kind { plain, batched, grouped };

// One item of --provider, as far as it can be known without loading anything.
struct provider_choice {
  std::string name;        // of the entry in providers.cpp, e.g. "blas"; results may call it otherwise
  std::string path;        // of the library, where the user named it
  bool asked_for = false;  // by name: then it gets rows even if unavailable
  bool bonus = false;      // not worth a word where it is missing
  bool needs_kokkos = true;
  bool loops = false;  // results say so: a list of problems by a CBLAS, which is called for each
};

// The choices behind `asked` ("keramos", "blas", "blas=/path/lib.so"; empty: all that make sense
// here, for such calls), with `blas_paths` in place of the default BLAS. Throws
// usage_error for an unknown name.
std::vector<provider_choice> choose_providers(const std::vector<std::string>& asked,
                                              const std::vector<std::string>& blas_paths, bool device_is_host,
                                              call_kind calls = call_kind::plain);

// Makes it, to use `threads` host threads: as many as Keramos does. Throws unavailable_error.
std::unique_ptr<gemm_provider> make_provider(const provider_choice& choice, int threads, bool device_is_host);

// The factories. They return null where this build has no such provider, and throw
// unavailable_error where it has but cannot be used.
std::unique_ptr<gemm_provider> make_keramos();
std::unique_ptr<gemm_provider> make_kokkoskernels_native();
std::unique_ptr<gemm_provider> make_kokkoskernels_tpl(int threads);
std::unique_ptr<gemm_provider> make_kokkoskernels_batched();
std::unique_ptr<gemm_provider> make_blas(const provider_choice& choice, int threads);
// loops: lists of problems by a call for each, as cublas-loop, and nothing else.
std::unique_ptr<gemm_provider> make_cublas(bool loops);
std::unique_ptr<gemm_provider> make_cublaslt();

std::string kokkoskernels_version();  // "" where this build has none

}  // namespace keramos::perf
