# keramos_add_fused_sources: sources that call products with epilogues of their own (keramos/gemm/fused.hpp).
#
# Kernels of warpgroups are code for one architecture alone: sm_90a, of GPUs for which Kokkos compiles sm_90. So such
# sources are an object library, which gets what their target has, but for that flag.

# Whether Kokkos compiles for GPUs that have warpgroups.
function(keramos_has_warpgroups variable)
  get_property(where GLOBAL PROPERTY KERAMOS_KOKKOS_WHERE)
  file(STRINGS "${where}/KokkosCore_config.h" hopper REGEX "^#define KOKKOS_ARCH_HOPPER90 *$")
  if(hopper)
    set(${variable} TRUE PARENT_SCOPE)
  else()
    set(${variable} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Makes an object library one for that architecture, with flags of Kokkos that are given.
function(keramos_compile_for_warpgroups object options)
  get_property(language GLOBAL PROPERTY KERAMOS_KOKKOS_LANGUAGE)
  if(language STREQUAL CUDA)
    set_target_properties(${object} PROPERTIES CUDA_ARCHITECTURES 90a-real)
    target_compile_options(${object} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    keramos_sources_language(${object})
  endif()
  set(architecture -gencode=arch=compute_90a,code=sm_90a)  # not sm_90a for short: nvcc would compile PTX too
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    set(architecture --cuda-gpu-arch=sm_90a)
  endif()
  target_compile_options(${object} PRIVATE "$<FILTER:${options},EXCLUDE,arch=sm_90>"
                                           $<$<COMPILE_LANGUAGE:CXX>:${architecture}>)
endfunction()

# Adds sources to a target. Where Kokkos compiles for GPUs with warpgroups their tiles then take epilogues of these sources;
# elsewhere this is target_sources. Call it when the target's libraries and properties are set: some are copied then.
function(keramos_add_fused_sources target)  # and its sources
  keramos_has_warpgroups(has_warpgroups)
  if(NOT has_warpgroups)
    target_sources(${target} PRIVATE ${ARGN})
    keramos_sources_language(${target})
    return()
  endif()
  string(MD5 number "${ARGN}")
  string(SUBSTRING ${number} 0 8 number)
  set(object ${target}_fused_${number})
  add_library(${object} OBJECT ${ARGN})
  foreach(property IN ITEMS CXX_STANDARD CXX_STANDARD_REQUIRED CXX_EXTENSIONS CXX_VISIBILITY_PRESET
                            VISIBILITY_INLINES_HIDDEN CUDA_STANDARD CUDA_SEPARABLE_COMPILATION)
    get_target_property(value ${target} ${property})
    if(NOT value MATCHES "-NOTFOUND$")
      set_target_properties(${object} PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  set_target_properties(${object} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${object} PRIVATE cxx_std_20)
  target_include_directories(${object} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_compile_definitions(${object} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>
                                               KERAMOS_FUSES_ON_WARPGROUPS)
  # Headers of imported targets are the system's, as they are for the target; what others make comes first.
  get_target_property(libraries ${target} LINK_LIBRARIES)
  get_target_property(first ${target} MANUALLY_ADDED_DEPENDENCIES)
  foreach(library IN LISTS libraries first)
    if(TARGET "${library}")
      get_target_property(is_imported ${library} IMPORTED)
      if(is_imported)
        target_include_directories(${object} SYSTEM PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
      else()
        add_dependencies(${object} ${library})
      endif()
    endif()
  endforeach()
  target_include_directories(${object} SYSTEM
                             PRIVATE $<TARGET_PROPERTY:Kokkos::kokkos,INTERFACE_INCLUDE_DIRECTORIES>)
  keramos_compile_for_warpgroups(${object} "$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>")
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
endfunction()
