// AMX where a processor has none: its instructions one by one.
#pragma once

namespace keramos::test::device {

/// From now on this program's AMX instructions that the processor does not know are done by a handler of SIGILL, as Intel's
/// Software Developer's Manual says (volume 1, chapter 18, and volume 2): those for tiles, products of bf16, f16 and bytes, and
/// a move of 16 bits that comes with them. To be called again after what may set a handler of its own. Another instruction that
/// the processor does not know ends the program with status 78.
void emulate_amx();

}  // namespace keramos::test::device
