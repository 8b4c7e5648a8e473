# Finds an installed Kokkos: for Keramos' own build and, installed beside KeramosConfig.cmake, for
# those who use Keramos. After keramos_find_kokkos() these are set, if Kokkos::kokkos exists:
#   KERAMOS_KOKKOS_VERSION   3.4.1 ... 5.2.2
#   KERAMOS_KOKKOS_DEVICES   of CUDA HIP SYCL OPENMP THREADS SERIAL ..., as in KOKKOS_ENABLE_<device>
#   KERAMOS_KOKKOS_OPTIONS   all that it was configured with: ENABLE_<x> and ARCH_<x>, sorted
#   KERAMOS_KOKKOS_WHERE     the folder that holds its KokkosCore_config.h
#   KERAMOS_KOKKOS_LANGUAGE  CMake language of the sources that include it: CXX, CUDA or HIP
# KERAMOS_KOKKOS_REFUSED says why packages that were there did not do, such as for want of OpenMP.
include_guard()

# Call before refusing the Kokkos that was found: in the cache it would come before those that the user names next. One that
# somebody else put there stays, and KERAMOS_KOKKOS_FORGET says what the user adds, "" or an option of cmake.
macro(keramos_forget_kokkos)
  set(KERAMOS_KOKKOS_FORGET "")
  if(Kokkos_DIR AND Kokkos_DIR STREQUAL KERAMOS_FOUND_KOKKOS_DIR)
    unset(Kokkos_DIR CACHE)
  elseif(Kokkos_DIR)
    set(KERAMOS_KOKKOS_FORGET " -UKokkos_DIR")
  endif()
endmacro()

# Debian's and Ubuntu's libtrilinos-kokkos-dev (Kokkos 3.4.01) has its headers in include/trilinos,
# but its Kokkos::kokkos names <prefix>/lib/include, which does not exist. The variable is right.
function(keramos_repair_trilinos_kokkos)
  if(TARGET trilinos_kokkoscore AND Kokkos_INCLUDE_DIRS MATCHES "trilinos$")
    file(REAL_PATH "${Kokkos_INCLUDE_DIRS}" include)
    set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${include}")
  endif()
endfunction()

# Debian's libkokkos-dev (Kokkos 5.2.2) lacks two archives that its package file names; they are
# empty in any Kokkos. Call before find_package: the file's own check of the two is skipped, by the
# variable with which CMake skips it for Apple's frameworks. And after it: they are not linked.
macro(keramos_tolerate_missing_archives)
  foreach(library IN ITEMS Kokkos::kokkosalgorithms Kokkos::kokkossimd)
    set(_cmake_import_check_xcframework_for_${library} "${CMAKE_CURRENT_SOURCE_DIR}")
  endforeach()
endmacro()
function(keramos_drop_missing_archives)
  get_target_property(libraries Kokkos::kokkos INTERFACE_LINK_LIBRARIES)
  foreach(library IN ITEMS Kokkos::kokkosalgorithms Kokkos::kokkossimd)
    if(TARGET ${library})
      get_target_property(location ${library} LOCATION)
      if(location AND NOT EXISTS "${location}")
        list(REMOVE_ITEM libraries ${library})
        set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
      endif()
    endif()
  endforeach()
endfunction()

# KOKKOS_VERSION is 30401 for 3.4.1.
function(keramos_version_string variable major minor patch)
  math(EXPR minor "1${minor} - 100")
  math(EXPR patch "1${patch} - 100")
  set(${variable} ${major}.${minor}.${patch} PARENT_SCOPE)
endfunction()

