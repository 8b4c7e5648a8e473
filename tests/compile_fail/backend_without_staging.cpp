// expect in one error: a backend's staging.hpp lacks copy, commit or wait of backend::staging
// A backend that gives all but its copy atom.
#include <keramos/backends/host/collectives.hpp>
#include <keramos/backends/host/queue.hpp>
#include <keramos/keramos.hpp>

struct incomplete_space : Kokkos::DefaultHostExecutionSpace {};
inline keramos::device_info describe_device(const incomplete_space&) { return {}; }

namespace keramos::backend {

template <>
struct traits<incomplete_space> : traits<Kokkos::DefaultHostExecutionSpace> {};
template <>
class native_event<incomplete_space> : public host::native_event<incomplete_space> {};
template <>
struct stream<incomplete_space> : host::stream<Kokkos::DefaultHostExecutionSpace> {};
template <>
struct device_list<incomplete_space> : host::device_list<Kokkos::DefaultHostExecutionSpace> {};
template <int Size, int Team>
struct collectives<incomplete_space, Size, Team> : host::collectives<Size> {};

}  // namespace keramos::backend

static_assert(keramos::backend::is_complete<incomplete_space>());
