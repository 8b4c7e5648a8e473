// Epilogues one after the other: `first | second`, or `epilogue::then(first, second)`.
#pragma once

#include <type_traits>

#include <keramos/gemm/epilogue/concept.hpp>

namespace keramos::epilogue {

/// See then().
template <class First, class Second>
struct then_block {
  using epilogue_block = then_block;
  using first_type = First;
  using second_type = Second;

  First first;
  Second second;

  /// Both as they are where results become elements of type C.
  template <class C>
  constexpr auto for_elements() const {
    const auto f = detail::for_elements<C>(first);
    const auto s = detail::for_elements<C>(second);
    return then_block<std::remove_const_t<decltype(f)>, std::remove_const_t<decltype(s)>>{f, s};
  }

  /// Asked only if both parts can do without C. A part that may read C has its own reads_c().
  KERAMOS_FORCEINLINE_FUNCTION constexpr bool reads_c() const { return asks(first) || asks(second); }

  template <class T>
  requires(epilogue_for<First, T>&& epilogue_for<Second, T> &&
           (detail::may_read_c<First, T> || detail::may_read_c<Second, T>)) KERAMOS_FORCEINLINE_FUNCTION
      constexpr T
      operator()(T acc, T c, index_t i, index_t j, index_t batch) const {
    // A part that alone could read C does so: else this form would not have been called.
    if constexpr (!detail::may_read_c<Second, T>)
      return detail::apply_epilogue_known<false>(second, static_cast<T>(first(acc, c, i, j, batch)), c, i, j,
                                                 batch);
    else if constexpr (!detail::may_read_c<First, T>)
      return static_cast<T>(second(static_cast<T>(first(acc, i, j, batch)), c, i, j, batch));
    else
      return detail::apply_epilogue(second, detail::apply_epilogue(first, acc, c, i, j, batch), c, i, j,
                                    batch);
  }
  template <class T>
  requires(epilogue_for<First, T>&& epilogue_for<Second, T>&& detail::may_skip_c<First, T>&&
               detail::may_skip_c<Second, T>) KERAMOS_FORCEINLINE_FUNCTION constexpr T
  operator()(T acc, index_t i, index_t j, index_t batch) const {
    return static_cast<T>(second(static_cast<T>(first(acc, i, j, batch)), i, j, batch));
  }

 private:
  template <class E>
  KERAMOS_FORCEINLINE_FUNCTION static constexpr bool asks(const E& e) {
    if constexpr (detail::tells_reads_c<E>)
      return e.reads_c();
    else
      return false;
  }
};

/// `first`, then `second` with first's result as its `acc`. Both are given C's old element if they read it; C is read if
/// one of them reads it. Any two epilogues compose: the library's blocks, lambdas, your own structs, and compositions.
template <class First, class Second>
constexpr auto then(const First& first, const Second& second) {
  return then_block<First, Second>{first, second};
}
/// Several, left to right.
template <class First, class Second, class... Rest>
requires(sizeof...(Rest) > 0) constexpr auto then(const First& first, const Second& second,
                                                  const Rest&... rest) {
  return then(then(first, second), rest...);
}

namespace parts {

/// A block of the library, or a composition.
template <class E>
concept block = requires {
  typename E::epilogue_block;
};

}  // namespace parts

/// then(first, second), where at least one is a block of the library.
template <class First, class Second>
requires((parts::block<First> ||
          parts::block<Second>)&&std::is_class_v<First>&& std::is_class_v<Second>) constexpr auto
operator|(const First& first, const Second& second) {
  return then(first, second);
}

}  // namespace keramos::epilogue
