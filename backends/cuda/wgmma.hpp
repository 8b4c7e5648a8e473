// The instructions by which a warpgroup multiplies: one statement each, which lists all registers of its sums (PTX ISA,
// "wgmma.mma_async"). Elsewhere than on the one architecture that has them these functions do nothing.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/base/float16.hpp>
#include <keramos/base/macros.hpp>

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define KERAMOS_HAS_WARPGROUPS
#elif defined(KERAMOS_FUSES_ON_WARPGROUPS) && defined(__CUDA_ARCH__)
#error "keramos: KERAMOS_FUSES_ON_WARPGROUPS is for sm_90a; keramos_add_fused_sources sets both"
#endif

namespace keramos::backend::cuda {

#if defined(KERAMOS_HAS_WARPGROUPS)
// One statement lists all registers of an accumulator: their places in it, and the variables.
#define KERAMOS_TEN(t) \
  "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define KERAMOS_30 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9," KERAMOS_TEN(1) KERAMOS_TEN(2)
#define KERAMOS_60 KERAMOS_30 KERAMOS_TEN(3) KERAMOS_TEN(4) KERAMOS_TEN(5)
#define KERAMOS_120 \
  KERAMOS_60 KERAMOS_TEN(6) KERAMOS_TEN(7) KERAMOS_TEN(8) KERAMOS_TEN(9) KERAMOS_TEN(10) KERAMOS_TEN(11)
#define KERAMOS_OF_64 KERAMOS_30 "%30,%31"
#define KERAMOS_OF_128 KERAMOS_60 "%60,%61,%62,%63"
#define KERAMOS_OF_192 KERAMOS_60 KERAMOS_TEN(6) KERAMOS_TEN(7) KERAMOS_TEN(8) "%90,%91,%92,%93,%94,%95"
#define KERAMOS_OF_256 KERAMOS_120 "%120,%121,%122,%123,%124,%125,%126,%127"
#define KERAMOS_D4(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define KERAMOS_D16(c, i) KERAMOS_D4(c, i), KERAMOS_D4(c, i + 4), KERAMOS_D4(c, i + 8), KERAMOS_D4(c, i + 12)
#define KERAMOS_D64(c) KERAMOS_D16(c, 0), KERAMOS_D16(c, 16)
#define KERAMOS_D128(c) KERAMOS_D64(c), KERAMOS_D16(c, 32), KERAMOS_D16(c, 48)
#define KERAMOS_D192(c) KERAMOS_D128(c), KERAMOS_D16(c, 64), KERAMOS_D16(c, 80)
#define KERAMOS_D256(c) KERAMOS_D192(c), KERAMOS_D16(c, 96), KERAMOS_D16(c, 112)

// `A`, `B`, `Add` and `How` are the places of what follows the accumulators.
#define KERAMOS_WGMMA(N, Shape, c, A, B, Add, How, ...)                                                     \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " Add                                                \
               ", 0;\n"                                                                                     \
               "wgmma.mma_async.sync.aligned.m64n" #N Shape " {" KERAMOS_OF_##N "}, " A ", " B ", adds" How \
                                                                                ";\n}\n"                    \
               : KERAMOS_D##N(c)                                                                            \
               : "l"(a), "l"(b), "r"(int(add))__VA_ARGS__)
#define KERAMOS_COMMA ,
#define KERAMOS_HALVES(N, Type, A, B, Add, TransposedA, TransposedB)                                   \
  KERAMOS_WGMMA(N, "k16.f32." Type "." Type, "+f", A, B, Add, ", 1, 1, " TransposedA ", " TransposedB, \
                KERAMOS_COMMA "n"(int(AlongM)), "n"(int(AlongN)))
