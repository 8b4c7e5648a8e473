// Where a pointer leads to.
#pragma once

namespace keramos {

/// SYCL's usm::alloc: `unknown` is memory that no allocation function of the device's runtime made, such as
/// the C++ heap and stack, which hosts can access and most devices cannot.
enum class memory_kind { unknown, host, device, shared };

}  // namespace keramos
