# No kernel of the library has a longer name than core/detail/launch.hpp says: each character of it costs time at a launch. Names
# count as the device has them, mangled.
#   cmake -DLOG=<what the compiler wrote, with -Xptxas=-v> -P names.cmake
#   cmake -DFILE=<library or object> -DNM=<nm> -P names.cmake
# Kernels of work-groups are left out: their names hold the types of the caller's kernel and local memory.
if(DEFINED LOG)
  file(READ "${LOG}" text)
  string(REGEX MATCHALL "entry function '_Z[^']+'" names "${text}")
  list(TRANSFORM names REPLACE ".*'(_Z[^']+)'" "\\1")
elseif(DEFINED FILE AND DEFINED NM)
  execute_process(COMMAND "${NM}" --defined-only "${FILE}" OUTPUT_VARIABLE text ERROR_VARIABLE none RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${NM} ${FILE}")
  endif()
  string(REGEX MATCHALL " _ZN6Kokkos4ImplL[^\n.]*_parallel_launch_[^\n.]+\n" names "${text}")  # and nothing like .cold
  list(TRANSFORM names STRIP)
  list(TRANSFORM names REPLACE "^_ZN6Kokkos4ImplL" "_ZN6Kokkos4Impl")  # the host's symbol is local
else()
  message(FATAL_ERROR "-DLOG= is missing, or -DFILE= and -DNM=")
endif()
list(FILTER names INCLUDE REGEX "7keramos6detail")
list(FILTER names EXCLUDE REGEX "17work_group_kernel")
if(NOT names)
  message(FATAL_ERROR "${LOG}${FILE}: no kernel of the library's")
endif()

set(header "${CMAKE_CURRENT_LIST_DIR}/../../src/keramos/core/detail/launch.hpp")
file(READ "${header}" text)
if(NOT text MATCHES "longest_kernel_name = ([0-9]+)")
  message(FATAL_ERROR "${header}: no longest_kernel_name")
endif()
set(limit "${CMAKE_MATCH_1}")
set(longest 0)
foreach(name IN LISTS names)
  string(LENGTH "${name}" length)
  if(length GREATER limit)
    message(SEND_ERROR "a kernel's name has ${length} characters, not at most ${limit} (launch.hpp): ${name}")
  endif()
  if(length GREATER longest)
    set(longest ${length})
  endif()
endforeach()
list(LENGTH names count)
message(STATUS "${LOG}${FILE}: ${count} kernels' names, of at most ${longest} characters")
