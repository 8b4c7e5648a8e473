// A kernel without any property of sub-groups: what it gets is the compiler's option.
#include <sycl/sycl.hpp>

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(
    (::sycl::ext::oneapi::experimental::nd_range_kernel<2>)) void lanes_of_sub_group(int* lanes) {
  *lanes = int(::sycl::ext::oneapi::this_work_item::get_sub_group().get_max_local_range()[0]);
}
