#include <keramos/dist/elements.hpp>

namespace keramos::detail {
namespace {

template <class T, bool Conjugate>
dist_transfer copy_of() {
  return [](dist::communicator::queue_type& q, const dist_rectangle& from, const dist_rectangle& to) {
    dist_for_each_element(
        q, "keramos::dist::copy", from, to,
        dist_copy_element<T, Conjugate>{static_cast<const T*>(from.data), static_cast<T*>(to.data)});
  };
}

}  // namespace

dist_transfer dist_copy(int bytes, bool conjugate) {
  if (conjugate) return bytes == 8 ? copy_of<complex<float>, true>() : copy_of<complex<double>, true>();
  switch (bytes) {
    case 1:
      return copy_of<dist_bytes<1>, false>();
    case 2:
      return copy_of<dist_bytes<2>, false>();
    case 4:
      return copy_of<dist_bytes<4>, false>();
    case 8:
      return copy_of<dist_bytes<8>, false>();
    default:
      return copy_of<dist_bytes<16>, false>();
  }
}

}  // namespace keramos::detail
