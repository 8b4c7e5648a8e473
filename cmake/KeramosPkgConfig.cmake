# Writes <build>/keramos.pc for those who link without CMake:  c++ main.cpp $(pkg-config --cflags --libs keramos)
# Kokkos has no such file, so this one names Kokkos' flags and archives as well, where they are on this machine.

# keramos_link_flags(<target> <result>): what a program links, the target first. Archives stand before those that they need.
function(keramos_link_flags target result)
  get_target_property(type ${target} TYPE)
  get_target_property(is_imported ${target} IMPORTED)
  set(flags "")
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    if(is_imported)
      set(flags "$<TARGET_LINKER_FILE:${target}>")
    else()  # built and installed with Keramos
      set(flags "\${libdir}/$<TARGET_LINKER_FILE_NAME:${target}>")
    endif()
  endif()
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  foreach(library IN LISTS libraries)
    string(REGEX REPLACE "^\\$<(LINK_ONLY|BUILD_INTERFACE):(.*)>$" "\\2" library "${library}")
    if(TARGET ${library})
      keramos_link_flags(${library} of_library)
      list(APPEND flags ${of_library})
    elseif(library STREQUAL "OpenMP::OpenMP_CXX")  # of a Kokkos that is built with Keramos, in whose folder alone it is known
      list(APPEND flags ${OpenMP_CXX_FLAGS})
    elseif(library MATCHES "^[-/]")
      list(APPEND flags ${library})
    elseif(library MATCHES "^[A-Za-z0-9_+.]+$")
      list(APPEND flags -l${library})
    elseif(library MATCHES "::")
      message(WARNING "Keramos: keramos.pc lacks what ${library} links, a target that is not known here")
    endif()
  endforeach()
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

function(keramos_write_pkg_config)
  keramos_link_flags(Kokkos::kokkos libraries)
  list(REVERSE libraries)  # of several the last counts
  list(REMOVE_DUPLICATES libraries)
  list(REVERSE libraries)
  list(JOIN libraries " " libraries)
  set(of "TARGET_PROPERTY:Kokkos::kokkos,INTERFACE")
  # Of a Kokkos that is built with Keramos the headers are in Keramos' prefix.
  get_target_property(is_imported Kokkos::kokkos IMPORTED)
  set(includes "")
  # The compiler's own folder must keep its place.
  set(of_kokkos "$<FILTER:$<REMOVE_DUPLICATES:$<${of}_INCLUDE_DIRECTORIES>>,EXCLUDE,^/usr/include$>")
  if(is_imported)
    set(includes "$<$<BOOL:${of_kokkos}>:-isystem$<JOIN:${of_kokkos}, -isystem>>")
  endif()
  # Those of a backend's kernels too (backends/sycl/backend.cmake).
  set(options "$<JOIN:$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:keramos,INTERFACE_COMPILE_OPTIONS>>, >")
  set(definitions "$<${of}_COMPILE_DEFINITIONS>")
  set(definitions "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions}, -D>>")
  file(RELATIVE_PATH to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /prefix)
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/keramos.pc" CONTENT
"prefix=\${pcfiledir}/${to_prefix}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}

Name: Keramos
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Cflags: -std=c++20 -I\${includedir} ${includes} ${definitions} ${options}
Libs: -L\${libdir} -lkeramos ${libraries}
"
       CONDITION $<COMPILE_LANGUAGE:${KERAMOS_KOKKOS_LANGUAGE}> TARGET keramos)
  # Options may begin with SHELL:, which is CMake's own word (FindOpenMP, from CMake 4).
  install(CODE "file(READ \"${PROJECT_BINARY_DIR}/keramos.pc\" text)
string(REPLACE SHELL: \"\" text \"\${text}\")
file(WRITE \"${PROJECT_BINARY_DIR}/keramos.pc\" \"\${text}\")")
  install(FILES "${PROJECT_BINARY_DIR}/keramos.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
