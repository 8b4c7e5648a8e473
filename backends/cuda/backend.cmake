# NVIDIA GPUs. ARCHS: compute capability = the name Kokkos has for it.
keramos_backend(cuda DEVICE CUDA SPACE Kokkos::Cuda PRIORITY 60
  ARCH_QUERY nvidia-smi --query-gpu=compute_cap --format=csv,noheader
  ARCHS 70=VOLTA70 75=TURING75 80=AMPERE80 86=AMPERE86 89=ADA89 90=HOPPER90
        100=BLACKWELL100 120=BLACKWELL120)
include("${CMAKE_CURRENT_LIST_DIR}/warpgroups.cmake")
