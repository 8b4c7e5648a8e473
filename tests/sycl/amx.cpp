#include "amx.hpp"

#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include <cpuid.h>
#include <ucontext.h>

#include <keramos/base/float16.hpp>

namespace keramos::test::device {
namespace {

struct tile {
  std::uint8_t row[16][64];
};
/// As LDTILECFG reads it.
struct configuration {
  std::uint8_t palette, start_row, reserved[14];
  std::uint16_t row_bytes[16];
  std::uint8_t rows[16];
};
static_assert(sizeof(configuration) == 64);
/// Of each thread.
thread_local configuration shapes;
thread_local tile tiles[8];

/// Three bytes of a VEX prefix, an opcode, and its operands (volume 2, chapter 2).
struct instruction {
  const std::uint8_t* code;
  const greg_t* registers;
  std::uint8_t extensions = code[1];  // of the numbers of registers
  int short_step = 1;                 // bytes that a displacement of one byte counts in

  bool is_amx() const { return code[0] == 0xc4 && (code[1] & 31) == 2; }
  int prefix() const { return code[2] & 3; }  // none, 66, F3, F2
  int opcode() const { return code[3]; }
  int mod() const { return code[4] >> 6; }
  int reg() const { return code[4] >> 3 & 7; }
  int rm() const { return code[4] & 7; }
  int vvvv() const { return ~code[2] >> 3 & 7; }
  bool has_sib() const { return mod() != 3 && rm() == 4; }
  int scale() const { return code[5] >> 6; }
  int index() const { return (code[5] >> 3 & 7) + (extensions & 64 ? 0 : 8); }
  int base() const { return ((has_sib() ? code[5] : code[4]) & 7) + (extensions & 32 ? 0 : 8); }
  bool without_base() const { return mod() == 0 && base() % 8 == 5; }
  int displacement_bytes() const { return mod() == 1 ? 1 : mod() == 2 || without_base() ? 4 : 0; }
  int length() const { return mod() == 3 ? 5 : 5 + has_sib() + displacement_bytes(); }

