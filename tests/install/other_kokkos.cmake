# An installed Keramos refuses a Kokkos that it was not built with, says why, and takes the right one in the next run, in the same
# folder.
file(REMOVE_RECURSE "${FOLDER}")

# A package of Kokkos: what it says of itself, and what its header has besides that of the right one.
function(make_kokkos name says has)
  file(READ "${HEADER}" header)
  file(WRITE "${FOLDER}/${name}/KokkosCore_config.h" "${header}\n${has}\n")
  file(WRITE "${FOLDER}/${name}/KokkosConfig.cmake" "${says}
add_library(Kokkos::kokkos INTERFACE IMPORTED)
set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES \"\${CMAKE_CURRENT_LIST_DIR}\")
")
endfunction()
make_kokkos(of_others "" "#define KOKKOS_ARCH_SOME_OTHER")
make_kokkos(without_openmp "set(Kokkos_FOUND FALSE)
set(Kokkos_NOT_FOUND_MESSAGE \"there is no OpenMP\")
return()" "")

# configure(<status> <what is said> <options...>)
function(configure status says)
  execute_process(COMMAND ${CMAKE_COMMAND} -S "${CONSUMER}" -B "${FOLDER}/build" -G ${GENERATOR} "-DCMAKE_CXX_COMPILER=${COMPILER}"
                          "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}" ${ARGN}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if((status STREQUAL "refused") STREQUAL (result EQUAL 0) OR NOT output MATCHES "${says}")
    message(FATAL_ERROR "not ${status} with \"${says}\" by ${ARGN}:\n${output}")
  endif()
endfunction()
set(right -UKokkos_ROOT)  # it is found beside Keramos
if(KOKKOS)
  set(right "-DKokkos_ROOT=${KOKKOS}")
endif()
set(otherwise "in [^ ]*of_others was configured otherwise \\(ARCH_SOME_OTHER\\): name the former \\(it was [^ ]*\\): -DKokkos_ROOT=<its prefix>")
configure(refused "${otherwise} " "-DKokkos_ROOT=${FOLDER}/of_others")
configure(taken "" ${right})
# What the user named by Kokkos_DIR is not forgotten, and the message says how it is.
file(REMOVE_RECURSE "${FOLDER}/build")
configure(refused "${otherwise} -UKokkos_DIR" "-DKokkos_DIR=${FOLDER}/of_others")
configure(refused "${otherwise} -UKokkos_DIR")
configure(taken "" -UKokkos_DIR ${right})
file(REMOVE_RECURSE "${FOLDER}/build")
configure(refused "without_openmp/KokkosConfig.cmake did not do \\(there is no OpenMP\\)" "-DKokkos_ROOT=${FOLDER}/without_openmp")
configure(taken "" ${right})
