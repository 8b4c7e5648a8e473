// Fragments of matrix units belong to sub-groups of 16. For which sub-groups a kernel is compiled, an option of the compiler says.
// Without it results are wrong: so products ask before they launch such a kernel. No Kokkos here: tests/sycl reads it.
#pragma once

#include <cstddef>
#include <string>

#include <sycl/sycl.hpp>

#include <keramos/base/error.hpp>

namespace keramos::backend::sycl_backend {

inline constexpr std::size_t lanes_of_fragments = 16;

/// Throws unless the kernel was compiled for the sub-groups of fragments. (0: for any.)
inline void require_sub_groups(const ::sycl::kernel& kernel, const ::sycl::device& device) {
  const std::size_t lanes =
      kernel.get_info<::sycl::info::kernel_device_specific::compile_sub_group_size>(device);
  if (lanes != lanes_of_fragments)
    throw launch_error("keramos::gemm: kernels for matrix units were compiled for sub-groups of " +
                       (lanes == 0 ? "any size" : std::to_string(lanes)) +
                       ", not of 16; compile what makes such kernels with -fsycl-default-sub-group-size=16, "
                       "which CMake's target Keramos::keramos and pkg-config add");
}

/// The name of a kernel that does nothing, of the source that makes `Kernel`.
template <class Kernel>
struct beside;

/// The same of `Kernel`, which has no name that SYCL knows: of a kernel beside it, which the same run of the compiler makes, since
/// it is launched below. Nothing is launched if this throws, and nothing waits for what is.
template <class Kernel>
void require_sub_groups_of(::sycl::queue q) {
  [[maybe_unused]] static const bool are = [&] {
    const auto id = ::sycl::get_kernel_id<beside<Kernel>>();
    const auto all =
        ::sycl::get_kernel_bundle<::sycl::bundle_state::executable>(q.get_context(), {q.get_device()}, {id});
    require_sub_groups(all.get_kernel(id), q.get_device());
    q.submit([](::sycl::handler& h) {
      h.parallel_for<beside<Kernel>>(::sycl::nd_range<1>(lanes_of_fragments, lanes_of_fragments),
                                     [](const ::sycl::nd_item<1>&) {});
    });
    return true;
  }();
}

}  // namespace keramos::backend::sycl_backend
