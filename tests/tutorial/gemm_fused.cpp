#include <cmath>

#include <keramos/gemm/fused.hpp>
#include <keramos/keramos.hpp>

namespace ep = keramos::epilogue;
using keramos::index_t;

// An epilogue of your own: any callable of the sum and its place in C.
struct keep_lower_triangle {
  KERAMOS_FUNCTION float operator()(float acc, index_t i, index_t j, index_t /*batch*/) const {
    return i >= j ? acc : 0.0f;
  }
};

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  const int n = 100;
  Kokkos::View<float**> a("A", n, n), b("B", n, n), c("C", n, n), d("D", n, n), e("E", n, n);
  Kokkos::View<float*> bias("bias", n);
  Kokkos::deep_copy(a, 1.0f);
  Kokkos::deep_copy(b, 0.01f);
  Kokkos::deep_copy(bias, 1.0f);

  keramos::queue q;
  // C = gelu(2·A·B + bias)
  keramos::gemm(q, a, b, c, ep::linear(2.0f, 0.0f) | ep::bias_by_column(bias) | ep::gelu());
  keramos::gemm(q, a, b, d, keep_lower_triangle());

  const keramos::gemm_plan plan = keramos::plan_gemm(q, a, b, e);
  keramos::gemm(q, 1.0, a, b, 0.0, e, {.plan = plan}).wait();

  const auto at = [](const auto& view, int i, int j) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view)(i, j);
  };
  const auto near = [](float x, float y) { return std::abs(x - y) < 1e-4f; };
  const float gelu_of_3 = 1.5f * (1 + std::erf(3 / std::sqrt(2.0f)));
  const bool right =
      near(at(c, 3, 4), gelu_of_3) && near(at(d, 4, 3), 1) && at(d, 3, 4) == 0 && near(at(e, 9, 9), 1);
  return right && !to_string(plan).empty() ? 0 : 1;
}
