// The multiply atoms of Kokkos::SYCL: FMA units, and Intel's matrix units by joint_matrix (sycl_ext_oneapi_matrix) for f16,
// bf16, integers of eight bits and tf32. Run on AMX that is emulated (all but tf32), on no GPU (docs/elsewhere.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sycl/sycl.hpp>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/joint_fragment.hpp>
#include <keramos/backends/sycl/sub_groups.hpp>
#include <keramos/backends/sycl/traits.hpp>
#include <keramos/backends/sycl/units.hpp>
#include <keramos/base/float16.hpp>
#include <keramos/base/integer8.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::backend {

namespace sycl_backend {

namespace matrix = ::sycl::ext::oneapi::experimental::matrix;

/// What SYCL calls elements E in memory and in matrix units.
template <class E, bool Signed>
struct element {
  using memory = E;
  using unit = E;
};
template <bool Signed>
struct element<float, Signed> {
  using memory = float;
  using unit = matrix::precision::tf32;
};
template <bool Signed>
struct element<float16, Signed> {
  using memory = ::sycl::half;
  using unit = memory;
};
template <bool Signed>
struct element<bfloat16, Signed> {
  using memory = ::sycl::ext::oneapi::bfloat16;
  using unit = memory;
};
template <bool Signed>
struct element<integer8, Signed> {
  using memory = std::conditional_t<Signed, std::int8_t, std::uint8_t>;
  using unit = memory;
};

/// A fragment, and how it lies in memory.
template <class E, bool Signed, matrix::use Use, int Rows, int Columns,
          matrix::layout Layout = matrix::layout::row_major>
struct fragment {
  using memory = typename element<E, Signed>::memory;
  matrix::joint_matrix<::sycl::sub_group, typename element<E, Signed>::unit, Use, Rows, Columns, Layout> data;
};

/// Sums have the sign that SYCL knows.
template <class T>
using sum = std::conditional_t<std::is_same_v<T, std::uint32_t>, std::int32_t, T>;

KERAMOS_FORCEINLINE_FUNCTION auto sub_group() { return ::sycl::ext::oneapi::this_work_item::get_sub_group(); }
/// A pointer to local memory as SYCL's functions take it.
template <class T, class U>
KERAMOS_FORCEINLINE_FUNCTION auto in_local_memory(U* data) {
  using ::sycl::access::address_space;
  return ::sycl::address_space_cast<address_space::local_space, ::sycl::access::decorated::no>(
      reinterpret_cast<T*>(data));
}

}  // namespace sycl_backend

template <>
struct mma<sycl_space> : fma_units {
  template <class E>
  static constexpr simt::joint_fragment fragment{8, 16, 32 / int(sizeof(E)),
                                                 int(sycl_backend::lanes_of_fragments),
                                                 KERAMOS_SYCL_UNITS == 2 ? 1 : 4 / int(sizeof(E))};

  template <class E, bool Signed>
  using a_fragment =
      sycl_backend::fragment<E, Signed, sycl_backend::matrix::use::a, fragment<E>.m, fragment<E>.k>;
  template <class E, bool Signed>
  using b_fragment =
      sycl_backend::fragment<E, Signed, sycl_backend::matrix::use::b, fragment<E>.k, fragment<E>.n,
                             fragment<E>.pack == 1 ? sycl_backend::matrix::layout::row_major
                                                   : sycl_backend::matrix::layout::ext_intel_packed>;
  template <class E, class T>
  using sums = sycl_backend::matrix::joint_matrix<::sycl::sub_group, sycl_backend::sum<T>,
                                                  sycl_backend::matrix::use::accumulator, fragment<E>.m,
                                                  fragment<E>.n>;

  /// Throws if the compiler was not told of sub-groups where it made `Kernel`.
  template <class Kernel>
  static void check_compiled(const sycl_space& exec) {
    sycl_backend::require_sub_groups_of<Kernel>(exec.sycl_queue());
  }

  // All of these are called by all lanes of a sub-group, with the same arguments.

  /// Reads a fragment from local memory, whose rows lie `pitch` elements apart. Elements of f32 have been rounded.
  template <class Fragment, class E>
  KERAMOS_FORCEINLINE_FUNCTION static void load(Fragment& to, const E* local, int pitch) {
    sycl_backend::matrix::joint_matrix_load(
        sycl_backend::sub_group(), to.data,
        sycl_backend::in_local_memory<const typename Fragment::memory>(local), std::size_t(pitch));
  }
  template <class Sums>
  KERAMOS_FORCEINLINE_FUNCTION static void clear(Sums& sums) {
    sycl_backend::matrix::joint_matrix_fill(sycl_backend::sub_group(), sums, 0);
  }
  template <class Sums, class A, class B>
  KERAMOS_FORCEINLINE_FUNCTION static void multiply(Sums& sums, const A& a, const B& b) {
    sycl_backend::matrix::joint_matrix_mad(sycl_backend::sub_group(), sums, a.data, b.data, sums);
  }
  /// Writes sums to local memory, row by row.
  template <class T, class Sums>
  KERAMOS_FORCEINLINE_FUNCTION static void store(T* local, const Sums& sums, int pitch) {
    sycl_backend::matrix::joint_matrix_store(sycl_backend::sub_group(), sums,
                                             sycl_backend::in_local_memory<sycl_backend::sum<T>>(local),
                                             std::size_t(pitch), sycl_backend::matrix::layout::row_major);
  }
  /// What lanes of the sub-group wrote to local memory before, all of them see behind it.
  KERAMOS_FORCEINLINE_FUNCTION static void meet_lanes() { ::sycl::group_barrier(sycl_backend::sub_group()); }
  /// x, which is the same for all lanes: the compiler sees it too.
  KERAMOS_FORCEINLINE_FUNCTION static int same_for_lanes(int x) {
    return ::sycl::group_broadcast(sycl_backend::sub_group(), x);
  }

  /// The nearest tf32.
  KERAMOS_FORCEINLINE_FUNCTION static float rounded(float x) {
    return sycl_backend::matrix::round_to_tf32(x);
  }
};

}  // namespace keramos::backend
