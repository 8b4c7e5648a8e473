// One call of Kokkos Kernels' gemm. Included once for its native code and once for what its package
// links (a TPL), which are different code under the same names: see kokkoskernels_native.cpp.
// KERAMOS_PERF_KK names the namespace of the two.
#include <KokkosBlas3_gemm.hpp>
#include <Kokkos_Core.hpp>
#include <keramos/config.hpp>
#include <string>

#include "kokkoskernels.hpp"

namespace keramos::perf::KERAMOS_PERF_KK {

template <class T, class Layout>
void call_with_views(const gemm_case& g, const operand_set& set,
                     const keramos::default_execution_space& space) {
  using exec = keramos::default_execution_space;
  using device = Kokkos::Device<exec, typename exec::memory_space>;
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using in = Kokkos::View<const T**, Layout, device, unmanaged>;
  using out = Kokkos::View<T**, Layout, device, unmanaged>;
  const bool a_plain = g.op_a == transpose::N, b_plain = g.op_b == transpose::N;
  const in a(static_cast<const T*>(set.a), a_plain ? g.m : g.k, a_plain ? g.k : g.m);
  const in b(static_cast<const T*>(set.b), b_plain ? g.k : g.n, b_plain ? g.n : g.k);
  const out c(static_cast<T*>(set.c), g.m, g.n);
  const std::string op_a(perf::name(g.op_a)), op_b(perf::name(g.op_b));
  const T alpha = static_cast<T>(g.alpha), beta = static_cast<T>(g.beta);
  if constexpr (requires { KokkosBlas::gemm(space, op_a.c_str(), op_b.c_str(), alpha, a, b, beta, c); }) {
    KokkosBlas::gemm(space, op_a.c_str(), op_b.c_str(), alpha, a, b, beta, c);
  } else {
    KokkosBlas::gemm(op_a.c_str(), op_b.c_str(), alpha, a, b, beta, c);  // 3.4 has the default instance only
  }
}

template <class T>
kokkoskernels_call pick(matrix_layout layout) {
  return layout == matrix_layout::right ? call_with_views<T, Kokkos::LayoutRight>
                                        : call_with_views<T, Kokkos::LayoutLeft>;
}

}  // namespace keramos::perf::KERAMOS_PERF_KK
