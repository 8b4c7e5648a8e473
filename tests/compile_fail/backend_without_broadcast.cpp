// expect in one error: a backend's collectives.hpp lacks an operation of backend::collectives
// A backend that gives all but one operation of its groups.
#include "incomplete_backend.hpp"

namespace keramos::backend {

template <int Size, int Team>
class collectives<incomplete_host, Size, Team> : public host::collectives<Size> {
  using host::collectives<Size>::broadcast;
};
template <>
struct staging<incomplete_host> : host::plain_copier {};

}  // namespace keramos::backend

static_assert(keramos::backend::is_complete<incomplete_host>());
