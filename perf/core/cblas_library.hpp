// A CBLAS loaded while the program runs, so that libraries are compared without relinking.
#pragma once

#include <cstdint>
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

  // `calls` products over the sets in turn, in f32 or f64.
  void gemm(const gemm_case& g, const std::vector<operand_set>& sets, std::int64_t calls) const;

  const std::string& name() const { return name_; }  // which it is, with its version: "openblas-0.3.21"
  // The same by cblas_?gemm_batch_strided, which not every library has; gemm() loops.
  void gemm_batch(const gemm_case& g, const std::vector<operand_set>& sets, std::int64_t calls) const;
  bool has_batches() const { return sgemm_batch_ != nullptr && dgemm_batch_ != nullptr; }

  // Real paths: the file with cblas_sgemm first, then the one behind it if it is only a front.
  const std::vector<std::string>& libraries() const { return libraries_; }
  const std::string& version() const { return version_; }  // what it says of itself, if anything
  int threads() const { return threads_; }                 // 0 where it does not tell

 private:
  bool open(const std::string& path, std::string& problem);

  void* handle_ = nullptr;
  void* sgemm_ = nullptr;
  void* dgemm_ = nullptr;
  void* sgemm_batch_ = nullptr;
  void* dgemm_batch_ = nullptr;
  bool wide_integers_ = false;  // an ILP64 library: sizes are 64-bit
  std::string name_;
  std::vector<std::string> libraries_;
  std::string version_;
  int threads_ = 0;
};

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
