# A library that hangs fails its row, with the reason, and the rest is measured.
#   cmake -DPROGRAM=keramos-perf -DWRONG_CBLAS=libwrong_cblas.so -P hang.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)
set(quick --type f64 --n 9 --k 9 --repetitions 2 --sets 1 --provider-timeout 5)

# In its first call, and in its 21st; the next case gets a new process.
foreach(rows IN ITEMS 667 668)
  file(REMOVE hang.json)
  run(1 gemm --provider keramos,blas=${WRONG_CBLAS} --m 8,${rows},24 ${quick} --output hang.json)
  expect("${out}" "wrongblas-1.0: FAILED: no answer for [0-9]+ s")
  expect_json(hang.json ON context complete)
  expect_json(hang.json ${rows} results 3 m)
  expect_json(hang.json failed results 3 status)
  file(READ hang.json json)
  string(JSON why GET "${json}" results 3 reason)
  expect("${why}" "^no answer for [0-9]+ s[^\n]*--provider-timeout")
  expect_json(hang.json ON results 4 verified)
  expect_json(hang.json OFF results 5 verified)  # that library's mistake
endforeach()

# While it is loaded.
set(ENV{WRONG_CBLAS_HANGS} 1)
run(1 gemm --provider blas=${WRONG_CBLAS},keramos --m 8 ${quick} --output hang.json)
expect("${err}" "no blas: no answer for")
expect_json(hang.json unavailable results 0 status)
expect_json(hang.json ON results 1 verified)
