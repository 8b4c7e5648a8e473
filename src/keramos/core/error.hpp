// One exception hierarchy. Everything is thrown on the host, before any work is queued.
//
// Message form: `keramos::<function>: <argument> is <value> but <requirement>; <cure>`.
#pragma once

#include <stdexcept>
#include <string>

namespace keramos {

/// Base of every exception that Keramos throws.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument breaks a documented precondition (extents, null data, overlap, strides).
class invalid_argument : public error {
 public:
  using error::error;
};

/// A kernel cannot be launched as asked (local memory or league too large), or its launch failed.
class launch_error : public error {
 public:
  using error::error;
};

/// Kokkos is not initialised.
class not_initialized : public error {
 public:
  using error::error;
};

}  // namespace keramos
