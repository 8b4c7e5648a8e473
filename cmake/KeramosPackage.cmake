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

# The library fits the Kokkos that it was built with and no other. One of Debian's is asked for by its exact version.
find_program(KERAMOS_DPKG_QUERY dpkg-query)
mark_as_advanced(KERAMOS_DPKG_QUERY)
if(KERAMOS_DPKG_QUERY)
  file(REAL_PATH "${KERAMOS_KOKKOS_WHERE}/KokkosCore_config.h" kokkos_header)
  execute_process(COMMAND "${KERAMOS_DPKG_QUERY}" --search "${kokkos_header}"
                  RESULT_VARIABLE is_not_debians OUTPUT_VARIABLE owner ERROR_QUIET)
  if(NOT is_not_debians AND owner MATCHES "^([^:]+):")
    execute_process(COMMAND "${KERAMOS_DPKG_QUERY}" --show "--showformat=\${Package} (= \${Version})" ${CMAKE_MATCH_1}
                    OUTPUT_VARIABLE CPACK_DEBIAN_DEV_PACKAGE_DEPENDS COMMAND_ERROR_IS_FATAL ANY)
  endif()
endif()

include(CPack)
