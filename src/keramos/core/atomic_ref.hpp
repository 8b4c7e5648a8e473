// atomic_ref (SYCL 2020, section 4.15.3): atomic access from kernels to an element of global or local memory.
//
//   keramos::atomic_ref<int>(count(bin)).fetch_add(1);
//
// Orders: on hosts those of C++'s std::atomic_ref. On devices Kokkos' atomics are relaxed; stronger orders add
// its memory fence before the operation (release), after it (acquire) or on both sides (acq_rel, seq_cst),
// which is at least as strong. A device's loads and stores are volatile accesses, which GPUs do as relaxed
// atomics (PTX ISA, "ld.volatile"; LLVM's AMDGPU memory model): Kokkos' are loops of compare and exchange.
// So are its 64-bit operations on `long long`, which many threads turn into a queue; they run as those on
// std::int64_t and std::uint64_t, for which Kokkos has the machine's instructions.
// Scopes: up to `device` all are honoured, as device scope where the backend knows nothing narrower. `system`
// (other devices, and the host while a kernel runs) is honoured by hosts alone and refused when compiling for
// a device, for Kokkos' fences end at the device.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <keramos/base/checks.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/config.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos {

enum class memory_order { relaxed, acquire, release, acq_rel, seq_cst };
enum class memory_scope { work_item, sub_group, work_group, device, system };

namespace detail {

constexpr std::memory_order std_order(memory_order order) {
  switch (order) {
    case memory_order::relaxed:
      return std::memory_order_relaxed;
    case memory_order::acquire:
      return std::memory_order_acquire;
    case memory_order::release:
      return std::memory_order_release;
    case memory_order::acq_rel:
      return std::memory_order_acq_rel;
    default:
      return std::memory_order_seq_cst;
  }
}

/// The type by which Kokkos' device atomics know a T: of 8-byte integers the one of <cstdint>.
template <class T>
struct device_atomic {
  using type = T;
};
template <std::integral T>
requires(sizeof(T) == 8) struct device_atomic<T> {
  using type = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
};

/// Whether a compare and exchange found them alike, which compares bits.
template <class T>
KERAMOS_FORCEINLINE_FUNCTION bool same_bits(const T& x, const T& y) {
  if constexpr (std::is_floating_point_v<T>) {
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> of_x, of_y;
    static_assert(sizeof(T) == sizeof(of_x));
    ::memcpy(&of_x, &x, sizeof(T));  // HIP's may not be in std (gemm/collective/run.hpp)
    ::memcpy(&of_y, &y, sizeof(T));
    return of_x == of_y;
  } else {
    return x == y;
  }
}

/// Replaces the value by `f(value)`; what std::atomic_ref has no function for.
template <class T, class F>
T host_update(T& value, memory_order order, const F& f) {
  const std::atomic_ref<T> at(value);
  T old = at.load(std::memory_order_relaxed);
  while (!at.compare_exchange_weak(old, f(old), std_order(order))) {
  }
  return old;
}

}  // namespace detail

/// Atomic operations on `value`, which must live as long and be accessed by atomic_refs alone meanwhile.
/// T is an integer, floating-point or pointer type of 4 or 8 bytes.
template <class T, memory_order DefaultOrder = memory_order::relaxed,
          memory_scope DefaultScope = memory_scope::device>
class atomic_ref {
  static_assert((std::is_arithmetic_v<T> || std::is_pointer_v<T>)&&(sizeof(T) == 4 || sizeof(T) == 8),
                "keramos: atomic_ref takes integers, floating-point numbers and pointers of 4 or 8 bytes");
  static_assert(DefaultScope != memory_scope::system || backend::traits<default_execution_space>::is_host,
                "keramos: no device backend honours memory_scope::system; use device, and let the host wait "
                "for the kernel");

 public:
  using value_type = T;
  static constexpr memory_order default_read_order =
      DefaultOrder == memory_order::acq_rel || DefaultOrder == memory_order::release ? memory_order::acquire
                                                                                     : DefaultOrder;
  static constexpr memory_order default_write_order =
      DefaultOrder == memory_order::acq_rel || DefaultOrder == memory_order::acquire ? memory_order::release
                                                                                     : DefaultOrder;
  static constexpr memory_order default_read_modify_write_order = DefaultOrder;
  static constexpr memory_scope default_scope = DefaultScope;

  KERAMOS_FORCEINLINE_FUNCTION explicit atomic_ref(T& value) : at_(&value) {}

