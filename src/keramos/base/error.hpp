// One exception hierarchy: `catch (const keramos::error& e)` catches all that Keramos throws. Everything is thrown on the host,
// before any work is queued; what goes wrong later is thrown by queue::wait_and_throw.
//
// Message form: `keramos::<function>: <argument> is <value> but <requirement>; <cure>`.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <keramos/base/export.hpp>
#include <keramos/base/index.hpp>

namespace keramos {

/// Base of every exception that Keramos throws.
class KERAMOS_EXPORT error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument breaks a documented precondition (extents, null data, overlap, strides).
class KERAMOS_EXPORT invalid_argument : public error {
 public:
  using error::error;
};

/// A kernel cannot be launched as asked (local memory or league too large), or its launch failed.
class KERAMOS_EXPORT launch_error : public error {
 public:
  using error::error;
};

/// Work that was queued failed later: a kernel's fault on the device, an exception in a host task (which
/// then is nested in it: std::rethrow_if_nested).
class KERAMOS_EXPORT asynchronous_error : public error {
 public:
  asynchronous_error(const std::string& what, std::string label) : error(what), label_(std::move(label)) {}
  /// Label of the kernel or host task; of a device's fault the last one queued.
  const std::string& label() const { return label_; }

 private:
  std::string label_;
};

/// Memory was reached for from where it is not accessible, or could not be had.
class KERAMOS_EXPORT memory_error : public error {
 public:
  using error::error;
};

/// Kokkos is not initialised.
class KERAMOS_EXPORT not_initialized : public error {
 public:
  using error::error;
};

namespace detail {
/// Extents, strides or blocks as messages say them.
inline std::string shape_of(index_t rows, index_t cols) {
  return std::to_string(rows) + "x" + std::to_string(cols);
}
}  // namespace detail

}  // namespace keramos
