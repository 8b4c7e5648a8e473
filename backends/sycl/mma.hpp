// The multiply atoms of Kokkos::SYCL: FMA units, and Intel's matrix units by joint_matrix (sycl_ext_oneapi_matrix) for f16,
// bf16, integers of eight bits and tf32. Run on AMX of a processor (bf16) or on AMX that is emulated (bf16, f16, integers), on no
// GPU (docs/elsewhere.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sycl/sycl.hpp>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/joint_fragment.hpp>
#include <keramos/backends/sycl/traits.hpp>
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
template <class E, bool Signed, matrix::use Use, int Rows, int Columns, matrix::layout Layout>
struct fragment {
  using memory = typename element<E, Signed>::memory;
  matrix::joint_matrix<::sycl::sub_group, typename element<E, Signed>::unit, Use, Rows, Columns, Layout> data;
};

constexpr matrix::layout layout_of(bool row_major) {
  return row_major ? matrix::layout::row_major : matrix::layout::col_major;
}

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
  static constexpr simt::joint_fragment fragment{8, 16, 32 / int(sizeof(E)), 16};

  /// Fragments of A and of B whose memory runs `Along`, and of sums.
  template <class E, tiling::direction Along, bool Signed>
  using a_fragment =
      sycl_backend::fragment<E, Signed, sycl_backend::matrix::use::a, fragment<E>.m, fragment<E>.k,
                             sycl_backend::layout_of(Along == tiling::direction::k)>;
  template <class E, tiling::direction Along, bool Signed>
  using b_fragment =
      sycl_backend::fragment<E, Signed, sycl_backend::matrix::use::b, fragment<E>.k, fragment<E>.n,
                             sycl_backend::layout_of(Along == tiling::direction::mn)>;
  template <class E, class T>
  using sums = sycl_backend::matrix::joint_matrix<::sycl::sub_group, sycl_backend::sum<T>,
                                                  sycl_backend::matrix::use::accumulator, fragment<E>.m,
                                                  fragment<E>.n>;

  // All of these are called by all lanes of a sub-group, with the same arguments.

  /// Reads a fragment from local memory, whose rows, or columns as its memory runs, lie `pitch` elements apart. Elements of f32
  /// are rounded to tf32.
  template <class Fragment, class E>
  KERAMOS_FORCEINLINE_FUNCTION static void load(Fragment& to, const E* local, int pitch) {
    const auto lanes = sycl_backend::sub_group();
    sycl_backend::matrix::joint_matrix_load(
        lanes, to.data, sycl_backend::in_local_memory<const typename Fragment::memory>(local),
        std::size_t(pitch));
    if constexpr (std::is_same_v<E, float>)
      sycl_backend::matrix::joint_matrix_apply(lanes, to.data, [](float& x) { x = rounded(x); });
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
