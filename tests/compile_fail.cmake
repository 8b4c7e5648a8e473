# Builds TARGET in BUILD. With EXPECT the build must fail with a message that matches it; without,
# it must succeed. With ONE that message is the only error, and the compiler says it in no more lines than a screen has.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target ${TARGET}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(EXPECT STREQUAL "")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "must compile, and does not:\n${output}")
  endif()
elseif(result EQUAL 0)
  message(FATAL_ERROR "compiles, but must fail with: ${EXPECT}")
elseif(NOT output MATCHES "error: [^\n]*${EXPECT}")
  message(FATAL_ERROR "fails, but not with: ${EXPECT}\n${output}")
elseif(NOT ONE STREQUAL "")
  string(REGEX MATCHALL "error: " errors "${output}")
  # What the build tool adds is not counted: its steps, the command that failed, and that it stops.
  string(REGEX REPLACE "(^|\n)(\\[ *[0-9]+[/%]|FAILED|ninja|g?make|[^\n]* -c )[^\n]*" "" compiler "${output}")
  string(REGEX MATCHALL "\n" lines "${compiler}")
  list(LENGTH errors errors)
  list(LENGTH lines lines)
  if(errors GREATER 1 OR lines GREATER 25)
    message(FATAL_ERROR "fails with ${errors} errors in ${lines} lines, but must fail with one in 25 at most:\n${compiler}")
  endif()
endif()
