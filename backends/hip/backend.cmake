# AMD GPUs. ARCHS: the compiler's name = the name Kokkos has for it.
# The first agent is the CPU: gfx000.
keramos_backend(hip DEVICE HIP SPACE Kokkos::HIP PRIORITY 50
  ARCH_QUERY sh -c "rocm_agent_enumerator | grep -v gfx000"
  ARCHS gfx906=AMD_GFX906 gfx908=AMD_GFX908 gfx90a=AMD_GFX90A gfx942=AMD_GFX942 gfx950=AMD_GFX950
        gfx1030=AMD_GFX1030 gfx1100=AMD_GFX1100 gfx1101=AMD_GFX1101 gfx1103=AMD_GFX1103
        gfx1151=AMD_GFX1151 gfx1152=AMD_GFX1152 gfx1201=AMD_GFX1201)
include("${CMAKE_CURRENT_LIST_DIR}/rccl.cmake")