  KERAMOS_FORCEINLINE_FUNCTION T load(memory_order order = default_read_order) const {
    KOKKOS_IF_ON_HOST((return on_host().load(detail::std_order(order));))
    KOKKOS_IF_ON_DEVICE((before(order == memory_order::seq_cst ? order : memory_order::relaxed);
                         const T x = *static_cast<const volatile device_type*>(on_device()); after(order);
                         return x;))
  }
  KERAMOS_FORCEINLINE_FUNCTION void store(T x, memory_order order = default_write_order) const {
    KOKKOS_IF_ON_HOST((on_host().store(x, detail::std_order(order));))
    KOKKOS_IF_ON_DEVICE((before(order); *static_cast<volatile device_type*>(on_device()) = x;
                         after(order == memory_order::seq_cst ? order : memory_order::relaxed);))
  }
  KERAMOS_FORCEINLINE_FUNCTION operator T() const { return load(); }
  KERAMOS_FORCEINLINE_FUNCTION T operator=(T x) const {
    store(x);
    return x;
  }

  KERAMOS_FORCEINLINE_FUNCTION T exchange(T x, memory_order order = DefaultOrder) const {
    KOKKOS_IF_ON_HOST((return on_host().exchange(x, detail::std_order(order));))
    KOKKOS_IF_ON_DEVICE(
        (return ordered(order, [&] { return Kokkos::atomic_exchange(on_device(), device_type(x)); });))
  }
  /// Sets the value to `desired` if it is `expected`, and else `expected` to the value.
  KERAMOS_FORCEINLINE_FUNCTION bool compare_exchange_strong(T& expected, T desired,
                                                            memory_order order = DefaultOrder) const {
    KOKKOS_IF_ON_HOST(
        (return on_host().compare_exchange_strong(expected, desired, detail::std_order(order));))
    KOKKOS_IF_ON_DEVICE((const T old = ordered(order,
                                               [&] {
                                                 return Kokkos::atomic_compare_exchange(on_device(),
                                                                                        device_type(expected),
                                                                                        device_type(desired));
                                               });
                         const bool done = detail::same_bits(old, expected); expected = old; return done;))
  }
  /// With an order for each outcome; the stronger covers both.
  KERAMOS_FORCEINLINE_FUNCTION bool compare_exchange_strong(T& expected, T desired, memory_order success,
                                                            memory_order failure) const {
    return compare_exchange_strong(expected, desired, stronger(success, failure));
  }
  /// The same; on devices it never fails without cause.
  KERAMOS_FORCEINLINE_FUNCTION bool compare_exchange_weak(T& expected, T desired,
                                                          memory_order order = DefaultOrder) const {
    KOKKOS_IF_ON_HOST((return on_host().compare_exchange_weak(expected, desired, detail::std_order(order));))
    KOKKOS_IF_ON_DEVICE((return compare_exchange_strong(expected, desired, order);))
  }
  KERAMOS_FORCEINLINE_FUNCTION bool compare_exchange_weak(T& expected, T desired, memory_order success,
                                                          memory_order failure) const {
    return compare_exchange_weak(expected, desired, stronger(success, failure));
  }

  // Each returns the value before it.
  KERAMOS_FORCEINLINE_FUNCTION T
  fetch_add(T x, memory_order order = DefaultOrder) const requires std::is_arithmetic_v<T> {
    KOKKOS_IF_ON_HOST((return on_host().fetch_add(x, detail::std_order(order));))
    KOKKOS_IF_ON_DEVICE(
        (return ordered(order, [&] { return Kokkos::atomic_fetch_add(on_device(), device_type(x)); });))
  }
  KERAMOS_FORCEINLINE_FUNCTION T
  fetch_sub(T x, memory_order order = DefaultOrder) const requires std::is_arithmetic_v<T> {
    KOKKOS_IF_ON_HOST((return on_host().fetch_sub(x, detail::std_order(order));))
    KOKKOS_IF_ON_DEVICE(
        (return ordered(order, [&] { return Kokkos::atomic_fetch_sub(on_device(), device_type(x)); });))
  }
  KERAMOS_FORCEINLINE_FUNCTION T
  fetch_min(T x, memory_order order = DefaultOrder) const requires std::is_arithmetic_v<T> {
    KOKKOS_IF_ON_HOST((return detail::host_update(*at_, order, [=](T v) { return x < v ? x : v; });))
    KOKKOS_IF_ON_DEVICE(
        (return ordered(order, [&] { return Kokkos::atomic_fetch_min(on_device(), device_type(x)); });))
  }
  KERAMOS_FORCEINLINE_FUNCTION T
  fetch_max(T x, memory_order order = DefaultOrder) const requires std::is_arithmetic_v<T> {
    KOKKOS_IF_ON_HOST((return detail::host_update(*at_, order, [=](T v) { return v < x ? x : v; });))
    KOKKOS_IF_ON_DEVICE(
        (return ordered(order, [&] { return Kokkos::atomic_fetch_max(on_device(), device_type(x)); });))
  }
  KERAMOS_FORCEINLINE_FUNCTION T
  fetch_and(T x, memory_order order = DefaultOrder) const requires std::integral<T> {
    KOKKOS_IF_ON_HOST((return on_host().fetch_and(x, detail::std_order(order));))
    KOKKOS_IF_ON_DEVICE(
        (return ordered(order, [&] { return Kokkos::atomic_fetch_and(on_device(), device_type(x)); });))
  }
  KERAMOS_FORCEINLINE_FUNCTION T fetch_or(T x,
                                          memory_order order = DefaultOrder) const requires std::integral<T> {
    KOKKOS_IF_ON_HOST((return on_host().fetch_or(x, detail::std_order(order));))
    KOKKOS_IF_ON_DEVICE(
        (return ordered(order, [&] { return Kokkos::atomic_fetch_or(on_device(), device_type(x)); });))
  }
  KERAMOS_FORCEINLINE_FUNCTION T
  fetch_xor(T x, memory_order order = DefaultOrder) const requires std::integral<T> {
    KOKKOS_IF_ON_HOST((return on_host().fetch_xor(x, detail::std_order(order));))
    KOKKOS_IF_ON_DEVICE(
        (return ordered(order, [&] { return Kokkos::atomic_fetch_xor(on_device(), device_type(x)); });))
  }

