# Tests of warpgroups, where Kokkos compiles for GPUs that have them.
keramos_add_warpgroup_object(backends_cuda_warpgroups backends/cuda/warpgroups.cpp)
if(TARGET backends_cuda_warpgroups)
  target_sources(backends_tests PRIVATE $<TARGET_OBJECTS:backends_cuda_warpgroups>)
endif()
