// An application that uses what is compiled in Keramos' library: products, one and a batch, checked in one element, an
// algorithm, and an exception that the library throws; and a product with an epilogue of its own, compiled here.
#include <keramos/gemm/fused.hpp>
#include <keramos/keramos.hpp>

/// Keeps what is above the diagonal, and adds its column.
struct upper_part {
  KERAMOS_FUNCTION double operator()(double acc, keramos::index_t i, keramos::index_t j,
                                     keramos::index_t /*batch*/) const {
    return i < j ? acc + double(j) : 0.0;
  }
};

template <class F>
bool is_refused(const F& call) {
  try {
    call();
  } catch (const keramos::invalid_argument&) {
    return true;
  }
  return false;
}

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  Kokkos::View<double**> a("a", 30, 40);
  Kokkos::View<double**> b("b", 40, 50);
  Kokkos::View<double**> c("c", 30, 50);
  Kokkos::deep_copy(a, 3.0);
  Kokkos::deep_copy(b, 5.0);

  keramos::queue queue;
  keramos::gemm(queue, 2.0, a, b, 0.0, c);
  Kokkos::View<double***> many_a("many_a", 7, 30, 40), many_c("many_c", 7, 30, 50);
  Kokkos::View<double**> transposed("transposed", 50, 30);
  Kokkos::deep_copy(many_a, 3.0);
  keramos::gemm_batched(queue, 2.0, many_a, b, 0.0, many_c);
  keramos::transpose(queue, c, transposed);
  Kokkos::View<double**> upper("upper", 30, 50);
  keramos::gemm(queue, a, b, upper, keramos::epilogue::linear(2.0, 0.0) | upper_part());
  queue.wait();

  const double expected = 2.0 * 3.0 * 5.0 * 40;
  auto c_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  auto many_c_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), many_c);
  auto transposed_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), transposed);
  if (c_host(29, 49) != expected || many_c_host(6, 29, 49) != expected || transposed_host(49, 29) != expected)
    return 1;
  const auto upper_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), upper);
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 50; ++j)
      if (upper_host(i, j) != (i < j ? expected + j : 0.0)) return 3;
  return is_refused([&] { keramos::gemm(queue, 1.0, a, a, 0.0, c); }) ? 0 : 2;
}
