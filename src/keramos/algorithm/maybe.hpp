// Operators without an identity, made into ones that have it. Internal.
#pragma once

#include <type_traits>

#include <keramos/core/functional.hpp>

namespace keramos::detail {

/// A value or nothing; nothing is the identity of lifted operators.
template <class T>
struct maybe {
  T value;
  bool there;
};

template <class T, class Op>
struct lifted {
  Op op;
  KERAMOS_FORCEINLINE_FUNCTION maybe<T> operator()(const maybe<T>& a, const maybe<T>& b) const {
    if (!a.there) return b;
    if (!b.there) return a;
    return {op(a.value, b.value), true};
  }
};

/// How sums of T by Op are held: as T where Op tells its identity, else as maybe<T>.
template <class T, class Op, bool Known = has_known_identity<Op, T>>
struct summation {
  using value_type = T;
  using op_type = Op;
  KERAMOS_FORCEINLINE_FUNCTION static op_type lift(const Op& op) { return op; }
  KERAMOS_FORCEINLINE_FUNCTION static T of(const T& x) { return x; }
  KERAMOS_FORCEINLINE_FUNCTION static T nothing() { return Op::template identity<T>(); }
  KERAMOS_FORCEINLINE_FUNCTION static T value(const T& x) { return x; }
};
template <class T, class Op>
struct summation<T, Op, false> {
  using value_type = maybe<T>;
  using op_type = lifted<T, Op>;
  KERAMOS_FORCEINLINE_FUNCTION static op_type lift(const Op& op) { return {op}; }
  KERAMOS_FORCEINLINE_FUNCTION static maybe<T> of(const T& x) { return {x, true}; }
  KERAMOS_FORCEINLINE_FUNCTION static maybe<T> nothing() { return {T(), false}; }
  KERAMOS_FORCEINLINE_FUNCTION static T value(const maybe<T>& x) { return x.value; }
};

}  // namespace keramos::detail
