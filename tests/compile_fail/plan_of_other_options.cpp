// expect: an epilogue takes \(acc, c, i, j, batch\)
#include <keramos/gemm/fused.hpp>
#include <keramos/keramos.hpp>

void plan(keramos::queue& q, Kokkos::View<float**> a) {
  keramos::plan_gemm(q, a, a, a, keramos::gemm_batched_options{.op_a = keramos::op::T});
}