# Asks the header that every version has, because the packages' variables differ from version to
# version and a target that a parent project made comes without any.
function(keramos_inspect_kokkos)
  set(includes "")
  foreach(target IN ITEMS Kokkos::kokkos Kokkos::kokkoscore)
    if(TARGET ${target})
      get_target_property(of_target ${target} INTERFACE_INCLUDE_DIRECTORIES)
      list(APPEND includes ${of_target})
    endif()
  endforeach()
  list(TRANSFORM includes REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1")
  unset(KERAMOS_KOKKOS_WHERE)
  find_path(KERAMOS_KOKKOS_WHERE KokkosCore_config.h PATHS ${includes} NO_DEFAULT_PATH NO_CACHE)
  if(NOT KERAMOS_KOKKOS_WHERE)
    keramos_forget_kokkos()
    message(FATAL_ERROR "Keramos: the target Kokkos::kokkos leads to no KokkosCore_config.h "
                        "(searched: ${includes}). Its package is broken: name another Kokkos: "
                        "-DCMAKE_PREFIX_PATH=<its prefix>${KERAMOS_KOKKOS_FORGET}")
  endif()
  string(REGEX REPLACE "/$" "" where "${KERAMOS_KOKKOS_WHERE}")
  file(STRINGS "${where}/KokkosCore_config.h" defines REGEX "^#define KOKKOS_(VERSION|ENABLE_[A-Z0-9_]+|ARCH_[A-Z0-9_]+) *[0-9]*$")
  set(devices "")
  set(options "")
  foreach(line IN LISTS defines)
    if(line MATCHES "KOKKOS_VERSION ([0-9]+)([0-9][0-9])([0-9][0-9])")
      keramos_version_string(KERAMOS_KOKKOS_VERSION ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3})
      set(KERAMOS_KOKKOS_VERSION ${KERAMOS_KOKKOS_VERSION} PARENT_SCOPE)
      continue()
    endif()
    string(REGEX REPLACE "^#define KOKKOS_([A-Z0-9_]+).*$" "\\1" option "${line}")
    list(APPEND options ${option})
    if(line MATCHES "KOKKOS_ENABLE_(SERIAL|THREADS|OPENMP|HPX|OPENMPTARGET|OPENACC|SYCL|HIP|CUDA) *$")
      list(APPEND devices ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(FILTER options EXCLUDE REGEX "WARNINGS$|_TESTS$")  # which change no code
  list(SORT options)
  set(language CXX)
  if(Kokkos_COMPILE_LANGUAGE MATCHES "CUDA|HIP")  # Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE
    set(language ${Kokkos_COMPILE_LANGUAGE})
  endif()
  set(KERAMOS_KOKKOS_WHERE "${where}" PARENT_SCOPE)
  set(KERAMOS_KOKKOS_DEVICES "${devices}" PARENT_SCOPE)
  set(KERAMOS_KOKKOS_OPTIONS "${options}" PARENT_SCOPE)
  set(KERAMOS_KOKKOS_LANGUAGE ${language} PARENT_SCOPE)
  # These outlive add_subdirectory.
  set_property(GLOBAL PROPERTY KERAMOS_KOKKOS_LANGUAGE ${language})
  set_property(GLOBAL PROPERTY KERAMOS_KOKKOS_WHERE "${where}")
endfunction()

# A macro, because Kokkos' package sets variables that Kokkos Kernels' package reads.
# Arguments are passed on to find_package.
macro(keramos_find_kokkos)
  set(KERAMOS_KOKKOS_REFUSED "")
  if(NOT TARGET Kokkos::kokkos)
    set(KERAMOS_KOKKOS_GIVEN "${Kokkos_DIR}")
    keramos_tolerate_missing_archives()
    if(DEFINED CMAKE_CXX_EXTENSIONS)
      find_package(Kokkos CONFIG QUIET ${ARGN})
    else()
      set(CMAKE_CXX_EXTENSIONS OFF)  # else Kokkos 3.4 warns and puts this into the cache
      find_package(Kokkos CONFIG QUIET ${ARGN})
      unset(CMAKE_CXX_EXTENSIONS)
    endif()
    if(NOT KERAMOS_KOKKOS_GIVEN)
      set(KERAMOS_FOUND_KOKKOS_DIR "${Kokkos_DIR}" CACHE INTERNAL "that find_package(Kokkos) of Keramos found")
    endif()
    if(NOT Kokkos_FOUND AND Kokkos_CONSIDERED_CONFIGS)
      list(JOIN Kokkos_CONSIDERED_CONFIGS ", " KERAMOS_KOKKOS_REFUSED)
      string(APPEND KERAMOS_KOKKOS_REFUSED " did not do (${Kokkos_NOT_FOUND_MESSAGE})")
    endif()
  endif()
  if(TARGET Kokkos::kokkos)
    get_target_property(Kokkos_is_imported Kokkos::kokkos IMPORTED)
    if(Kokkos_is_imported)
      keramos_repair_trilinos_kokkos()
      keramos_drop_missing_archives()
    endif()
    keramos_inspect_kokkos()
  endif()
endmacro()

# For each target that includes Keramos: its sources are compiled in the language that Kokkos was
# built in. Does nothing where that is C++.
function(keramos_sources_language target)
  get_property(language GLOBAL PROPERTY KERAMOS_KOKKOS_LANGUAGE)
  if(NOT language STREQUAL CXX)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE ${language})
  endif()
endfunction()
