#include "instantiate_gemm.hpp"

#define KERAMOS_INSTANTIATE(Space)                     \
  KERAMOS_INSTANTIATE_GEMM(Space, keramos::types::f16) \
  KERAMOS_INSTANTIATE_GEMM(Space, keramos::types::f16_f32)
KERAMOS_FOR_EACH_SPACE(KERAMOS_INSTANTIATE)
