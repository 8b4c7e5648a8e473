// Tile registers of AMX (Intel, from Sapphire Rapids on): eight, of 16 rows of 64 bytes, and the multiply atoms that they
// have. One adds to 16 x 16 sums the products of 16 rows of 16 packed numbers along k, of A, and 16 rows of numbers along n.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>

#include <keramos/backends/host/products.hpp>

namespace keramos::backend::host::KERAMOS_HOST_ISA::matrix {

inline constexpr int rows = 16;  ///< of a register, and numbers of four bytes in a row

/// All registers of this thread, whole, as long as it lives. Then the system need not save them any more.
class registers {
 public:
  registers() {
    struct alignas(64) {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows_of[16] = {rows, rows, rows, rows, rows, rows, rows, rows};
    } const whole;
    asm volatile("ldtilecfg %0" ::"m"(whole));
  }
  ~registers() { asm volatile("tilerelease"); }
  registers(const registers&) = delete;
  registers& operator=(const registers&) = delete;
};

// The compilers' own functions take numbers of registers from macros alone.

template <int Register>
void clear() {
  asm volatile("tilezero %%tmm%c0" ::"i"(Register));
}
/// Rows are `stride` bytes apart.
template <int Register>
void load(const void* from, std::int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(Register) : "memory");
}
template <int Register>
void store(void* to, std::int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(Register) : "memory");
}

/// Pairs of bfloat16s, with sums of f32. Subnormal numbers count as zeros, and so do subnormal sums.
struct bf16_pairs {
  using number = float;  ///< of sums, and a packed one
  using pack = grouped_bits<2>;
  template <bool SignedA, bool SignedB>
  using of_signs = bf16_pairs;

  template <int C, int A, int B>
  static void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
  }
};

/// Fours of integers of eight bits.
struct byte_quads {
  using number = std::uint32_t;
  using pack = grouped_bits<4>;

  template <bool SignedA, bool SignedB>
  struct of_signs {
    template <int C, int A, int B>
    static void multiply() {
      if constexpr (SignedA && SignedB)
        asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
      else if constexpr (SignedA)
        asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
      else if constexpr (SignedB)
        asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
      else
        asm volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
    }
  };
};

}  // namespace keramos::backend::host::KERAMOS_HOST_ISA::matrix

namespace keramos::backend::host::KERAMOS_HOST_ISA {

/// The atom of matrix registers for elements of such types, if this instruction set has one: else void.
template <tiling::operand_types>
struct matrix_product_of {
  using type = void;
};
#if defined(__AMX_BF16__) || defined(__AMXBF16__)  // clang's name before its version 16
template <>
struct matrix_product_of<tiling::halves(scalar_type::bf16)> {
  using type = matrix::bf16_pairs;
};
template <>
struct matrix_product_of<tiling::halves(scalar_type::f8)> {
  using type = matrix::bf16_pairs;
};
#endif
#if defined(__AMX_INT8__) || defined(__AMXINT8__)
template <>
struct matrix_product_of<tiling::bytes()> {
  using type = matrix::byte_quads;
};
#endif

}  // namespace keramos::backend::host::KERAMOS_HOST_ISA
