// Reductions over a whole range (SYCL 2020, section 4.9.2 "Reduction variables"):
//
//   q.parallel_for("dot", range{n}, reduction(sum, keramos::plus{}),
//                  KERAMOS_LAMBDA(index_t i, double& s) { s += x[i] * y[i]; });
//
// The kernel gets a reducer a reduction, after its index: `reducer<T, Op>&`, with combine(x), or plainly `T&`,
// the item's partial result, which it combines itself. The result is where the reduction says when the event
// is complete, combined with what was there before unless `initialize_to_identity` is passed. Operators are
// associative and commutative; the order depends on Kokkos and the range, not on the run.
#pragma once

#include <concepts>
#include <cstddef>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <keramos/base/error.hpp>
#include <keramos/base/export.hpp>
#include <keramos/base/kokkos.hpp>
#include <keramos/core/detail/instance.hpp>
#include <keramos/core/detail/invoke.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/functional.hpp>
#include <keramos/core/item.hpp>
#include <keramos/core/range.hpp>

namespace keramos {

/// Property of a reduction: what the variable held before does not count.
struct initialize_to_identity_t {};
inline constexpr initialize_to_identity_t initialize_to_identity{};

/// A kernel's access to one reduction: an item's partial result.
template <class T, class Op>
class reducer {
 public:
  using value_type = T;
  KERAMOS_FORCEINLINE_FUNCTION reducer(T& partial, const Op& op) : partial_(partial), op_(op) {}
  reducer(const reducer&) = delete;
  reducer& operator=(const reducer&) = delete;

  KERAMOS_FORCEINLINE_FUNCTION void combine(const T& x) { partial_ = op_(partial_, x); }
  KERAMOS_FORCEINLINE_FUNCTION operator T&() { return partial_; }

  template <std::convertible_to<T> U>
  KERAMOS_FORCEINLINE_FUNCTION reducer& operator+=(const U& x) requires std::is_same_v<Op, plus> {
    combine(static_cast<T>(x));
    return *this;
  }
  template <std::convertible_to<T> U>
  KERAMOS_FORCEINLINE_FUNCTION reducer& operator*=(const U& x) requires std::is_same_v<Op, multiplies> {
    combine(static_cast<T>(x));
    return *this;
  }
  template <std::convertible_to<T> U>
  KERAMOS_FORCEINLINE_FUNCTION reducer& operator&=(const U& x) requires std::is_same_v<Op, bit_and> {
    combine(static_cast<T>(x));
    return *this;
  }
  template <std::convertible_to<T> U>
  KERAMOS_FORCEINLINE_FUNCTION reducer& operator|=(const U& x) requires std::is_same_v<Op, bit_or> {
    combine(static_cast<T>(x));
    return *this;
  }
  template <std::convertible_to<T> U>
  KERAMOS_FORCEINLINE_FUNCTION reducer& operator^=(const U& x) requires std::is_same_v<Op, bit_xor> {
    combine(static_cast<T>(x));
    return *this;
  }

