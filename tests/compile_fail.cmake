# Builds TARGET in BUILD. With EXPECT the build must fail with a message that matches it; without,
# it must succeed.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target ${TARGET}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(EXPECT STREQUAL "")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "must compile, and does not:\n${output}")
  endif()
elseif(result EQUAL 0)
  message(FATAL_ERROR "compiles, but must fail with: ${EXPECT}")
elseif(NOT output MATCHES "${EXPECT}")
  message(FATAL_ERROR "fails, but not with: ${EXPECT}\n${output}")
endif()
