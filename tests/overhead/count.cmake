# Each function of OBJECT that ends with _keramos has at most 5 % more instructions than its namesake that ends with
# _kokkos.   cmake -DOBJECT=code.o -DOBJDUMP=objdump -P count.cmake
execute_process(COMMAND ${OBJDUMP} -d --no-show-raw-insn ${OBJECT} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "," text "${text}")
string(REPLACE "\n" ";" lines "${text}")
set(function "")
foreach(line IN LISTS lines)
  if(line MATCHES "^[0-9a-f]+ <([a-z]+_(keramos|kokkos))(\\..*)?>:")  # with its cold parts
    set(function ${CMAKE_MATCH_1})
  elseif(line MATCHES "^[0-9a-f]+ <")
    set(function "")
  elseif(function AND line MATCHES "^ *[0-9a-f]+:\t" AND NOT line MATCHES "\t(nop|xchg +%ax,%ax|data16|cs nop)")
    math(EXPR count_${function} "0${count_${function}} + 1")
  endif()
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/judge.cmake)
