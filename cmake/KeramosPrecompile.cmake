# Kokkos' headers take a compiler a second to read. On hosts they are precompiled, so that a target reads them once.
option(KERAMOS_PRECOMPILE "Precompile Kokkos' headers, on hosts: builds take less time" ${PROJECT_IS_TOP_LEVEL})
mark_as_advanced(KERAMOS_PRECOMPILE)

# keramos_precompile(<target> <headers...>), or REUSE_FROM and a target whose headers it takes: one with the same flags.
function(keramos_precompile target)
  if(KERAMOS_PRECOMPILE AND KERAMOS_KOKKOS_LANGUAGE STREQUAL CXX AND NOT KERAMOS_HOST_ONLY AND
     KERAMOS_DEFAULT_BACKEND MATCHES "^(serial|openmp|threads)$")
    set(scope PRIVATE)
    if(ARGN MATCHES "^REUSE_FROM;")
      set(scope "")
    endif()
    target_precompile_headers(${target} ${scope} ${ARGN})
  endif()
endfunction()
