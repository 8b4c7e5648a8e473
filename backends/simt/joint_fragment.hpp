// Fragments that a sub-group holds together, whose elements lanes cannot tell apart.
#pragma once

namespace keramos::backend::simt {

/// D (m x n) += A (m x k) · B (k x n) of one instruction, by `lanes` lanes.
struct joint_fragment {
  int m, n, k, lanes;
};

}  // namespace keramos::backend::simt
