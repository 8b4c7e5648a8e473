# Finds Kokkos Kernels beside the Kokkos in use; it is optional. Sets, if it is there:
#   Keramos::kokkoskernels            the target
#   KERAMOS_KOKKOSKERNELS_WHERE       the folder that holds its KokkosKernels_config.h
#   KERAMOS_KOKKOSKERNELS_VERSION     3.4.1 ... 5.2.1
#   KERAMOS_KOKKOSKERNELS_TPLS        of BLAS MKL ARMPL CUBLAS ROCBLAS: libraries that its gemm may call
include(${CMAKE_CURRENT_LIST_DIR}/KeramosKokkos.cmake)

if(NOT TARGET Kokkos::kokkoskernels AND Kokkos_is_imported AND Kokkos_DIR)
  # Not in the system's folders, unless Kokkos is there: a Kokkos Kernels of another Kokkos may lie there.
  find_package(KokkosKernels CONFIG QUIET HINTS "${Kokkos_DIR}/../KokkosKernels"
               NO_CMAKE_SYSTEM_PATH NO_SYSTEM_ENVIRONMENT_PATH)
endif()

set(library "")
if(TARGET Kokkos::kokkoskernels)
  set(library Kokkos::kokkoskernels)
  get_target_property(includes Kokkos::kokkoskernels INTERFACE_INCLUDE_DIRECTORIES)
elseif(TARGET trilinos_kokkoskernels AND TARGET trilinos_kokkoscore)
  set(library trilinos_kokkoskernels)  # Debian's and Ubuntu's: a library without its include folder
  set(includes "${KokkosKernels_INCLUDE_DIRS}")
endif()
if(library)
  list(TRANSFORM includes REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1")
  unset(KERAMOS_KOKKOSKERNELS_WHERE)
  find_path(KERAMOS_KOKKOSKERNELS_WHERE KokkosKernels_config.h PATHS ${includes} NO_DEFAULT_PATH NO_CACHE)
  file(REAL_PATH "${KERAMOS_KOKKOSKERNELS_WHERE}" KERAMOS_KOKKOSKERNELS_WHERE)
  add_library(Keramos::kokkoskernels INTERFACE IMPORTED)
  target_link_libraries(Keramos::kokkoskernels INTERFACE ${library} Kokkos::kokkos)
  target_include_directories(Keramos::kokkoskernels SYSTEM INTERFACE "${KERAMOS_KOKKOSKERNELS_WHERE}")

  file(STRINGS "${KERAMOS_KOKKOSKERNELS_WHERE}/KokkosKernels_config.h" lines REGEX "KOKKOSKERNELS_")
  set(KERAMOS_KOKKOSKERNELS_VERSION ${KERAMOS_KOKKOS_VERSION})  # 3.4 does not say; they come in pairs
  foreach(line IN LISTS lines)
    if(line MATCHES "#define KOKKOSKERNELS_VERSION ([0-9]+)([0-9][0-9])([0-9][0-9])")
      keramos_version_string(KERAMOS_KOKKOSKERNELS_VERSION ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3})
    endif()
  endforeach()
  set(KERAMOS_KOKKOSKERNELS_TPLS "")
  foreach(tpl IN ITEMS BLAS MKL ARMPL CUBLAS ROCBLAS)
    # "#define" stands there in any case for BLAS, inside an "#if" about MKL; "#undef" only if off.
    if(lines MATCHES "#define KOKKOSKERNELS_ENABLE_TPL_${tpl} *(;|$)"
       AND NOT lines MATCHES "#undef KOKKOSKERNELS_ENABLE_TPL_${tpl} ")
      list(APPEND KERAMOS_KOKKOSKERNELS_TPLS ${tpl})
    endif()
  endforeach()
  message(STATUS "Keramos: Kokkos Kernels ${KERAMOS_KOKKOSKERNELS_VERSION} in ${KERAMOS_KOKKOSKERNELS_WHERE}, "
                 "libraries behind it: [${KERAMOS_KOKKOSKERNELS_TPLS}]")
else()
  message(STATUS "Keramos: no Kokkos Kernels beside this Kokkos; keramos-perf has no such rows")
endif()
