// Products of remainders in tiles of warpgroups (backends/cuda/warpgroups.cmake).
#include <keramos/gemm/kernel/residues/launch_products.hpp>

#define KERAMOS_INSTANTIATE(Space)                                         \
  template void keramos::detail::residues::launch_products(                \
      const Space&, int, const keramos::gemm_problem<keramos::types::i8>&, \
      const keramos::detail::residues::product_layout&, const keramos::detail::residues::choice*);
KERAMOS_FOR_EACH_SPACE(KERAMOS_INSTANTIATE)
#undef KERAMOS_INSTANTIATE