  greg_t of(int number) const {
    static constexpr int in_context[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                         REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                         REG_R12, REG_R13, REG_R14, REG_R15};
    return registers[in_context[number]];
  }
  std::int64_t stride() const { return index() == 4 ? 0 : std::int64_t(of(index())) << scale(); }
  /// What an index adds to the address.
  std::int64_t offset() const { return has_sib() ? stride() : 0; }
  /// Without what the index adds.
  std::uint8_t* address() const {
    std::int64_t at = 0;
    if (displacement_bytes() == 1) at = std::int8_t(code[5 + has_sib()]) * short_step;
    if (displacement_bytes() == 4) {
      std::int32_t displacement;
      std::memcpy(&displacement, code + 5 + has_sib(), 4);
      at = displacement;
    }
    if (!without_base())
      at += of(base());
    else if (!has_sib())
      at += reinterpret_cast<std::int64_t>(code) + length();
    return reinterpret_cast<std::uint8_t*>(at);
  }
};

/// Where a component lies in what XSAVE stores (CPUID, leaf 0DH).
int offset_of_state(unsigned component) {
  unsigned size, offset, c, d;
  __cpuid_count(0xd, component, size, offset, c, d);
  return int(offset);
}

/// Sums of products of `Count` neighbours of four bytes, element by element as `x` and `y` read them.
template <int Count, class Sum, class X, class Y>
void multiply(const instruction& i, const X& x, const Y& y) {
  tile& sums = tiles[i.reg()];
  const tile &a = tiles[i.rm()], &b = tiles[i.vvvv()];
  for (int m = 0; m < shapes.rows[i.reg()]; ++m)
    for (int k = 0; k < shapes.row_bytes[i.rm()] / 4; ++k)
      for (int n = 0; n < shapes.row_bytes[i.reg()] / 4; ++n) {
        Sum sum;
        std::memcpy(&sum, sums.row[m] + 4 * n, 4);
        for (int e = 0; e < Count; ++e)
          sum += x(a.row[m] + 4 * k + 4 / Count * e) * y(b.row[k] + 4 * n + 4 / Count * e);
        std::memcpy(sums.row[m] + 4 * n, &sum, 4);
      }
}
template <class T>
float half(const std::uint8_t* bytes) {
  T x;
  std::memcpy(&x, bytes, sizeof(x));
  return float(x);
}
std::uint32_t with_sign(const std::uint8_t* byte) { return std::uint32_t(std::int8_t(*byte)); }
std::uint32_t without_sign(const std::uint8_t* byte) { return *byte; }

void move_rows(const instruction& i, bool loads) {
  tile& t = tiles[i.reg()];
  if (loads) t = {};
  for (int row = 0; row < shapes.rows[i.reg()]; ++row) {
    std::uint8_t* const memory = i.address() + row * i.stride();
    std::memcpy(loads ? t.row[row] : memory, loads ? memory : t.row[row], shapes.row_bytes[i.reg()]);
  }
}
void configure(const instruction& i) {
  if (i.prefix() == 1) {
    std::memcpy(i.address(), &shapes, sizeof(shapes));
    return;
  }
  shapes = {};
  if (i.mod() != 3) std::memcpy(&shapes, i.address(), sizeof(shapes));
  for (tile& t : tiles) t = {};
}

/// Whether it was one of AMX.
bool done(const instruction& i) {
  if (!i.is_amx()) return false;
  switch (i.opcode() << 4 | i.prefix()) {
    case 0x490:  // LDTILECFG, TILERELEASE
    case 0x491:  // STTILECFG
      return configure(i), true;
    case 0x493:  // TILEZERO
      return tiles[i.reg()] = {}, true;
    case 0x4b1:  // TILELOADDT1
    case 0x4b3:  // TILELOADD
      return move_rows(i, true), true;
    case 0x4b2:  // TILESTORED
      return move_rows(i, false), true;
    case 0x5c2:  // TDPBF16PS
      return multiply<2, float>(i, half<bfloat16>, half<bfloat16>), true;
    case 0x5c3:  // TDPFP16PS
      return multiply<2, float>(i, half<float16>, half<float16>), true;
    case 0x5e3:  // TDPBSSD
      return multiply<4, std::uint32_t>(i, with_sign, with_sign), true;
    case 0x5e2:  // TDPBSUD
      return multiply<4, std::uint32_t>(i, with_sign, without_sign), true;
    case 0x5e1:  // TDPBUSD
      return multiply<4, std::uint32_t>(i, without_sign, with_sign), true;
    case 0x5e0:  // TDPBUUD
      return multiply<4, std::uint32_t>(i, without_sign, without_sign), true;
    default:
      return false;
  }
}

/// VMOVW from memory into one of the first 16 registers for vectors, whose other bits become zeros
/// (of AVX512-FP16, which all processors with AMX have). The state of vectors lies in a signal's as XSAVE stores it (volume 1,
/// chapter 13).
bool move_word(mcontext_t& state) {
  const auto* const code = reinterpret_cast<const std::uint8_t*>(state.gregs[REG_RIP]);
  if (code[0] != 0x62 || (code[1] & 31) != 0x15 || code[2] != 0x7d || code[3] != 8 || code[4] != 0x6e)
    return false;
  // Its operands lie a byte further than behind VEX.
  const instruction i{code + 1, state.gregs, code[1], 2};
  if (i.mod() == 3) return false;
  const int number = i.reg() + (code[1] & 128 ? 0 : 8);
  auto* const vectors = reinterpret_cast<std::uint8_t*>(state.fpregs);
  auto* const lowest = reinterpret_cast<std::uint8_t*>(state.fpregs->_xmm + number);
  vectors[512] |= 2;  // there is a state to load
  std::memset(lowest, 0, 16);
  std::memcpy(lowest, i.address() + i.offset(), 2);
  std::memset(vectors + offset_of_state(2) + 16 * number, 0, 16);
  std::memset(vectors + offset_of_state(6) + 32 * number, 0, 32);
  state.gregs[REG_RIP] += 1 + i.length();
  return true;
}

void handle(int, siginfo_t*, void* context) {
  mcontext_t& state = static_cast<ucontext_t*>(context)->uc_mcontext;
  if (move_word(state)) return;
  greg_t* const registers = state.gregs;
  const instruction i{reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]), registers};
  if (!done(i)) {
    std::fprintf(stderr, "this processor does not know an instruction: ");
    for (int b = 0; b < 12; ++b) std::fprintf(stderr, "%02x ", i.code[b]);
    std::fprintf(stderr, "\n");
    _exit(78);
  }
  registers[REG_RIP] += i.length();
}

}  // namespace

void emulate_amx() {
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
}

}  // namespace keramos::test::device