 private:
  T& partial_;
  const Op& op_;
};

namespace detail {

template <class T, class Op>
struct reduction_of {
  static_assert(std::is_trivially_copyable_v<T>, "keramos: reductions take trivially copyable types");
  T* result;  // on the device
  T identity;
  Op op;
  bool keeps_old;
};
template <class R>
inline constexpr bool is_reduction = false;
template <class T, class Op>
inline constexpr bool is_reduction<reduction_of<T, Op>> = true;

/// A tuple for kernels.
template <class... T>
struct chain {};
template <class H, class... T>
struct chain<H, T...> {
  H head;
  chain<T...> rest;
};
KERAMOS_FORCEINLINE_FUNCTION chain<> make_chain() { return {}; }
template <class H, class... T>
auto make_chain(const H& head, const T&... rest) {
  return chain<H, T...>{head, make_chain(rest...)};
}

template <class R>
struct values_of;
template <class... R>
struct values_of<chain<R...>> {
  using type = chain<decltype(R::identity)...>;
};

/// The operations on all partial results together.
KERAMOS_FORCEINLINE_FUNCTION void initialise(const chain<>&, chain<>&) {}
template <class R, class... Rest, class V, class... Values>
KERAMOS_FORCEINLINE_FUNCTION void initialise(const chain<R, Rest...>& r, chain<V, Values...>& v) {
  v.head = r.head.identity;
  initialise(r.rest, v.rest);
}
KERAMOS_FORCEINLINE_FUNCTION void join(const chain<>&, chain<>&, const chain<>&) {}
template <class R, class... Rest, class V, class... Values>
KERAMOS_FORCEINLINE_FUNCTION void join(const chain<R, Rest...>& r, chain<V, Values...>& v,
                                       const chain<V, Values...>& other) {
  v.head = r.head.op(v.head, other.head);
  join(r.rest, v.rest, other.rest);
}
KERAMOS_FORCEINLINE_FUNCTION void deliver(const chain<>&, const chain<>&) {}
template <class R, class... Rest, class V, class... Values>
KERAMOS_FORCEINLINE_FUNCTION void deliver(const chain<R, Rest...>& r, const chain<V, Values...>& v) {
  *r.head.result = r.head.keeps_old ? r.head.op(*r.head.result, v.head) : v.head;
  deliver(r.rest, v.rest);
}
template <class F, class Item, class... Reducer>
KERAMOS_FORCEINLINE_FUNCTION void call_with(const F& f, const Item& item, const chain<>&, chain<>&,
                                            Reducer&... reducers) {
  if constexpr (is_id<Item>)
    call_at(f, item, reducers...);
  else
    f(item, reducers...);
}
template <class F, class Item, class T, class Op, class... Rest, class... Values, class... Reducer>
KERAMOS_FORCEINLINE_FUNCTION void call_with(const F& f, const Item& item,
                                            const chain<reduction_of<T, Op>, Rest...>& r,
                                            chain<T, Values...>& v, Reducer&... reducers) {
  reducer<T, Op> mine(v.head, r.head.op);
  call_with(f, item, r.rest, v.rest, reducers..., mine);
}

/// Kokkos' reducer concept over a chain of partial results.
template <class Chain, class Space>
struct chain_reducer {
  using reducer = chain_reducer;
  using value_type = typename values_of<Chain>::type;
  using result_view_type = Kokkos::View<value_type, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Chain reductions;
  result_view_type result;

  KERAMOS_FORCEINLINE_FUNCTION void join(value_type& to, const value_type& from) const {
    detail::join(reductions, to, from);
  }
  KERAMOS_FORCEINLINE_FUNCTION void join(volatile value_type& to, const volatile value_type& from) const
      requires(kokkos_before_4) {
    detail::join(reductions, const_cast<value_type&>(to), const_cast<const value_type&>(from));
  }
  KERAMOS_FORCEINLINE_FUNCTION void init(value_type& v) const { initialise(reductions, v); }
  KERAMOS_FORCEINLINE_FUNCTION value_type& reference() const { return *result.data(); }
  KERAMOS_FORCEINLINE_FUNCTION result_view_type view() const { return result; }
  KERAMOS_FORCEINLINE_FUNCTION bool references_scalar() const {
    return std::is_same_v<Space, Kokkos::HostSpace>;
  }
};

template <int Rank>
struct plain_index {
  KERAMOS_FORCEINLINE_FUNCTION id<Rank> operator()(id<Rank> i) const { return i; }
};
template <int Rank>
struct nd_index {
  range<Rank> local;
  KERAMOS_FORCEINLINE_FUNCTION nd_item<Rank> operator()(id<Rank> i) const { return make_nd_item(i, local); }
};

template <class F, class Index, class Chain>
struct reduction_kernel {
  F f;
  Index index;
  Chain reductions;
  using value_type = typename values_of<Chain>::type;