#define KERAMOS_TF32(N, A, B, Add) KERAMOS_WGMMA(N, "k8.f32.tf32.tf32", "+f", A, B, Add, ", 1, 1", )
#define KERAMOS_TF32_LOADED(N, A, B, Add)                                                 \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " Add                              \
               ", 0;\n"                                                                   \
               "wgmma.mma_async.sync.aligned.m64n" #N "k8.f32.tf32.tf32 {" KERAMOS_OF_##N \
               "}, {" A "}, " B ", adds, 1, 1;\n}\n"                                      \
               : KERAMOS_D##N("+f")                                                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(add)))
#define KERAMOS_BYTES(N, Signs, A, B, Add) KERAMOS_WGMMA(N, "k32.s32." Signs, "+r", A, B, Add, "")
#define KERAMOS_EIGHTS(N, Kinds, A, B, Add) KERAMOS_WGMMA(N, "k32.f32." Kinds, "+f", A, B, Add, ", 1, 1")
// The instruction for the kinds that elements of A and B have, `Yes` where KindA and KindB say so.
#define KERAMOS_KINDS_OF(Multiply, KindA, KindB, Yes, No, N, A, B, Add) \
  do {                                                                  \
    if constexpr (KindA && KindB)                                       \
      Multiply(N, Yes "." Yes, A, B, Add);                              \
    else if constexpr (KindA)                                           \
      Multiply(N, Yes "." No, A, B, Add);                               \
    else if constexpr (KindB)                                           \
      Multiply(N, No "." Yes, A, B, Add);                               \
    else                                                                \
      Multiply(N, No "." No, A, B, Add);                                \
  } while (false)
#endif

/// The products of warpgroups<Kokkos::Cuda>.
struct wgmma {
  /// Begins d += a·b, or d = a·b, on 64 x N x 32 bytes along k of a warpgroup; N is twice the length of d. With
  /// g = lane / 4 and t = lane % 4, d[4j + 2h + e] = D(16 warp + g + 8h, 8j + 2t + e). Of floats, which must lie along k, the
  /// last thirteen bits are ignored.
  template <class E, bool AlongM, bool AlongN, int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void multiply([[maybe_unused]] float (&d)[Count],
                                                    [[maybe_unused]] std::uint64_t a,
                                                    [[maybe_unused]] std::uint64_t b,
                                                    [[maybe_unused]] bool add) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    constexpr bool tf32 = std::is_same_v<E, float>, f16 = std::is_same_v<E, float16>;
    static_assert((Count == 32 && !tf32) || Count == 64 || Count == 96 || Count == 128);
    if constexpr (Count == 128 && tf32)
      KERAMOS_TF32(256, "%128", "%129", "%130");
    else if constexpr (Count == 128 && f16)
      KERAMOS_HALVES(256, "f16", "%128", "%129", "%130", "%131", "%132");
    else if constexpr (Count == 128)
      KERAMOS_HALVES(256, "bf16", "%128", "%129", "%130", "%131", "%132");
    else if constexpr (Count == 96 && tf32)
      KERAMOS_TF32(192, "%96", "%97", "%98");
    else if constexpr (Count == 96 && f16)
      KERAMOS_HALVES(192, "f16", "%96", "%97", "%98", "%99", "%100");
    else if constexpr (Count == 96)
      KERAMOS_HALVES(192, "bf16", "%96", "%97", "%98", "%99", "%100");
    else if constexpr (Count == 64 && tf32)
      KERAMOS_TF32(128, "%64", "%65", "%66");
    else if constexpr (Count == 64 && f16)
      KERAMOS_HALVES(128, "f16", "%64", "%65", "%66", "%67", "%68");
    else if constexpr (Count == 64)
      KERAMOS_HALVES(128, "bf16", "%64", "%65", "%66", "%67", "%68");
    else if constexpr (f16)
      KERAMOS_HALVES(64, "f16", "%32", "%33", "%34", "%35", "%36");
    else
      KERAMOS_HALVES(64, "bf16", "%32", "%33", "%34", "%35", "%36");
#endif
  }

  /// The same on 64 x N x 8 floats, of which the thread has loaded a[h + 2u] = A(16 warp + g + 8h, t + 4u). It must keep them
  /// until the group is finished (settle).
  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void multiply([[maybe_unused]] float (&d)[Count],
                                                    [[maybe_unused]] const unsigned (&a)[4],
                                                    [[maybe_unused]] std::uint64_t b,
                                                    [[maybe_unused]] bool add) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    static_assert(Count == 64 || Count == 96 || Count == 128);
    if constexpr (Count == 128)
      KERAMOS_TF32_LOADED(256, "%128,%129,%130,%131", "%132", "%133");
    else if constexpr (Count == 96)
      KERAMOS_TF32_LOADED(192, "%96,%97,%98,%99", "%100", "%101");
    else
      KERAMOS_TF32_LOADED(128, "%64,%65,%66,%67", "%68", "%69");
