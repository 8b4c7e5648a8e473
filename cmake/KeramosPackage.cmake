# Debian packages of what is installed, libkeramos-dev and, if it is built, keramos-perf:  cpack -G DEB
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME keramos)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libkeramos-dev)
set(CPACK_DEBIAN_PERF_PACKAGE_NAME keramos-perf)
set(CPACK_COMPONENTS_ALL dev)
if(KERAMOS_PERF)
  list(APPEND CPACK_COMPONENTS_ALL perf)
endif()
set(CPACK_PACKAGE_CONTACT "The Keramos developers")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PERF_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PERF_PACKAGE_SHLIBDEPS ON)  # what its shared libraries are in

if(BUILD_SHARED_LIBS OR TARGET keramos_pblas)
  set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS ON)
endif()

# keramos_depend_on_owner_of(<header> <format>): of Debian's packages the one that the header is in, if it is in one.
find_program(KERAMOS_DPKG_QUERY dpkg-query)
mark_as_advanced(KERAMOS_DPKG_QUERY)
function(keramos_depend_on_owner_of header format)
  file(REAL_PATH "${header}" header)
  execute_process(COMMAND "${KERAMOS_DPKG_QUERY}" --search "${header}"
                  RESULT_VARIABLE is_not_debians OUTPUT_VARIABLE owner ERROR_QUIET)
  if(NOT is_not_debians AND owner MATCHES "^([^:]+):")
    execute_process(COMMAND "${KERAMOS_DPKG_QUERY}" --show "--showformat=${format}" ${CMAKE_MATCH_1}
                    OUTPUT_VARIABLE package COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND packages ${CPACK_DEBIAN_DEV_PACKAGE_DEPENDS} "${package}")
    list(JOIN packages ", " packages)
    set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${packages}" PARENT_SCOPE)
  endif()
endfunction()
if(KERAMOS_DPKG_QUERY)
  # The library fits the Kokkos that it was built with and no other, so that its exact version is asked for.
  keramos_depend_on_owner_of("${KERAMOS_KOKKOS_WHERE}/KokkosCore_config.h" "\${Package} (= \${Version})")
  if(TARGET keramos_dist)
    find_path(mpi mpi.h PATHS ${MPI_CXX_INCLUDE_DIRS} NO_DEFAULT_PATH NO_CACHE)
    keramos_depend_on_owner_of("${mpi}/mpi.h" "\${Package}")
  endif()
endif()

include(CPack)
