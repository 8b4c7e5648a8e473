# keramos-perf support: from a run of tests to a recording and its table.
#   cmake -DPROGRAM=keramos-perf -DTESTS=gemm_tests -P support.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)

file(REMOVE support_lines.json support.json)
execute_process(COMMAND ${CMAKE_COMMAND} -E env KERAMOS_SUPPORT_FILE=support_lines.json
                        ${TESTS} --gtest_filter=Gemm/0.EveryOpAndLayoutInAnyMix:GemmLabels.*
                RESULT_VARIABLE status OUTPUT_VARIABLE out)
if(NOT status EQUAL 0)
  message(SEND_ERROR "gemm_tests: ${out}")
endif()
run(0 support --record support_lines.json --output support.json)
expect("${out}" "\ntype +form +NN  NT  NC  TN  TT  TC  CN  CT  CC\nf32 +product( +27)(  27)(  27)(  27)(  27)(  27)(  27)(  27)(  27)\n$")
set(recorded "${out}")
run(0 support --file support.json)
if(NOT out STREQUAL recorded)
  message(SEND_ERROR "the recording reads differently")
endif()

# A product whose test failed is none that is supported.
file(READ support_lines.json lines)
string(REGEX REPLACE "true" "false" lines "${lines}")
file(WRITE support_failed.json "${lines}")
run(2 support --record support_failed.json --output support.json)
expect("${err}" "^keramos-perf: support_failed.json: a test of f32, product, [^\n]* failed: write [^\n]*\n$")

run(0 support)  # what the documentation quotes
expect("${out}" "\nf32 +product ")
foreach(arguments IN ITEMS "--file;none.json" "--record;support_lines.json" "--output;support.json"
                           "--file;support_lines.json" "--record;none;--output;x.json")
  run(2 support ${arguments})
  expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")
endforeach()
