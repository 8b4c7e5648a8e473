// expect in one error: an epilogue takes \(acc, c, i, j, batch\), or \(acc, i, j, batch\) if it does not read
#include <keramos/gemm/fused.hpp>
#include <keramos/keramos.hpp>

struct without_indices {
  KERAMOS_FUNCTION float operator()(float acc, float c) const { return acc + c; }
};

constexpr bool checked = keramos::detail::check_epilogue<without_indices, float>();
