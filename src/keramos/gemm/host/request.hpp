// What a register tile asks the second-level cache for while it multiplies. Compiled per instruction set, like
// micro_kernel.hpp, which see.
#pragma once

#include <cstdint>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

/// So many lines at a time.
struct request {
  const char* from = nullptr;
  int lines = 0;

  /// The part of B's next panel that tile `i` of `tiles` asks for, spread over `steps` steps: all tiles together ask for the
  /// whole.
  static request part_of(const void* panel, std::int64_t bytes, int steps, int i, int tiles) {
    const int lines_of_panel = int(bytes / 64),
              lines = (lines_of_panel + tiles * steps - 1) / (tiles * steps);
    const std::int64_t first = std::int64_t(i) * steps * lines;
    return {static_cast<const char*>(panel) + first * 64, first < lines_of_panel ? lines : 0};
  }

  void ask() {
    for (int line = 0; line < lines; ++line, from += 64) __builtin_prefetch(from, 0, 2);
  }
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA
