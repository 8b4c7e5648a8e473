// expect: gelu, gelu_tanh and silu need a floating-point C
#include <keramos/gemm/fused.hpp>
#include <keramos/keramos.hpp>

int activated(int acc) {
  return keramos::detail::apply_epilogue(keramos::epilogue::gelu(), acc, acc, 0, 0, 0);
}
