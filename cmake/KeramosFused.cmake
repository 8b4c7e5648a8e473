# keramos_add_fused_sources: sources that call products with epilogues of their own (keramos/gemm/fused.hpp).
#
# Kernels of warpgroups are code for one architecture alone: sm_90a, of GPUs for which Kokkos compiles sm_90. So such
# sources get all flags of their target, but for that one.

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
  # Not sm_90a for short: nvcc would compile PTX as well, which nothing runs.
  set(architecture -gencode=arch=compute_90a,code=sm_90a)
  target_compile_options(${object} PRIVATE "$<FILTER:${options},EXCLUDE,arch=sm_90>"
                                           $<$<COMPILE_LANGUAGE:CXX>:${architecture}>)
endfunction()

# Adds sources to a target. Where Kokkos compiles for GPUs with warpgroups their tiles then take epilogues of these sources;
# elsewhere this is target_sources.
function(keramos_add_fused_sources target)  # and its sources
  keramos_has_warpgroups(has_warpgroups)
  if(NOT has_warpgroups)
    target_sources(${target} PRIVATE ${ARGN})
    return()
  endif()
  string(MD5 number "${ARGN}")
  string(SUBSTRING ${number} 0 8 number)
  set(object ${target}_fused_${number})
  add_library(${object} OBJECT ${ARGN})
  set_target_properties(${object} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${object} PRIVATE cxx_std_20)
  target_include_directories(${object} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_include_directories(${object} SYSTEM
                             PRIVATE $<TARGET_PROPERTY:Kokkos::kokkos,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(${object} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>
                                               KERAMOS_FUSES_ON_WARPGROUPS)
  keramos_compile_for_warpgroups(${object} "$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>")
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
endfunction()
