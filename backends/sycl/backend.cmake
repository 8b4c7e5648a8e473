# Intel GPUs. Without KERAMOS_GPU_ARCH Kokkos compiles just in time for any of them.
keramos_backend(sycl DEVICE SYCL SPACE Kokkos::SYCL PRIORITY 40
  ARCHS gen=INTEL_GEN dg1=INTEL_DG1 dg2=INTEL_DG2 pvc=INTEL_PVC)
