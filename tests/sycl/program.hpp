// Kernels that are compiled while the program runs, and where they run.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <sycl/sycl.hpp>

#include "amx.hpp"

namespace keramos::test::device {

/// Whether the device at hand has matrix units for elements of these types.
bool has_matrix_units(const ::sycl::queue& q, ::sycl::ext::oneapi::experimental::matrix::matrix_type type);

/// Compiles a file of this folder as far as SPIR-V, by DPC++'s run-time compiler (sycl_ext_oneapi_kernel_compiler). With
/// SYCL_DUMP_IMAGES=1 in the environment it lies in the working folder then.
void compile_only(const std::string& file, const std::vector<std::string>& definitions);

/// A file of this folder, compiled for the device by DPC++'s run-time compiler (sycl_ext_oneapi_kernel_compiler), and its
/// kernels by their names.
class program {
 public:
  /// `definitions`: "KERAMOS_TYPE=f32", say; `options`: others of the compiler. @throws sycl::exception with what it says.
  explicit program(const std::string& file, const std::vector<std::string>& definitions = {},
                   const std::vector<std::string>& options = {});

  ::sycl::queue& queue() { return queue_; }
  ::sycl::kernel kernel_of(const std::string& name) { return kernels_.ext_oneapi_get_kernel(name); }
  /// Runs the kernel once.
  template <class... Arguments>
  void once(const std::string& kernel, const Arguments&... arguments) {
    queue_.submit([&](::sycl::handler& h) {
      h.set_args(arguments...);
      h.single_task(kernel_of(kernel));
    });
    queue_.wait_and_throw();
  }
  /// Runs it on teams, as Kokkos numbers their threads, or along the last dimension (team_of_lanes).
  template <class... Arguments>
  void on_teams(const std::string& kernel, int teams, int team_size, const Arguments&... arguments) {
    run<Arguments...>(kernel, {std::size_t(team_size), std::size_t(teams)}, {std::size_t(team_size), 1},
                      arguments...);
  }
  template <class... Arguments>
  void on_teams_of_lanes(const std::string& kernel, int teams, int team_size, const Arguments&... arguments) {
    emulate_amx();
    run<Arguments...>(kernel, {std::size_t(teams), std::size_t(team_size)}, {1, std::size_t(team_size)},
                      arguments...);
  }

 private:
  using bundle = ::sycl::kernel_bundle<::sycl::bundle_state::executable>;

  template <class... Arguments>
  void run(const std::string& kernel, const ::sycl::range<2>& all, const ::sycl::range<2>& team,
           const Arguments&... arguments) {
    queue_.submit([&](::sycl::handler& h) {
      h.set_args(arguments...);
      h.parallel_for(::sycl::nd_range<2>(all, team), kernel_of(kernel));
    });
    queue_.wait_and_throw();
  }

  ::sycl::queue queue_;
  bundle kernels_;
};

/// Memory that the host and the device see, each element as `initial`.
template <class T>
class shared {
 public:
  shared(::sycl::queue& q, std::size_t size, const T& initial)
      : data_(::sycl::malloc_shared<T>(size + 1, q), [q](T* p) { ::sycl::free(p, q); }), size_(size) {
    for (std::size_t i = 0; i < size; ++i) data_.get()[i] = initial;
  }
  T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  std::shared_ptr<T> data_;
  std::size_t size_;
};

}  // namespace keramos::test::device
