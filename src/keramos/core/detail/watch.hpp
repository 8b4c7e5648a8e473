// How groups and local arrays tell the checked build's local_tracker what happens. Otherwise nothing is told,
// and these are empty classes. Internal.
#pragma once

#include <cstddef>

#include <keramos/base/checks.hpp>
#ifdef KERAMOS_CHECKS
#include <keramos/core/detail/local_tracker.hpp>
#endif

namespace keramos::detail {

#ifdef KERAMOS_CHECKS

class watch {
 public:
  static constexpr bool on = true;

  KERAMOS_FORCEINLINE_FUNCTION void begin([[maybe_unused]] const char* label, [[maybe_unused]] index_t group,
                                          [[maybe_unused]] std::byte* local,
                                          [[maybe_unused]] std::size_t bytes) {
    KOKKOS_IF_ON_HOST(
        (tracker_ = &local_tracker::of_next_group(); tracker_->begin(label, group, local, bytes);))
  }
  /// `kernel(group)`, on the host in a function of its own, so that what it keeps on the stack is known.
  template <class F, class Group>
  KERAMOS_FORCEINLINE_FUNCTION void run(const F& kernel, Group& group) const {
    KOKKOS_IF_ON_HOST((tracker_->run([&] { kernel(group); }); tracker_->end();))
    KOKKOS_IF_ON_DEVICE((kernel(group);))
  }
  /// `array` is local<I>().
  template <int I, class Array>
  KERAMOS_FORCEINLINE_FUNCTION void name([[maybe_unused]] const Array& array) const {
    KOKKOS_IF_ON_HOST((tracker_->name(I, array);))
  }
  KERAMOS_FORCEINLINE_FUNCTION void barrier() const {
    outside_phase("calls a barrier");
    KOKKOS_IF_ON_HOST((tracker_->barrier();))
  }
  KERAMOS_FORCEINLINE_FUNCTION void end_item() const { KOKKOS_IF_ON_HOST((tracker_->end_item();)) }
  KERAMOS_FORCEINLINE_FUNCTION void access([[maybe_unused]] const void* p,
                                           [[maybe_unused]] std::size_t size) const {
    KOKKOS_IF_ON_HOST((if (tracker_) tracker_->access(p, size);))
  }
  /// 0 <= index < extent in dimension d of the array at `array`.
  KERAMOS_FORCEINLINE_FUNCTION void check_index([[maybe_unused]] const void* array, index_t index,
                                                index_t extent, int d) const {
    KOKKOS_IF_ON_HOST(
        (if (tracker_ && (index < 0 || index >= extent)) tracker_->fail_index(array, index, extent, d);))
    detail::check_index("local array", index, extent, d);
  }
  /// What phases must not do: `does` says it.
  KERAMOS_FORCEINLINE_FUNCTION void outside_phase([[maybe_unused]] const char* does) const {
    if (!in_phase_) return;
    KOKKOS_IF_ON_HOST((tracker_->fail_in_phase(does);))
    KOKKOS_IF_ON_DEVICE(
        (Kokkos::abort(
             "keramos: a barrier, a phase or a group algorithm inside a phase (rule 5): run on a host "
             "backend for details\n");))
  }
  KERAMOS_FORCEINLINE_FUNCTION void begin_phase() {
    outside_phase("begins a phase");
    in_phase_ = true;
  }
  KERAMOS_FORCEINLINE_FUNCTION void end_phase() { in_phase_ = false; }
  /// `f(phase, i)` for i of 0 ... count - 1 in random order, each as the turn of item i.
  template <class Phase, class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_item([[maybe_unused]] int count,
                                                  [[maybe_unused]] const Phase& phase,
                                                  [[maybe_unused]] const F& f) const {
    KOKKOS_IF_ON_HOST(
        (const auto& watched = *static_cast<const Phase*>(tracker_->watched(&phase, sizeof(Phase)));
         for (const int i
              : tracker_->shuffled(count)) {
           tracker_->begin_item(i);
           f(watched, i);
         } tracker_->end_item();
         tracker_->forget_uniform();))
  }

 private:
  local_tracker* tracker_ = nullptr;
  bool in_phase_ = false;
};

#else

class watch {
 public:
  static constexpr bool on = false;

  KERAMOS_FORCEINLINE_FUNCTION void begin(const char*, index_t, std::byte*, std::size_t) {}
  template <class F, class Group>
  KERAMOS_FORCEINLINE_FUNCTION void run(const F& kernel, Group& group) const {
    kernel(group);
  }
  template <int I, class Array>
  KERAMOS_FORCEINLINE_FUNCTION void name(const Array&) const {}
  KERAMOS_FORCEINLINE_FUNCTION void barrier() const {}
  KERAMOS_FORCEINLINE_FUNCTION void end_item() const {}
  KERAMOS_FORCEINLINE_FUNCTION void access(const void*, std::size_t) const {}
  KERAMOS_FORCEINLINE_FUNCTION void check_index(const void*, index_t, index_t, int) const {}
  KERAMOS_FORCEINLINE_FUNCTION void outside_phase(const char*) const {}
  KERAMOS_FORCEINLINE_FUNCTION void begin_phase() {}
  KERAMOS_FORCEINLINE_FUNCTION void end_phase() {}
  template <class Phase, class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_item(int, const Phase&, const F&) const {}
};

#endif

}  // namespace keramos::detail
