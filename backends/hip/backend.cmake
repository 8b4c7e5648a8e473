# AMD GPUs. ARCHS: the compiler's name = the name Kokkos has for it.
keramos_backend(hip DEVICE HIP SPACE Kokkos::HIP PRIORITY 50
  ARCH_QUERY rocm_agent_enumerator
  ARCHS gfx906=AMD_GFX906 gfx908=AMD_GFX908 gfx90a=AMD_GFX90A gfx942=AMD_GFX942
        gfx1030=AMD_GFX1030 gfx1100=AMD_GFX1100)
