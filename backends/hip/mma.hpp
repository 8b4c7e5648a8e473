// The multiply atom of Kokkos::HIP: FMA units.
#pragma once

#include <keramos/backends/hip/traits.hpp>
#include <keramos/backends/interface.hpp>

namespace keramos::backend {

template <>
struct mma<Kokkos::HIP> : fma_units {
  /// LLVM moves the products of a k-tile behind the barrier that ends it, since nothing before needs them, and all of
  /// the k-tile's fragments wait for them in registers: f32 tiles of 64 x 64 x 16 spilled up to 320 bytes at 128
  /// registers, and take 89 now. The statement is none, but the compiler must believe that it changes the sums; those
  /// of a vector go together, for scalars would not be multiplied in pairs (v_pk_fma_f32).
  template <class T, int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void settle([[maybe_unused]] T (&sums)[Count]) {
#if defined(__HIP_DEVICE_COMPILE__)
    using vector = T __attribute__((ext_vector_type(Count)));
    vector v;
    __builtin_memcpy(&v, sums, sizeof(sums));
    asm volatile("" : "+v"(v));
    __builtin_memcpy(sums, &v, sizeof(sums));
#endif
  }
};

}  // namespace keramos::backend
