// What a stencil's function sees: a point of a grid and the values around it. `v(0, 0)` is the point's own, `v(-1, 0)` that
// above. keramos::halo says how far it reaches.
#pragma once

#include <keramos/base/checks.hpp>
#include <keramos/core/range.hpp>

namespace keramos {

/// How far a stencil reaches in each dimension, to both sides: `halo<1, 1>` is the 3 x 3 points around one.
template <int... Radius>
struct halo {
  static_assert(sizeof...(Radius) == 2 || sizeof...(Radius) == 3, "keramos: stencils have 2 or 3 dimensions");
  static_assert(((Radius >= 0) && ...), "keramos: the radii of a halo are not negative");
  static constexpr int rank = sizeof...(Radius);

  KERAMOS_FORCEINLINE_FUNCTION static constexpr int radius(int d) {
    constexpr int r[] = {Radius...};
    return r[d];
  }
};

namespace detail {
template <class Exec, class T, class U, class Halo, bool Flipped, class F>
struct stencil_kernel;
}

/// The values around point `index()` of a grid: `u(di, dj)` or `u(di, dj, dk)`, each within the halo's
/// radius. Where they lie (local memory, cache) is the kernel's affair.
template <class T, class Halo>
class neighborhood {
 public:
  static constexpr int rank = Halo::rank;

  KERAMOS_FORCEINLINE_FUNCTION T operator()(int di, int dj) const requires(rank == 2) {
    check(di, 0), check(dj, 1);
    return flipped_ ? plane_[0][dj * row_ + di] : plane_[0][di * row_ + dj];
  }
  KERAMOS_FORCEINLINE_FUNCTION T operator()(int di, int dj, int dk) const requires(rank == 3) {
    check(di, 0), check(dj, 1), check(dk, 2);
    return flipped_ ? plane_[dk + Halo::radius(2)][dj * row_ + di]
                    : plane_[di + Halo::radius(0)][dj * row_ + dk];
  }
  /// The point itself.
  KERAMOS_FORCEINLINE_FUNCTION id<rank> index() const { return index_; }

 private:
  /// In the checked build: the error counts from the halo's first value.
  KERAMOS_FORCEINLINE_FUNCTION static void check(int offset, int d) {
    detail::check_index("halo", offset + Halo::radius(d), 2 * Halo::radius(d) + 1, d);
  }

  template <class, class, class, class, bool, class>
  friend struct detail::stencil_kernel;

  static constexpr int outer = Halo::radius(0) > Halo::radius(rank - 1) ? Halo::radius(0)
                                                                        : Halo::radius(rank - 1);
  static constexpr int planes = rank == 2 ? 1 : 2 * outer + 1;

  const T* plane_[planes];  // the point's place in each plane across the first dimension of the kernel
  index_t row_;             // from row to row in them
  bool flipped_;            // the grid's last dimension is the kernel's first
  id<rank> index_;
};

}  // namespace keramos