#endif
  }

  /// As the first, of integers of one byte, which must lie along k. Whether they have signs is part of the instruction.
  template <bool SignedA, bool SignedB, int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void multiply_bytes([[maybe_unused]] unsigned (&d)[Count],
                                                          [[maybe_unused]] std::uint64_t a,
                                                          [[maybe_unused]] std::uint64_t b,
                                                          [[maybe_unused]] bool add) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    static_assert(Count == 32 || Count == 64 || Count == 96 || Count == 128);
    if constexpr (Count == 128)
      KERAMOS_KINDS_OF(KERAMOS_BYTES, SignedA, SignedB, "s8", "u8", 256, "%128", "%129", "%130");
    else if constexpr (Count == 96)
      KERAMOS_KINDS_OF(KERAMOS_BYTES, SignedA, SignedB, "s8", "u8", 192, "%96", "%97", "%98");
    else if constexpr (Count == 64)
      KERAMOS_KINDS_OF(KERAMOS_BYTES, SignedA, SignedB, "s8", "u8", 128, "%64", "%65", "%66");
    else
      KERAMOS_KINDS_OF(KERAMOS_BYTES, SignedA, SignedB, "s8", "u8", 64, "%32", "%33", "%34");
#endif
  }

  /// The same of floats of eight bits; whether they are e5m2 is part of the instruction. Their sums have fourteen bits or fewer:
  /// they are to be added elsewhere soon.
  template <bool KindA, bool KindB, int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void multiply_bytes([[maybe_unused]] float (&d)[Count],
                                                          [[maybe_unused]] std::uint64_t a,
                                                          [[maybe_unused]] std::uint64_t b,
                                                          [[maybe_unused]] bool add) {
#if defined(KERAMOS_HAS_WARPGROUPS)
    static_assert(Count == 32 || Count == 64);
    if constexpr (Count == 64)
      KERAMOS_KINDS_OF(KERAMOS_EIGHTS, KindA, KindB, "e5m2", "e4m3", 128, "%64", "%65", "%66");
    else
      KERAMOS_KINDS_OF(KERAMOS_EIGHTS, KindA, KindB, "e5m2", "e4m3", 64, "%32", "%33", "%34");
#endif
  }
};

#undef KERAMOS_TEN
#undef KERAMOS_30
#undef KERAMOS_60
#undef KERAMOS_120
#undef KERAMOS_OF_64
#undef KERAMOS_OF_128
#undef KERAMOS_OF_192
#undef KERAMOS_OF_256
#undef KERAMOS_D4
#undef KERAMOS_D16
#undef KERAMOS_D64
#undef KERAMOS_D128
#undef KERAMOS_D192
#undef KERAMOS_D256
#undef KERAMOS_WGMMA
#undef KERAMOS_COMMA
#undef KERAMOS_HALVES
#undef KERAMOS_TF32
#undef KERAMOS_TF32_LOADED
#undef KERAMOS_BYTES
#undef KERAMOS_EIGHTS
#undef KERAMOS_KINDS_OF

}  // namespace keramos::backend::cuda
