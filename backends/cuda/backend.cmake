# NVIDIA GPUs. ARCHS: compute capability = the name Kokkos has for it.
keramos_backend(cuda DEVICE CUDA SPACE Kokkos::Cuda PRIORITY 60
  ARCH_QUERY nvidia-smi --query-gpu=compute_cap --format=csv,noheader
  ARCHS 70=VOLTA70 75=TURING75 80=AMPERE80 86=AMPERE86 89=ADA89 90=HOPPER90
        100=BLACKWELL100 120=BLACKWELL120)
include("${CMAKE_CURRENT_LIST_DIR}/warpgroups.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/nccl.cmake")

# Device code is compressed as far as nvcc can: about a tenth of what it is otherwise, for some seconds a source. Before
# CUDA 13 drivers might not read that. nvcc_wrapper hands no such option on, so nvcc finds it in its environment.
function(keramos_compile_devices_of_cuda)
  if(NOT KERAMOS_KOKKOS_LANGUAGE STREQUAL CXX)
    if(CMAKE_CUDA_COMPILER_ID STREQUAL NVIDIA AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
      add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
    endif()
    return()
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(version MATCHES "Cuda compiler driver.*release ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 13)
    string(STRIP "$ENV{NVCC_APPEND_FLAGS} --compress-mode=size" flags)
    list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "NVCC_APPEND_FLAGS=${flags}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}" PARENT_SCOPE)
  endif()
endfunction()
