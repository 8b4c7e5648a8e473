# A library that became slower, measured and compared as a user does.
#   cmake -DPROGRAM=keramos-perf -DSLOW_CBLAS=libslow_cblas.so -P slowdown.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)
foreach(percent IN ITEMS 0 100)
  set(ENV{SLOW_CBLAS_PERCENT} ${percent})
  run(0 gemm --provider keramos,blas=${SLOW_CBLAS} --size 32:128:+16 --sets 2 --repetitions 5 --output slow-${percent}.json)
endforeach()

# Each repetition is kept, of all providers.
file(READ slow-0.json text)
foreach(row IN ITEMS 0 1)
  string(JSON samples LENGTH "${text}" results ${row} samples_s)
  if(NOT samples EQUAL 5)
    message(SEND_ERROR "row ${row} has ${samples} samples of 5 repetitions")
  endif()
endforeach()

run(1 compare slow-0.json slow-100.json --provider slowblas-1.0)
expect("${out}" "judged: 14 cases by each round's times")
expect("${out}" "slowblas-1.0 +SLOWER, FAIL.*[1-9] groups slower: FAILED\n$")
run(0 compare slow-100.json slow-0.json --provider slowblas-1.0)
expect("${out}" "slowblas-1.0 +faster.*0 groups slower: passed\n$")
run(0 compare slow-0.json slow-0.json)
