// expect in one error: a backend's staging.hpp lacks copy, commit or wait of backend::staging
// A backend that gives all but its copy atom.
#include "incomplete_backend.hpp"

namespace keramos::backend {

template <int Size, int Team>
struct collectives<incomplete_host, Size, Team> : host::collectives<Size> {};

}  // namespace keramos::backend

static_assert(keramos::backend::is_complete<incomplete_host>());
