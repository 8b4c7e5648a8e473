# Warnings for our own code only: PRIVATE, never for those who use Keramos.
function(keramos_warnings target)
  set(flags -Wall -Wextra -Wpedantic)
  if(KERAMOS_WERROR)
    list(APPEND flags -Werror)
  endif()
  if(CUDA IN_LIST KERAMOS_KOKKOS_DEVICES)
    list(APPEND flags -Wno-unknown-pragmas)  # "#pragma unroll" is nvcc's; the host compiler sees it too
  endif()
  # nvcc warns about its own generated lines under -Wpedantic.
  set(cuda_flags ${flags})
  list(REMOVE_ITEM cuda_flags -Wpedantic)
  list(JOIN cuda_flags "," cuda_flags)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX,HIP>:${flags}>"
                                           "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${cuda_flags}>")
endfunction()
