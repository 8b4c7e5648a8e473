// The types of a product, in one struct: kernels are templates of it, rows of tables and plans are found by it. A type
// that is added is a scalar_type, a struct and a word in the list here, and rows of tables: docs/howto/type.md.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/base/scalar_type.hpp>
#include <keramos/tile/operand_types.hpp>

namespace keramos {

namespace detail {

/// Integers are unsigned in kernels, where sums wrap around; callers' have a sign.
template <class T>
struct with_sign : std::type_identity<T> {};
template <>
struct with_sign<std::uint32_t> : std::type_identity<std::int32_t> {};

}  // namespace detail

/// Elements of A, B and C, what elements of A and B are rounded to before they are multiplied, and what products are summed
/// in.
///
/// Of A and B of two types there is one order, the narrower or the real one first: a product in the other order is done as
/// its transpose, whose A is B.
template <scalar_type A, scalar_type B, scalar_type C, scalar_type Compute, scalar_type Accumulator>
struct gemm_types {
  using a = typename detail::kernel_type_of<A>::type;
  using b = typename detail::kernel_type_of<B>::type;
  using c = typename detail::kernel_type_of<C>::type;
  using accumulator = typename detail::kernel_type_of<Accumulator>::type;

  /// What rows of tables are found by. They serve any type of C.
  static constexpr tiling::operand_types operands{A, B, Compute, Accumulator};
  static constexpr scalar_type type_of_c = C;

  /// Whether sums are scaled and rounded to integers of eight bits.
  static constexpr bool quantizes = C == scalar_type::i8;
  /// In what callers' epilogues compute; the result is converted to C's elements.
  using number = std::conditional_t<quantizes, float, typename detail::with_sign<accumulator>::type>;