  KERAMOS_FORCEINLINE_FUNCTION void operator()(index_t i, value_type& v) const {
    call_with(f, index(id<1>(i)), reductions, v);
  }
  KERAMOS_FORCEINLINE_FUNCTION void operator()(index_t i, index_t j, value_type& v) const {
    call_with(f, index(id<2>(i, j)), reductions, v);
  }
  KERAMOS_FORCEINLINE_FUNCTION void operator()(index_t i, index_t j, index_t k, value_type& v) const {
    call_with(f, index(id<3>(i, j, k)), reductions, v);
  }
};
template <class Chain>
struct delivery_kernel {
  Chain reductions;
  const typename values_of<Chain>::type* values;
  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<1>) const { deliver(reductions, *values); }
};

/// What there is where nothing is reduced.
template <class Chain>
struct identity_kernel {
  Chain reductions;
  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<1>) const {
    typename values_of<Chain>::type values;
    initialise(reductions, values);
    deliver(reductions, values);
  }
};

/// One host thread at a time launches a reduction on a device: Kokkos keeps scratch for them with each instance, which
/// several queues may share, and frees it to get a larger one.
KERAMOS_EXPORT inline std::mutex& device_reductions() {
  static std::mutex mutex;
  return mutex;
}

/// Points of two or three dimensions: Kokkos counts tiles of 16 or more.
inline constexpr index_t most_reduced = index_t(1) << 35;

/// Reduces over `r` and delivers the results. On a device partial results wait in `scratch`.
template <class Exec, int Rank, class F, class Index, class Chain, class Scratch>
void reduce_for(const std::string& label, const Exec& exec, const range<Rank>& r, const F& f,
                const Index& index, const Chain& reductions, const Scratch& scratch) {
  using kernel = reduction_kernel<F, Index, Chain>;
  using value_type = typename kernel::value_type;
  const auto reduce = [&](auto reducer) {
    Kokkos::parallel_reduce(label, range_policy(exec, r), kernel{f, index, reductions}, reducer);
  };
  if constexpr (backend::traits<Exec>::is_host) {
    using reducer = chain_reducer<Chain, Kokkos::HostSpace>;
    value_type values;
    initialise(reductions, values);
    if (backend::traits<Exec>::runs_in_caller(exec)) {
      const kernel k{f, index, reductions};
      for_each_point(r, [&](auto... i) { k(i..., values); });
    } else if (r.size() > 0) {
      const launch_lock<Exec> lock;
      reduce(reducer{reductions, typename reducer::result_view_type(&values)});
    }
    deliver(reductions, values);
  } else {
    if constexpr (Rank > 1) {  // which Kokkos reduces in tiles, and counts by an int
      if (r.size() == 0) return range_for(label, exec, range<1>(1), identity_kernel<Chain>{reductions});
      if (r.size() >= most_reduced)
        throw launch_error("keramos::parallel_for: " + label + ": a reduction over " +
                           std::to_string(r.size()) + " points in " + std::to_string(Rank) +
                           " dimensions has 2^35 or more; reduce over a range of one dimension");
    }
    value_type* values = scratch.template operator()<value_type>();
    using reducer = chain_reducer<Chain, typename Exec::memory_space>;
    {
      const std::lock_guard lock(device_reductions());
      reduce(reducer{reductions, typename reducer::result_view_type(values)});
    }
    range_for(label, exec, range<1>(1), delivery_kernel<Chain>{reductions, values});
  }
}

template <class R>
using reducer_of = reducer<decltype(R::identity), decltype(R::op)>;

/// Whether a kernel takes an item (an id or its indices, or an nd_item) and `Value...` behind it.
template <class F, class Item, class... Value>
constexpr bool may_take_item() {
  if constexpr (is_id<Item>)
    return may_take_point<F, Item::rank, Value...>();
  else
    return may_take<F, Item, Value...>();
}
/// Whether it takes a copy of reduction number Copy; of a template that cannot be asked.
template <std::size_t Copy, class F, class Item, class... R, std::size_t... I>
constexpr bool takes_copy(const std::tuple<R...>*, std::index_sequence<I...>) {
  if constexpr (is_device_lambda<F>() || !requires { &F::operator(); })
    return false;
  else
    return may_take_item<F, Item,
                         std::conditional_t<I == Copy, const decltype(R::identity)&, reducer_of<R>&>...>();
}

