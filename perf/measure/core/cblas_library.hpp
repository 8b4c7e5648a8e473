// A CBLAS loaded while the program runs, so that libraries are compared without relinking.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "host_workspace.hpp"
#include "problem.hpp"

namespace keramos::perf {

// The library cannot be used here; the message is one line.
struct unavailable_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class cblas_library {
 public:
  // Loads `path`, or if it is empty the installed library of that name ("blas": the system's choice),
  // and asks it for `threads` threads. Throws unavailable_error.
  cblas_library(const std::string& name, const std::string& path, int threads);

  // Whether it has a function for products of the type, or for batches of them.
  bool has(data_type type) const { return plain_.contains(type); }
  bool has_batches(data_type type) const { return batch_.contains(type); }
  // `calls` products over the sets in turn; a batch of any form is a loop over the function.
  void gemm(const gemm_case& g, const std::vector<operand_set>& sets, std::int64_t calls) const;

  const std::string& name() const { return name_; }  // which it is, with its version: "openblas-0.3.21"
  // A strided batch by cblas_?gemm_batch_strided, which not every library has.
  void gemm_batch(const gemm_case& g, const std::vector<operand_set>& sets, std::int64_t calls) const;

  // Real paths: the file with cblas_sgemm first, then the one behind it if it is only a front.
  const std::vector<std::string>& libraries() const { return libraries_; }
  const std::string& version() const { return version_; }  // what it says of itself, if anything
  int threads() const { return threads_; }                 // 0 where it does not tell

 private:
  bool open(const std::string& path, std::string& problem);

  void* handle_ = nullptr;
  std::map<data_type, void*> plain_, batch_;
  bool wide_integers_ = false;  // an ILP64 library: sizes are 64-bit
  std::string name_;
  std::vector<std::string> libraries_;
  std::string version_;
  int threads_ = 0;
};

// The functions that a product of the type is looked for by: "cblas_sbgemm, cblas_gemm_bf16bf16f32"; "" of a type for
// which no library has one.
std::string cblas_functions(data_type type);

// Whether --provider knows a CBLAS library by this name: blas, openblas, blis, mkl.
bool is_cblas_name(const std::string& name);

// The same questions to a BLAS that something else linked: `symbol` is one of its functions.
struct linked_blas {
  std::vector<std::string> libraries;  // empty if there is no such function
  std::string version;
  int threads = 0;
};
linked_blas ask_linked_blas(const char* symbol, int threads);

}  // namespace keramos::perf
