# Whether objects of the library can be linked with DPC++'s library: what is missing then is Kokkos', of which there is none for
# SYCL here, or in other objects of Keramos.
#   cmake "-DOBJECTS=<files>" -DLIBRARY=<libsycl.so> -DCOMPILER=<C++ compiler> -P linked.cmake
foreach(value IN ITEMS OBJECTS LIBRARY COMPILER)
  if(NOT ${value})
    message(FATAL_ERROR "-D${value}= is missing")
  endif()
endforeach()

# What is missing without LIBRARY, or with it.
function(missing output)
  execute_process(COMMAND ${COMPILER} -shared -o /dev/null ${OBJECTS} -Wl,-z,defs,--allow-shlib-undefined ${ARGN}
                  ERROR_VARIABLE text OUTPUT_QUIET)
  string(REPLACE ";" "," text "${text}")
  string(REGEX MATCHALL "undefined reference to `[^\n]*" lines "${text}")
  list(TRANSFORM lines REPLACE "^undefined reference to `(.*)'$" "\\1")
  list(REMOVE_DUPLICATES lines)
  set(${output} ${lines} PARENT_SCOPE)
endfunction()

missing(without)
missing(left ${LIBRARY})
list(LENGTH without all)
list(LENGTH left count)
math(EXPR found "${all} - ${count}")
if(found LESS 20)
  message(FATAL_ERROR "${LIBRARY} has ${found} of the ${all} names that are missing: something else is wrong")
endif()
list(FILTER left EXCLUDE REGEX "^((typeinfo|vtable) for )?(keramos|Kokkos)::")
if(left)
  list(JOIN left "\n" left)
  message(FATAL_ERROR "neither Kokkos', nor Keramos', nor in ${LIBRARY}:\n${left}")
endif()
message(STATUS "${found} names are in ${LIBRARY}; ${count} are Kokkos' or of other objects of Keramos")
