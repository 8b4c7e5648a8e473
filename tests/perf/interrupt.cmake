# Ctrl-C and SIGTERM: what is done is in the file, which is valid and says that it is incomplete, nobody waits for the
# end of a long product, and no worker is left.
#   cmake -DPROGRAM=keramos-perf -DWRONG_CBLAS=libwrong_cblas.so -P interrupt.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)
find_program(TIMEOUT timeout REQUIRED)
find_program(BASH bash REQUIRED)
# Of a name by which this test's workers are known.
file(COPY_FILE ${WRONG_CBLAS} ${CMAKE_CURRENT_BINARY_DIR}/interrupted_cblas.so)
set(WRONG_CBLAS ${CMAKE_CURRENT_BINARY_DIR}/interrupted_cblas.so)
function(expect_no_workers)
  execute_process(COMMAND pgrep -af "worker .*${WRONG_CBLAS}" OUTPUT_VARIABLE left)
  if(left)
    message(SEND_ERROR "workers are left: ${left}")
  endif()
endfunction()

# The first case takes no time; the second, of 667 rows, takes that library an hour.
function(interrupt signal status command wanted_rows)
  file(REMOVE interrupted.json)
  string(TIMESTAMP start %s)
  # Once the rows of the first case are in the file, and a second of the next case has passed.
  execute_process(COMMAND ${BASH} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/interrupt_when.sh ${signal} ${group}
                          "[[ -s interrupted.json ]] && (( $(grep -c '\"provider\":' interrupted.json) >= ${wanted_rows} )) && sleep 1"
                          ${PROGRAM} ${command} --provider ${others}blas=${WRONG_CBLAS} --type f64 --m 8,667 --n 9 --k 9
                                     --sets 1 --repetitions 2 ${ARGN} --output interrupted.json
                  RESULT_VARIABLE got OUTPUT_VARIABLE out ERROR_VARIABLE err)
  string(TIMESTAMP end %s)
  message("${out}${err}")
  if(NOT got EQUAL status)
    message(SEND_ERROR "exit status ${got} instead of ${status}")
  endif()
  math(EXPR took "${end} - ${start}")
  if(took GREATER 60)
    message(SEND_ERROR "it took ${took} s to end")
  endif()
  expect("${out}" "INCOMPLETE: interrupted by signal")
  expect("${err}" "^$")  # progress is for terminals only
  expect_no_workers()
  expect_json(interrupted.json OFF context complete)
  expect_json(interrupted.json 8 results 0 m)
  file(READ interrupted.json json)
  string(JSON rows LENGTH "${json}" results)
  if(NOT rows EQUAL wanted_rows)
    message(SEND_ERROR "${rows} rows instead of ${wanted_rows}")
  endif()
endfunction()

foreach(group IN ITEMS group alone)
  foreach(signal_status IN ITEMS "INT;130" "TERM;143")
    set(others "")
    interrupt(${signal_status} gemm 1)
    set(others keramos,)  # whose worker waits, stopped, for its next turn
    interrupt(${signal_status} gemm 2)
  endforeach()
endforeach()
set(others "")
set(group group)
interrupt(INT 130 gemm 1 --in-process)
interrupt(INT 130 ladder 12 --in-process)  # eleven steps and that library

# Before anything is measured: as soon as the program has a handler, which is the first that it does.
foreach(signal_status IN ITEMS "INT;130" "TERM;143")
  list(GET signal_status 0 signal)
  list(GET signal_status 1 status)
  execute_process(COMMAND ${BASH} ${CMAKE_CURRENT_LIST_DIR}/interrupt_when.sh ${signal} group true
                          ${PROGRAM} gemm --provider blas=${WRONG_CBLAS} --type f64 --m 667 --n 9 --k 9 --sets 1 --repetitions 2
                  RESULT_VARIABLE got OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT got EQUAL status)
    message(SEND_ERROR "interrupted at once it ends with status ${got} instead of ${status}: ${out}${err}")
  endif()
  expect("${out}${err}" "INCOMPLETE: interrupted by signal")
  expect_no_workers()
endforeach()

# At any moment of a run.
foreach(tenth RANGE 6 26 4)
  execute_process(COMMAND ${TIMEOUT} --preserve-status -s TERM -k 120 1.${tenth}
                          ${PROGRAM} gemm --provider keramos,blas=${WRONG_CBLAS} --type f64 --size 8:800:+1
                          --repetitions 2 --sets 1 --output interrupted.json
                  RESULT_VARIABLE got OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT got EQUAL 143)
    message(SEND_ERROR "interrupted after 1.${tenth} s it ends with status ${got}: ${out}${err}")
  endif()
  expect_no_workers()
endforeach()

# A run that nobody interrupts says that it is complete.
run(0 gemm --provider keramos --type f64 --size 8,16 --repetitions 2 --sets 1 --output interrupted.json)
expect_json(interrupted.json ON context complete)
