// From a data_type to C++ types. Only what needs these includes this: it is compiled again when the library gets another type.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include <keramos/products.hpp>

#include "problem.hpp"

namespace keramos::perf {

template <class A, class B = A, class C = A>
struct elements {
  using a = A;
  using b = B;
  using c = C;
};

// As what callers of libraries have elements.
template <scalar_type T>
struct element_of : keramos::detail::kernel_type_of<T> {};
template <>
struct element_of<scalar_type::f8> : std::type_identity<float8_e4m3> {};
template <>
struct element_of<scalar_type::i8> : std::type_identity<std::int8_t> {};
template <>
struct element_of<scalar_type::i32> : std::type_identity<std::int32_t> {};
// Of a struct of keramos::types.
template <class Types>
using elements_of =
    elements<typename element_of<Types::operands.a>::type, typename element_of<Types::operands.b>::type,
             typename element_of<Types::type_of_c>::type>;

// KERAMOS_TYPES may leave some out: what says which are in the library says which are in this program.
#define KERAMOS_PERF_CASE(Name, None) case data_type::Name:
constexpr bool is_in_build(data_type t) {
  switch (t) {
    KERAMOS_FOR_EACH_PRODUCT(KERAMOS_PERF_CASE, )
    return true;
    default:
      return false;
  }
}
#undef KERAMOS_PERF_CASE

// Calls f with the elements of a type that is in this program: f(elements<float>()), say.
#define KERAMOS_PERF_CASE(Name, None) \
  case data_type::Name:               \
    return f(elements_of<types::Name>());
template <class F>
decltype(auto) visit_type(data_type t, F&& f) {
  switch (t) {
    KERAMOS_FOR_EACH_PRODUCT(KERAMOS_PERF_CASE, )
    default:
      throw std::logic_error("keramos-perf: a type that is not in this program");
  }
}
#undef KERAMOS_PERF_CASE

}  // namespace keramos::perf