  /// Whether the transpose of such a product is one of the same types.
  static constexpr bool transposable = std::is_same_v<a, b>;
  /// Whether products are of complex numbers, or of a real number and a complex one: op::C is not op::T.
  static constexpr bool is_complex = detail::is_complex<accumulator>;
  /// Whether an element is the sum of two, of which kernels read both.
  static constexpr bool splits_elements = Compute == scalar_type::tf32x3;
  /// Whether only matrix units compute so: FMA units and hosts do not round.
  static constexpr bool needs_matrix_units =
      Compute == scalar_type::tf32 || splits_elements || Compute == scalar_type::residues;
  /// Whether kernels of one type alone can do it.
  static constexpr bool uniform = Compute == Accumulator && std::is_same_v<a, accumulator> &&
                                  std::is_same_v<b, accumulator> && std::is_same_v<c, accumulator>;
};

/// Elements, products and sums of one type.
template <scalar_type T>
using uniform_types = gemm_types<T, T, T, T, T>;
/// Short floating-point elements, whose products are exact in f32 and summed there.
template <scalar_type T, scalar_type C>
using halves = gemm_types<T, T, C, T, scalar_type::f32>;
/// A's elements are converted to B's type, in which all else is.
template <scalar_type A, scalar_type B>
using mixed = gemm_types<A, B, B, B, B>;

/// The products that the library is compiled for. Structs, not aliases: their names stand in those of kernels, where
/// each character costs time at a launch (collective/simt_rows.hpp).
namespace types {

struct f32 : uniform_types<scalar_type::f32> {
  static constexpr const char* name = "f32";
};
struct tf32
    : gemm_types<scalar_type::f32, scalar_type::f32, scalar_type::f32, scalar_type::tf32, scalar_type::f32> {
  static constexpr const char* name = "tf32";
};
struct f32_emulated : gemm_types<scalar_type::f32, scalar_type::f32, scalar_type::f32, scalar_type::tf32x3,
                                 scalar_type::f32> {
  static constexpr const char* name = "f32_emulated";
  using native = f32;
};
struct f64 : uniform_types<scalar_type::f64> {
  static constexpr const char* name = "f64";
};
struct f64_emulated : gemm_types<scalar_type::f64, scalar_type::f64, scalar_type::f64, scalar_type::residues,
                                 scalar_type::f64> {
  static constexpr const char* name = "f64_emulated";
  using native = f64;
};
struct i32 : uniform_types<scalar_type::i32> {
  static constexpr const char* name = "i32";
};
struct i8_i32
    : gemm_types<scalar_type::i8, scalar_type::i8, scalar_type::i32, scalar_type::i8, scalar_type::i32> {
  static constexpr const char* name = "i8_i32";
};
struct i8 : gemm_types<scalar_type::i8, scalar_type::i8, scalar_type::i8, scalar_type::i8, scalar_type::i32> {
  static constexpr const char* name = "i8";
};
struct c32 : uniform_types<scalar_type::c32> {
  static constexpr const char* name = "c32";
};
struct c64 : uniform_types<scalar_type::c64> {
  static constexpr const char* name = "c64";
};
struct f16 : halves<scalar_type::f16, scalar_type::f16> {
  static constexpr const char* name = "f16";
};
struct f16_f32 : halves<scalar_type::f16, scalar_type::f32> {
  static constexpr const char* name = "f16_f32";
};
struct bf16 : halves<scalar_type::bf16, scalar_type::bf16> {
  static constexpr const char* name = "bf16";
};
struct bf16_f32 : halves<scalar_type::bf16, scalar_type::f32> {
  static constexpr const char* name = "bf16_f32";
};
struct f8_f16 : halves<scalar_type::f8, scalar_type::f16> {
  static constexpr const char* name = "f8_f16";
};
struct f8_bf16 : halves<scalar_type::f8, scalar_type::bf16> {
  static constexpr const char* name = "f8_bf16";
};
struct f8_f32 : halves<scalar_type::f8, scalar_type::f32> {
  static constexpr const char* name = "f8_f32";
};

struct f16xf32 : mixed<scalar_type::f16, scalar_type::f32> {
  static constexpr const char* name = "f16xf32";
};
struct bf16xf32 : mixed<scalar_type::bf16, scalar_type::f32> {
  static constexpr const char* name = "bf16xf32";
};
struct f32xc32 : mixed<scalar_type::f32, scalar_type::c32> {
  static constexpr const char* name = "f32xc32";
};
struct f64xc64 : mixed<scalar_type::f64, scalar_type::c64> {
  static constexpr const char* name = "f64xc64";
};

}  // namespace types

/// All of them, by their names; CMake reads this list too. Of those for the same elements, the first is meant if nothing else
/// is asked for.
// clang-format off
#define KERAMOS_FOR_EACH_TYPES(X)                                  \
  X(f32) X(tf32) X(f32_emulated) X(f64) X(f64_emulated)            \
  X(i32) X(i8_i32) X(i8) X(c32) X(c64)                             \
  X(f16) X(f16_f32) X(bf16) X(bf16_f32)                            \
  X(f8_f16) X(f8_bf16) X(f8_f32)                                   \
  X(f16xf32) X(bf16xf32) X(f32xc32) X(f64xc64)
// clang-format on

namespace detail {

/// Whether products are emulated: by other arithmetic than that of `Types::native`, whose accuracy they have.
template <class Types>
concept emulated_types = requires {
  typename Types::native;
};

/// What emulates products of Types; void if nothing does.
template <class Types>
struct emulation : std::type_identity<void> {};
template <>
struct emulation<types::f32> : std::type_identity<types::f32_emulated> {};
template <>
struct emulation<types::f64> : std::type_identity<types::f64_emulated> {};

template <class... Types>
struct types_list {};

#define KERAMOS_TYPES_STRUCT(Name) , types::Name
template <class None, class... Types>
using list_behind = types_list<Types...>;
using known_types = list_behind<void KERAMOS_FOR_EACH_TYPES(KERAMOS_TYPES_STRUCT)>;
#undef KERAMOS_TYPES_STRUCT

/// Whether elements of A and B are such, in this order or the other.
constexpr bool multiplies(const tiling::operand_types& types, scalar_type a, scalar_type b) {
  return (types.a == a && types.b == b) || (types.a == b && types.b == a);
}

template <class A, class B, class C, class First, class... Rest>
constexpr auto find_types(types_list<First, Rest...>) {
  if constexpr (multiplies(First::operands, scalar_type_of<A>::value, scalar_type_of<B>::value) &&
                First::type_of_c == scalar_type_of<C>::value)
    return First();
  else if constexpr (sizeof...(Rest) > 0)
    return find_types<A, B, C>(types_list<Rest...>());
}

template <class T>
concept known_element = requires {
  scalar_type_of<T>::value;
};

template <class A, class B, class C>
constexpr auto types_for() {
  if constexpr (known_element<A> && known_element<B> && known_element<C>)
    return find_types<A, B, C>(known_types());
}
/// The types of a product of such elements; void if there is none. The first may be those of B.
template <class A, class B = A, class C = A>
using types_of = decltype(types_for<A, B, C>());

}  // namespace detail

}  // namespace keramos