/// Whether these are reductions and then a kernel that takes them; see invoke.hpp.
template <class Exec, class Item, class... Args, std::size_t... I>
constexpr bool fits_reductions(std::index_sequence<I...> each) {
  using all = std::tuple<Args...>;
  using kernel = std::tuple_element_t<sizeof...(I), all>;
  if constexpr (!runs_there<Exec, kernel>()) return false;
  constexpr bool ordered = (is_reduction<std::tuple_element_t<I, all>> && ...);
  static_assert(ordered, "keramos: parallel_for: between a range and the kernel stand only reductions");
  if constexpr (ordered) {
    using reductions = std::tuple<std::tuple_element_t<I, all>...>;
    constexpr bool fits = may_take_item<kernel, Item, reducer_of<std::tuple_element_t<I, all>>&...>();
    static_assert(
        fits,
        "keramos: a kernel with reductions takes its index and, for each, T& or reducer<T, Op>&; it is not "
        "mutable");
    constexpr bool copies =
        (takes_copy<I, kernel, Item>(static_cast<const reductions*>(nullptr), decltype(each)()) || ...);
    static_assert(!copies,
                  "keramos: a kernel takes a reduction's value by reference, T&: what it added to a copy "
                  "would be lost");
    return fits && !copies;
  }
  return false;
}

/// `(reduction..., kernel)` as a chain of the reductions, and the kernel.
template <class... Args, std::size_t... I>
auto reductions_among(const std::tuple<const Args&...>& args, std::index_sequence<I...>) {
  return make_chain(std::get<I>(args)...);
}

}  // namespace detail

namespace detail {
template <class T, class Op>
reduction_of<T, Op> checked_reduction(T* result, const T& identity, const Op& op, bool keeps_old) {
  if (!result)
    throw invalid_argument(
        "keramos::reduction: the result's address is null; pass a View that is allocated, or a pointer to "
        "where "
        "kernels may write");
  return {result, identity, op, keeps_old};
}
}  // namespace detail

/// Reduces into `*result`, which kernels of the queue can reach, by `op`; op tells its identity.
/// @throws invalid_argument if result is null.
template <class T, class Op>
requires has_known_identity<Op, T>
auto reduction(T* result, const Op& op) {
  return detail::checked_reduction<T>(result, Op::template identity<T>(), op, true);
}
template <class T, class Op>
requires has_known_identity<Op, T>
auto reduction(T* result, const Op& op, initialize_to_identity_t) {
  return detail::checked_reduction<T>(result, Op::template identity<T>(), op, false);
}
/// The same with an identity of yours: op(identity, x) == x.
template <class T, class Op>
auto reduction(T* result, const std::type_identity_t<T>& identity, const Op& op) {
  return detail::checked_reduction<T>(result, identity, op, true);
}
template <class T, class Op>
auto reduction(T* result, const std::type_identity_t<T>& identity, const Op& op, initialize_to_identity_t) {
  return detail::checked_reduction<T>(result, identity, op, false);
}
/// Other results and operators.
template <class T, class Op>
requires(!has_known_identity<Op, T>) auto reduction(T* result, const Op& op) {
  static_assert(detail::never<Op>,
                "keramos: reduction: the operator does not tell its identity; pass one: "
                "reduction(result, identity, op), where op(identity, x) == x");
  return detail::reduction_of<T, Op>{result, T(), op, true};
}
template <class T, class... Args>
requires(std::is_arithmetic_v<T>) auto reduction(const T&, const Args&...) {
  static_assert(detail::never<T>,
                "keramos: reduction: a reduction's result is where kernels can write it: pass a View of "
                "rank 0 or a pointer to memory of the device, not a variable of the host");
  return detail::reduction_of<T, plus>{nullptr, T(), plus(), true};
}
/// Into a View of rank 0, or an accessor's first element.
template <class V, class... Args>
requires requires(const V& v) { v.data(); }
auto reduction(const V& result, const Args&... args) { return reduction(result.data(), args...); }

}  // namespace keramos
