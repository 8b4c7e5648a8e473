// Copies to local memory on a host: that is cache, and they are done when they return.
#pragma once

#include <keramos/base/macros.hpp>

namespace keramos::backend::host {

struct plain_copier {
  /// Copies `valid` of `Count` elements and fills the rest with zeros.
  template <int Count, class T>
  KERAMOS_FORCEINLINE_FUNCTION static void copy(T* local, const T* global, int valid) {
    for (int i = 0; i < Count; ++i) local[i] = i < valid ? global[i] : T(0);
  }
  KERAMOS_FORCEINLINE_FUNCTION static void commit() {}
  template <int Pending>
  KERAMOS_FORCEINLINE_FUNCTION static void wait() {}
};

}  // namespace keramos::backend::host
