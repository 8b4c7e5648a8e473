// expect: activations and clamp compare numbers
#include <keramos/gemm/fused.hpp>
#include <keramos/keramos.hpp>

keramos::complex<float> activated(keramos::complex<float> acc) {
  return keramos::detail::apply_epilogue(keramos::epilogue::relu(), acc, acc, 0, 0, 0);
}
