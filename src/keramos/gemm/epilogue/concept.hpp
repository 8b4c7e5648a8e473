// What an epilogue is: what happens to an element of op(A)·op(B) on its way to C. Kernels call epilogues through
// detail::apply_epilogue alone, which decides whether they are given C's old element.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <keramos/base/compiler.hpp>
#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>

namespace keramos {

namespace detail {

/// As much as docs/limits.md lets a caller's epilogue hold: kernels have room for it in what Kokkos passes to a launch as an
/// argument (traits::most_kernel_bytes); larger ones wait for a copy.
inline constexpr std::size_t most_epilogue_bytes = 104;

/// What an epilogue may return for an element T: to an integer a floating-point number would be cut off.
template <class R, class T>
concept becomes_element =
    std::convertible_to<R, T> && !(std::is_integral_v<T> && std::is_floating_point_v<std::remove_cvref_t<R>>);

/// `T operator()(T acc, T c, index_t i, index_t j, index_t batch) const`
template <class E, class T>
concept epilogue_with_c = requires(const E& e, T x, index_t i) {
  { e(x, x, i, i, i) } -> becomes_element<T>;
};

/// `T operator()(T acc, index_t i, index_t j, index_t batch) const`
template <class E, class T>
concept epilogue_without_c = requires(const E& e, T x, index_t i) {
  { e(x, i, i, i) } -> becomes_element<T>;
};

template <class E>
concept tells_reads_c = requires(const E& e) {
  { e.reads_c() } -> std::convertible_to<bool>;
};

/// Whether four arguments are (acc, c, i, j), the batch forgotten: C++ would convert i to C's element. Known where
/// operator() is neither overloaded nor a template and the elements are floating-point.
template <class M>
inline constexpr bool forgets_batch = false;
template <class R, class E, class A, class C, class I, class J>
inline constexpr bool forgets_batch<R (E::*)(A, C, I, J) const> =
    !std::is_integral_v<std::remove_cvref_t<C>> && !std::is_enum_v<std::remove_cvref_t<C>>;
template <class R, class E, class A, class C, class I, class J>
inline constexpr bool forgets_batch<R (E::*)(A, C, I, J) const noexcept> =
    forgets_batch<R (E::*)(A, C, I, J) const>;

template <class E>
constexpr bool epilogue_forgets_batch() {
  if constexpr (requires { &E::operator(); })
    return forgets_batch<decltype(&E::operator())>;
  else
    return false;
}
/// Whether `E` ever reads C, and whether it can go without; both where reads_c() decides when it runs.
template <class E, class T>
inline constexpr bool may_read_c = epilogue_with_c<E, T>;
template <class E, class T>
inline constexpr bool may_skip_c = epilogue_without_c<E, T> && !epilogue_forgets_batch<E>();

template <class E, class T>
inline constexpr bool is_epilogue = std::copy_constructible<E> && !is_device_lambda<E>() &&
                                    (may_read_c<E, T> || may_skip_c<E, T>)&&  //
                                    (!(may_read_c<E, T> && may_skip_c<E, T>) || tells_reads_c<E>);

}  // namespace detail

/// A callable that gives an element of C from `acc`, the sum of products op(A)·op(B) at (i, j) of the caller's C:
///
///     T operator()(T acc, T c, index_t i, index_t j, index_t batch) const;  // c: C's old element
///     T operator()(T acc, index_t i, index_t j, index_t batch) const;       // does not read C
///
/// One of them, or both and `bool reads_c() const`, which decides. It is called for each element of C, in any order and
/// from many threads. Some calls are for nothing, with a sum of another element, and a C of another one or 0;
/// what they give is dropped. `batch` is the number of the problem, 0 for a single product. It must be copyable, callable on
/// the device (KERAMOS_LAMBDA, KERAMOS_FUNCTION), and the same whenever it is called with the same.
template <class E, class T>
concept epilogue_for = detail::is_epilogue<E, T>;

namespace detail {

/// `e` for a C of elements `C`: an epilogue may have a form for them, `for_elements<C>()`, which is no more exact than they are.
template <class C, class E>
constexpr auto for_elements(const E& e) {
  if constexpr (requires { e.template for_elements<C>(); })
    return e.template for_elements<C>();
  else
    return e;
}

/// Whether `e` is given C's old elements of type T.
template <class T, class E>
KERAMOS_FORCEINLINE_FUNCTION constexpr bool reads_c(const E& e) {
  if constexpr (may_read_c<E, T> && may_skip_c<E, T>)
    return e.reads_c();
  else
    return may_read_c<E, T>;
}

/// The new element, where it is known from reads_c() whether C is read: ask once before a loop, and compilers vectorise
/// it. `Reads` is true only if C may be read, and false only if it need not be.
template <bool Reads, class E, class T>
KERAMOS_FORCEINLINE_FUNCTION constexpr T apply_epilogue_known(const E& e, T acc, [[maybe_unused]] const T& c,
                                                              index_t i, index_t j, index_t batch) {
  if constexpr (Reads)
    return static_cast<T>(e(acc, c, i, j, batch));
  else
    return static_cast<T>(e(acc, i, j, batch));
}

/// The new element; `c` is read only if the epilogue reads C.
template <class E, class T>
KERAMOS_FORCEINLINE_FUNCTION constexpr T apply_epilogue(const E& e, T acc, const T& c, index_t i, index_t j,
                                                        index_t batch) {
  if constexpr (!may_skip_c<E, T>)
    return apply_epilogue_known<true>(e, acc, c, i, j, batch);
  else if constexpr (!may_read_c<E, T>)
    return apply_epilogue_known<false>(e, acc, c, i, j, batch);
  else
    return e.reads_c() ? apply_epilogue_known<true>(e, acc, c, i, j, batch)
                       : apply_epilogue_known<false>(e, acc, c, i, j, batch);
}

/// Memory known by a bare pointer (void) is the caller's word.
template <class Exec, class Space>
constexpr bool space_reaches() {
  if constexpr (std::is_void_v<Exec> || std::is_void_v<Space>)
    return true;
  else
    return Kokkos::SpaceAccessibility<Exec, Space>::accessible;
}

/// Whether kernels on `Exec` reach the memory behind an epilogue; what a user's own points at is the user's word.
template <class Exec, class E>
constexpr bool epilogue_reaches() {
  if constexpr (requires { typename E::memory_space; })
    return space_reaches<Exec, typename E::memory_space>();
  else if constexpr (requires {
                       typename E::first_type;
                       typename E::second_type;
                       typename E::epilogue_block;
                     })
    return epilogue_reaches<Exec, typename E::first_type>() &&
           epilogue_reaches<Exec, typename E::second_type>();
  else
    return true;
}

/// True, or the one error of a call with this epilogue, which then compiles nothing more. T is the type of C's
/// elements; with `Exec` it is also asked whether kernels there reach the epilogue's data.
template <class E, class T, class Exec = void>
constexpr bool check_epilogue() {
  constexpr bool known = !is_device_lambda<E>();
  constexpr bool copied = !known || std::copy_constructible<E>;
  constexpr bool complete = !known || !copied || !epilogue_forgets_batch<E>();
  constexpr bool called = !known || !copied || !complete || may_read_c<E, T> || may_skip_c<E, T>;
  constexpr bool decided = !(may_read_c<E, T> && may_skip_c<E, T>) || tells_reads_c<E>;
  constexpr bool reached = epilogue_reaches<Exec, E>();
  static_assert(known,
                "keramos: the host must know what an epilogue takes: write KERAMOS_LAMBDA in place of [=] "
                "__device__");
  static_assert(copied, "keramos: an epilogue is copied to the device and must be copyable");
  static_assert(complete, "keramos: an epilogue that reads C takes five arguments, (acc, c, i, j, batch)");
  static_assert(called,
                "keramos: an epilogue takes (acc, c, i, j, batch), or (acc, i, j, batch) if it does not read "
                "C; acc and c are of C's element type, or float if that is shorter, the others index_t; it "
                "returns one (an integer for integers) and is const");
  static_assert(decided, "keramos: an epilogue with both forms says which one to call: bool reads_c() const");
  static_assert(reached, "keramos: the queue's device cannot reach the memory of this epilogue's View");
  return known && copied && complete && called && decided && reached;
}

}  // namespace detail
}  // namespace keramos
