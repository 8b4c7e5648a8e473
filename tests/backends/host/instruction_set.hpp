// Tests of the atoms that are compiled once per instruction set (instruction_set.cpp). Nothing of the standard library or
// GoogleTest is compiled there, whose functions the linker might then take for all.
#pragma once

namespace keramos::test {

/// Each function returns what is wrong, or null.
struct instruction_set {
  const char* name;
  const char* (*vectors)();
  const char* (*products)();
  const char* (*number_blocks)();
  const char* (*matrix_products)();
  const char* (*tiles)();
};

namespace baseline {
instruction_set atoms();
}
namespace avx2 {
instruction_set atoms();
}
namespace avx512 {
instruction_set atoms();
}
namespace avx512_vnni {
instruction_set atoms();
}
namespace avx512_bf16 {
instruction_set atoms();
}
namespace amx {
instruction_set atoms();
}
namespace neon_dot {
instruction_set atoms();
}
namespace sve256 {
instruction_set atoms();
}
namespace sve512 {
instruction_set atoms();
}

}  // namespace keramos::test
