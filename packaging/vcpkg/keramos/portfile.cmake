# An overlay port: builds the clone that it lies in.
#   vcpkg install keramos --overlay-ports=<clone>/packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DKERAMOS_TESTS=OFF -DKERAMOS_PERF=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Keramos CONFIG_PATH lib/cmake/Keramos)
vcpkg_fixup_pkgconfig()

# Headers are those of the release build, and the license stands where vcpkg wants it.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
                    "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
