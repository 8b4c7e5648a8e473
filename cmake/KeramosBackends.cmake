# The backends are the folders of backends/ that hold a backend.cmake, which calls one of these two.
# Nothing outside a backend's folder lists them by name.

# keramos_backend(<name> DEVICE <x> SPACE <type> PRIORITY <n>
#                 [ARCH_QUERY <command...>] [ARCHS <native=kokkos>...])
#   DEVICE      as in Kokkos' KOKKOS_ENABLE_<x> and Kokkos_ENABLE_<x>
#   SPACE       its Kokkos execution space
#   PRIORITY    the highest that the found Kokkos has is the default
#   ARCH_QUERY  prints this machine's architecture, if there is such a command
#   ARCHS       architectures by the vendor's name and by Kokkos' (Kokkos_ARCH_<kokkos>)
function(keramos_backend name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DEVICE;SPACE;PRIORITY" "ARCH_QUERY;ARCHS")
  foreach(field IN ITEMS DEVICE SPACE PRIORITY ARCH_QUERY ARCHS)
    set(KERAMOS_${name}_${field} "${arg_${field}}" PARENT_SCOPE)
  endforeach()
  set(KERAMOS_BACKENDS ${KERAMOS_BACKENDS} ${name} PARENT_SCOPE)
endfunction()

# A folder of what several backends share.
function(keramos_backend_family name)
  set(KERAMOS_BACKEND_FAMILIES ${KERAMOS_BACKEND_FAMILIES} ${name} PARENT_SCOPE)
endfunction()

# Sets KERAMOS_BACKENDS (best first) and KERAMOS_BACKEND_FAMILIES.
macro(keramos_read_backends)
  set(KERAMOS_BACKENDS "")
  set(KERAMOS_BACKEND_FAMILIES "")
  file(GLOB backend_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/backends/*/backend.cmake")
  foreach(file IN LISTS backend_files)
    include("${file}")
  endforeach()
  keramos_sort_backends()
endmacro()

function(keramos_sort_backends)
  list(TRANSFORM KERAMOS_BACKENDS REPLACE "(.+)" "\${KERAMOS_\\1_PRIORITY}:\\1" OUTPUT_VARIABLE keys)
  string(CONFIGURE "${keys}" keys)
  list(SORT keys COMPARE NATURAL ORDER DESCENDING)
  list(TRANSFORM keys REPLACE "^.*:" "")
  set(KERAMOS_BACKENDS ${keys} PARENT_SCOPE)
endfunction()

# Sets KERAMOS_DEFAULT_BACKEND: KERAMOS_BACKEND, or the best that the Kokkos at hand has; and
# KERAMOS_ENABLED_BACKENDS: all that it has, for one binary may use several.
function(keramos_choose_backend)
  set(enabled "")
  foreach(name IN LISTS KERAMOS_BACKENDS)
    if(KERAMOS_${name}_DEVICE IN_LIST KERAMOS_KOKKOS_DEVICES)
      list(APPEND enabled ${name})
    endif()
  endforeach()
  string(REPLACE ";" ", " has "${KERAMOS_KOKKOS_DEVICES}")
  set(found "  found    Kokkos ${KERAMOS_KOKKOS_VERSION}\n"
            "  where    ${KERAMOS_KOKKOS_WHERE}\n"
            "  devices  ${has}\n"
            "Do one of these:\n")
  list(JOIN found "" found)
  if(NOT enabled)
    list(TRANSFORM KERAMOS_BACKENDS REPLACE "(.+)" "\${KERAMOS_\\1_DEVICE}" OUTPUT_VARIABLE known)
    string(CONFIGURE "${known}" known)
    list(JOIN known ", " known)
    keramos_forget_kokkos()
    message(FATAL_ERROR
      "Keramos: no device of this Kokkos is one that Keramos runs on.\n${found}"
      "  name a Kokkos built with one of ${known}: -DCMAKE_PREFIX_PATH=<its prefix>${KERAMOS_KOKKOS_FORGET}\n"
      "  build Kokkos ${KERAMOS_FETCH_KOKKOS_VERSION} from its release: -DKERAMOS_FETCH_KOKKOS=ON\n")
  elseif(NOT KERAMOS_BACKEND)
    list(GET enabled 0 default)
  elseif(KERAMOS_BACKEND IN_LIST enabled)
    set(default ${KERAMOS_BACKEND})
  else()
    set(device ${KERAMOS_${KERAMOS_BACKEND}_DEVICE})
    list(GET enabled 0 best)
    keramos_forget_kokkos()
    message(FATAL_ERROR
      "Keramos: KERAMOS_BACKEND=${KERAMOS_BACKEND} needs a Kokkos with ${device}, and this one has none.\n${found}"
      "  take what this Kokkos has: -DKERAMOS_BACKEND=${best}\n"
      "  name a Kokkos built with -DKokkos_ENABLE_${device}=ON: -DCMAKE_PREFIX_PATH=<its prefix>${KERAMOS_KOKKOS_FORGET}\n"
      "  build Kokkos ${KERAMOS_FETCH_KOKKOS_VERSION} with ${device} from its release: -DKERAMOS_FETCH_KOKKOS=ON\n")
  endif()
  set(KERAMOS_DEFAULT_BACKEND ${default} PARENT_SCOPE)
  set(KERAMOS_ENABLED_BACKENDS ${enabled} PARENT_SCOPE)
endfunction()

# How sources with code for an enabled backend's devices are compiled: its backend.cmake may define
# keramos_compile_devices_of_<name>. A macro, so that these set variables of the caller's.
macro(keramos_compile_devices)
  foreach(name IN LISTS KERAMOS_ENABLED_BACKENDS)
    if(COMMAND keramos_compile_devices_of_${name})
      cmake_language(CALL keramos_compile_devices_of_${name})
    endif()
  endforeach()
endmacro()

# What an enabled backend compiles with flags of its own: its backend.cmake may define keramos_add_kernels_of_<name>.
function(keramos_add_backend_kernels library)
  foreach(name IN LISTS KERAMOS_ENABLED_BACKENDS)
    if(COMMAND keramos_add_kernels_of_${name})
      cmake_language(CALL keramos_add_kernels_of_${name} ${library})
    endif()
  endforeach()
endfunction()

# What carries matrices between the devices of the default backend (backends/device_link.hpp), if its library is found: its
# backend.cmake may define keramos_add_link_of_<name>.
function(keramos_add_device_link library)
  if(COMMAND keramos_add_link_of_${KERAMOS_DEFAULT_BACKEND})
    cmake_language(CALL keramos_add_link_of_${KERAMOS_DEFAULT_BACKEND} ${library})
  endif()
endfunction()

# Writes the headers that depend on the Kokkos at hand into <build>/include/keramos.
function(keramos_generate_headers)
  set(out "${PROJECT_BINARY_DIR}/include/keramos")
  set(includes "")
  set(checks "")
  set(spaces "")
  foreach(name IN LISTS KERAMOS_ENABLED_BACKENDS)
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/backends/${name}/*.hpp")
    foreach(header IN LISTS headers)
      string(APPEND includes "#include <keramos/${header}>\n")
    endforeach()
    string(APPEND checks "static_assert(keramos::backend::is_complete<${KERAMOS_${name}_SPACE}>());\n")
    string(APPEND spaces " X(${KERAMOS_${name}_SPACE})")
  endforeach()
  set(note "// Generated by CMake from backends/*/backend.cmake and the Kokkos that was found.\n#pragma once\n")
  file(CONFIGURE OUTPUT "${out}/enabled_backends.hpp" @ONLY CONTENT
"${note}
${includes}#include <keramos/backends/concepts.hpp>

${checks}
// Every execution space that this build has.
#define KERAMOS_FOR_EACH_SPACE(X)${spaces}
")
  set(KERAMOS_DEFAULT_SPACE ${KERAMOS_${KERAMOS_DEFAULT_BACKEND}_SPACE})
  configure_file(src/keramos/config.hpp.in "${out}/config.hpp" @ONLY)
  configure_file(src/keramos/products.hpp.in "${out}/products.hpp" @ONLY)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/backends" "${out}/backends" SYMBOLIC)
endfunction()
