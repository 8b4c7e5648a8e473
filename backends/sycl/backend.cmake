# Intel GPUs. Without KERAMOS_GPU_ARCH Kokkos compiles just in time for any of them.
keramos_backend(sycl DEVICE SYCL SPACE Kokkos::SYCL PRIORITY 40
  ARCHS gen=INTEL_GEN dg1=INTEL_DG1 dg2=INTEL_DG2 pvc=INTEL_PVC)

# Fragments of matrix units (units.hpp) belong to sub-groups of 16, for which Kokkos' kernels cannot ask one by one. In callers'
# sources too: an epilogue of theirs makes kernels there.
function(keramos_add_kernels_of_sycl library)
  get_property(where GLOBAL PROPERTY KERAMOS_KOKKOS_WHERE)
  file(STRINGS "${where}/KokkosCore_config.h" has_units REGEX "^#define KOKKOS_ARCH_INTEL_PVC *$")
  if(NOT has_units)
    return()
  endif()
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-fsycl-default-sub-group-size=16 KERAMOS_HAS_SUB_GROUP_SIZE)
  if(NOT KERAMOS_HAS_SUB_GROUP_SIZE)
    message(FATAL_ERROR "Keramos: the matrix units of INTEL_PVC need a compiler that knows -fsycl-default-sub-group-size, "
                        "and ${CMAKE_CXX_COMPILER} does not")
  endif()
  target_compile_options(${library} PUBLIC -fsycl-default-sub-group-size=16)
endfunction()
