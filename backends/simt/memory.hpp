// What is alike in the memory of GPUs.
#pragma once

namespace keramos::backend::simt {

/// Memory is read and written best in whole pieces of so many bytes (CUDA's sectors; not measured elsewhere).
inline constexpr int sector_bytes = 32;

}  // namespace keramos::backend::simt
