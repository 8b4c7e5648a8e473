# Builds the pinned Kokkos release as part of this build, with the backend asked for.
include(FetchContent)

set(KERAMOS_FETCH_KOKKOS_VERSION 5.2.2)
FetchContent_Declare(kokkos
  URL https://github.com/kokkos/kokkos/releases/download/5.2.2/kokkos-5.2.2.tar.gz
  URL_HASH SHA256=d6557aaef39302282a15f9c770433d1fcdf4e961dfd6d9ed726b9d0d0f546b9f)

# Sets Kokkos_ARCH_<x> for a GPU backend, from KERAMOS_GPU_ARCH or from the machine, unless one is
# given. If neither knows, Kokkos looks for the device itself and stops if it sees none.
macro(keramos_set_gpu_arch backend)
  get_cmake_property(cached CACHE_VARIABLES)
  list(FILTER cached INCLUDE REGEX "^Kokkos_ARCH_")
  set(arch "${KERAMOS_GPU_ARCH}")
  if(NOT arch AND NOT cached AND KERAMOS_${backend}_ARCH_QUERY)
    execute_process(COMMAND ${KERAMOS_${backend}_ARCH_QUERY} OUTPUT_VARIABLE arch ERROR_QUIET)
    string(REGEX MATCH "[^\n]+" arch "${arch}")  # one device decides for all
  endif()
  if(arch)
    string(REGEX REPLACE "sm_|\\." "" arch "${arch}")
    set(known ${KERAMOS_${backend}_ARCHS})
    list(FILTER known INCLUDE REGEX "(^|=)${arch}(=|$)")
    if(NOT known)
      message(FATAL_ERROR "Keramos: GPU architecture '${arch}' is not in backends/${backend}/backend.cmake "
                          "(${KERAMOS_${backend}_ARCHS}). Set KERAMOS_GPU_ARCH to one of those, or "
                          "-DKokkos_ARCH_<name>=ON to one that Kokkos has.")
    endif()
    string(REPLACE "=" ";" known "${known}")
    list(GET known 0 native)
    list(GET known 1 arch)
    set(Kokkos_ARCH_${arch} ON CACHE BOOL "chosen by Keramos")
    set(CMAKE_${KERAMOS_${backend}_DEVICE}_ARCHITECTURES ${native})  # for CUDA or HIP as a language
  endif()
endmacro()

# A macro, because it enables a language.
macro(keramos_fetch_kokkos)
  unset(KokkosKernels_DIR CACHE)  # of another Kokkos, found before
  set(backend ${KERAMOS_BACKEND})
  if(NOT backend)
    find_package(OpenMP QUIET COMPONENTS CXX)
    set(backend serial)
    if(OpenMP_CXX_FOUND)
      set(backend openmp)
    endif()
  endif()
  message(STATUS "Keramos: fetching Kokkos ${KERAMOS_FETCH_KOKKOS_VERSION} and building it with "
                 "${KERAMOS_${backend}_DEVICE} (without network: unpack that release and set "
                 "-DFETCHCONTENT_SOURCE_DIR_KOKKOS=<folder>, or name an installed Kokkos in CMAKE_PREFIX_PATH)")
  set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "chosen by Keramos")
  set(Kokkos_ENABLE_${KERAMOS_${backend}_DEVICE} ON CACHE BOOL "chosen by Keramos")
  if(KERAMOS_NATIVE)
    set(Kokkos_ARCH_NATIVE ON CACHE BOOL "chosen by Keramos")
  endif()
  keramos_set_gpu_arch(${backend})
  # CUDA with a plain C++ compiler: Kokkos puts its nvcc_wrapper before each compilation that
  # includes it. The other way, CMake's language, is the user's choice.
  if(Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE)
    set(Kokkos_COMPILE_LANGUAGE ${KERAMOS_${backend}_DEVICE})
    enable_language(${Kokkos_COMPILE_LANGUAGE})
  endif()
  set(CMAKE_CXX_STANDARD 20)
  FetchContent_MakeAvailable(kokkos)
endmacro()
