// expect in one error: has a row for matrix units, and its mma.hpp or warpgroup.hpp lacks the multiply atom
// A backend of GPUs that gives all but the products of its tile table's elements.
#include "incomplete_backend.hpp"

namespace keramos::backend {

template <>
struct traits<incomplete_space> : traits_of_a_gpu {};
template <int Size, int Team>
struct collectives<incomplete_space, Size, Team> : host::collectives<Size> {};
template <>
struct staging<incomplete_space> : simt::plain_copier {};
template <>
struct tiles<incomplete_space> : tiles_of_a_gpu {};
template <>
struct mma<incomplete_space> : fma_units {
  template <class E>
  static constexpr bool multiplies_short = true;
  template <bool Transposed>
  static void load_8x8x4(unsigned (&)[4], const void*) {}
};

}  // namespace keramos::backend

static_assert(keramos::backend::is_complete<incomplete_space>());
