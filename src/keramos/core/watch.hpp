// How groups and local arrays tell the checked build's local_tracker what happens. Otherwise nothing is told,
// and these are empty classes. Internal.
#pragma once

#include <cstddef>

#include <keramos/core/checks.hpp>
#ifdef KERAMOS_CHECKS
#include <keramos/core/local_tracker.hpp>
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
        (tracker_ = &local_tracker::of_this_thread(); tracker_->begin(label, group, local, bytes);))
  }
  KERAMOS_FORCEINLINE_FUNCTION void barrier() const { KOKKOS_IF_ON_HOST((tracker_->barrier();)) }
  KERAMOS_FORCEINLINE_FUNCTION void end_item() const { KOKKOS_IF_ON_HOST((tracker_->end_item();)) }
  KERAMOS_FORCEINLINE_FUNCTION void access([[maybe_unused]] const void* p,
                                           [[maybe_unused]] std::size_t size) const {
    KOKKOS_IF_ON_HOST((if (tracker_) tracker_->access(p, size);))
  }
  /// `f(i)` for i of 0 ... count - 1 in random order, each as the turn of item i.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_item([[maybe_unused]] int count,
                                                  [[maybe_unused]] const F& f) const {
    KOKKOS_IF_ON_HOST((for (const int i
                            : tracker_->shuffled(count)) {
      tracker_->begin_item(i);
      f(i);
    } tracker_->end_item();))
  }

 private:
  local_tracker* tracker_ = nullptr;
};

#else

class watch {
 public:
  static constexpr bool on = false;

  KERAMOS_FORCEINLINE_FUNCTION void begin(const char*, index_t, std::byte*, std::size_t) {}
  KERAMOS_FORCEINLINE_FUNCTION void barrier() const {}
  KERAMOS_FORCEINLINE_FUNCTION void end_item() const {}
  KERAMOS_FORCEINLINE_FUNCTION void access(const void*, std::size_t) const {}
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_item(int, const F&) const {}
};

#endif

}  // namespace keramos::detail
