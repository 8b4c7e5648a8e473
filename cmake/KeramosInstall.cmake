# Installs the library, its headers, and the packages that find_package(Keramos) and pkg-config read.
include(CMakePackageConfigHelpers)
include(cmake/KeramosPkgConfig.cmake)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)  # keramos-perf has one of its own

install(TARGETS keramos EXPORT KeramosTargets)
set(left_out "")
if(TARGET keramos_dist)
  install(TARGETS keramos_dist EXPORT KeramosDistTargets)
  if(TARGET keramos_pblas)
    install(TARGETS keramos_pblas EXPORT KeramosDistTargets)
  endif()
else()
  set(left_out PATTERN dist EXCLUDE)
endif()
install(DIRECTORY src/keramos DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp" ${left_out})
install(DIRECTORY backends DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/keramos" FILES_MATCHING PATTERN "*.hpp")
set(generated config enabled_backends products)
list(TRANSFORM generated REPLACE "(.+)" "${PROJECT_BINARY_DIR}/include/keramos/\\1.hpp")
install(FILES ${generated} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/keramos")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Keramos")
configure_package_config_file(cmake/KeramosConfig.cmake.in "${PROJECT_BINARY_DIR}/cmake/KeramosConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/KeramosConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/KeramosConfig.cmake"
              "${PROJECT_BINARY_DIR}/cmake/KeramosConfigVersion.cmake" cmake/KeramosFused.cmake
              cmake/KeramosKokkos.cmake
        DESTINATION "${package_dir}")
install(EXPORT KeramosTargets NAMESPACE Keramos:: DESTINATION "${package_dir}")
keramos_write_pkg_config()
if(TARGET keramos_dist)
  install(EXPORT KeramosDistTargets NAMESPACE Keramos:: DESTINATION "${package_dir}")
endif()
