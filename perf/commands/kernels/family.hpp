// A kernel family as the harness sees it, without Kokkos: data of one size, the providers that can do the
// work, and the judge of their results.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "measure/core/problem.hpp"

namespace keramos::perf {

class kernel_family {
 public:
  virtual ~kernel_family() = default;
  virtual std::string shape() const = 0;                   // "8192x8192"
  virtual double bytes() const = 0;                        // that must be moved at least, in and out
  virtual std::vector<std::string> providers() const = 0;  // "keramos" first; "copy" is how fast memory is
  virtual double bytes_of(const std::string& provider) const = 0;
  // Seconds that `calls` calls take on the device.
  virtual double run(const std::string& provider, std::int64_t calls) = 0;
  // Fills the result with poison, runs once and compares with the reference; "" or what is wrong.
  virtual std::string verify(const std::string& provider) = 0;
};

// Data are whole numbers from -8 to 8, so that every sum is exact in every type and results can be
// compared bit for bit however they were summed.
template <class T>
std::unique_ptr<kernel_family> make_transpose_family(std::int64_t elements, std::uint64_t seed);
template <class T>
std::unique_ptr<kernel_family> make_stencil_family(int dimensions, std::int64_t elements, std::uint64_t seed);
template <class T>
std::unique_ptr<kernel_family> make_reduce_family(std::int64_t elements, std::uint64_t seed);
template <class T>
std::unique_ptr<kernel_family> make_scan_family(bool inclusive, std::int64_t elements, std::uint64_t seed);
template <class T>
std::unique_ptr<kernel_family> make_convolution_family(std::int64_t elements, std::uint64_t seed);

}  // namespace keramos::perf