  // Each returns the value after it.
  KERAMOS_FORCEINLINE_FUNCTION T operator+=(T x) const requires std::is_arithmetic_v<T> {
    return static_cast<T>(fetch_add(x) + x);
  }
  KERAMOS_FORCEINLINE_FUNCTION T operator-=(T x) const requires std::is_arithmetic_v<T> {
    return static_cast<T>(fetch_sub(x) - x);
  }
  KERAMOS_FORCEINLINE_FUNCTION T operator&=(T x) const requires std::integral<T> {
    return static_cast<T>(fetch_and(x) & x);
  }
  KERAMOS_FORCEINLINE_FUNCTION T operator|=(T x) const requires std::integral<T> {
    return static_cast<T>(fetch_or(x) | x);
  }
  KERAMOS_FORCEINLINE_FUNCTION T operator^=(T x) const requires std::integral<T> {
    return static_cast<T>(fetch_xor(x) ^ x);
  }
  KERAMOS_FORCEINLINE_FUNCTION T operator++() const requires std::integral<T> { return *this += T(1); }
  KERAMOS_FORCEINLINE_FUNCTION T operator--() const requires std::integral<T> { return *this -= T(1); }
  KERAMOS_FORCEINLINE_FUNCTION T operator++(int) const requires std::integral<T> { return fetch_add(T(1)); }
  KERAMOS_FORCEINLINE_FUNCTION T operator--(int) const requires std::integral<T> { return fetch_sub(T(1)); }

 private:
  using device_type = typename detail::device_atomic<T>::type;

  std::atomic_ref<T> on_host() const { return std::atomic_ref<T>(*at_); }
  KERAMOS_FORCEINLINE_FUNCTION device_type* on_device() const { return reinterpret_cast<device_type*>(at_); }

  /// Of two orders; acquire and release together are acq_rel.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr memory_order stronger(memory_order a, memory_order b) {
    const bool both = (a == memory_order::acquire && b == memory_order::release) ||
                      (a == memory_order::release && b == memory_order::acquire);
    return both ? memory_order::acq_rel : a < b ? b : a;
  }
  KERAMOS_FORCEINLINE_FUNCTION static void before(memory_order order) {
    if (order != memory_order::relaxed && order != memory_order::acquire) Kokkos::memory_fence();
  }
  KERAMOS_FORCEINLINE_FUNCTION static void after(memory_order order) {
    if (order != memory_order::relaxed && order != memory_order::release) Kokkos::memory_fence();
  }
  template <class Operation>
  KERAMOS_FORCEINLINE_FUNCTION static T ordered(memory_order order, const Operation& operation) {
    before(order);
    const T old = operation();
    after(order);
    return old;
  }

  T* at_;
};

/// The fence of SYCL 2020, section 4.15.1, at device scope.
KERAMOS_FORCEINLINE_FUNCTION void atomic_fence([[maybe_unused]] memory_order order,
                                               memory_scope = memory_scope::device) {
  KOKKOS_IF_ON_HOST((std::atomic_thread_fence(detail::std_order(order));))
  KOKKOS_IF_ON_DEVICE((if (order != memory_order::relaxed) Kokkos::memory_fence();))
}

}  // namespace keramos
