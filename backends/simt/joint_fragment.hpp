// Fragments that a sub-group holds together, whose elements lanes cannot tell apart.
#pragma once

namespace keramos::backend::simt {

/// D (m x n) += A (m x k) · B (k x n) of one instruction, by `lanes` lanes. A is loaded from plain rows. A row of B has `pack`
/// elements along k of each column, side by side.
struct joint_fragment {
  int m, n, k, lanes, pack;
};

}  // namespace keramos::backend::simt
