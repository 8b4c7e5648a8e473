# NCCL, which carries matrices between the devices of ranks, where it is found: NCCL_ROOT may name its folder.
function(keramos_add_link_of_cuda library)
  find_path(KERAMOS_NCCL_INCLUDE nccl.h HINTS "${NCCL_ROOT}/include" "$ENV{NCCL_ROOT}/include" /usr/local/cuda/include)
  find_library(KERAMOS_NCCL_LIBRARY NAMES nccl libnccl.so.2 NAMES_PER_DIR
               HINTS "${NCCL_ROOT}/lib" "$ENV{NCCL_ROOT}/lib" /usr/local/cuda/lib64)
  mark_as_advanced(KERAMOS_NCCL_INCLUDE KERAMOS_NCCL_LIBRARY)
  if(NOT KERAMOS_NCCL_INCLUDE OR NOT KERAMOS_NCCL_LIBRARY)
    message(STATUS "Keramos: no NCCL (nccl.h, libnccl) was found; keramos::dist sends by MPI through the host's memory. "
                   "Name its folder with -DNCCL_ROOT")
    return()
  endif()
  message(STATUS "Keramos: NCCL is ${KERAMOS_NCCL_LIBRARY}")
  target_sources(${library} PRIVATE backends/cuda/nccl.cpp)
  target_include_directories(${library} SYSTEM PRIVATE "${KERAMOS_NCCL_INCLUDE}")
  target_link_libraries(${library} PRIVATE "${KERAMOS_NCCL_LIBRARY}")
  target_compile_definitions(${library} PRIVATE KERAMOS_HAS_DEVICE_LINK)
endfunction()
