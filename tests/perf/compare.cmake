# keramos-perf compare and portability, as a user runs them on files.
#   cmake -DPROGRAM=keramos-perf -DBASELINES=perf/baselines -P compare.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)
set(old ${BASELINES}/h200-ops.json)

# The same file: silent, status 0.
run(0 compare ${old} ${old})
expect("${out}" "64 cases of keramos: 0 slower beyond 1.25, 0 beyond 1.10.*passed\n$")

# One case made 30 % slower: found and named, status 1; a limit above it lets it pass.
file(READ ${old} json)
string(JSON median GET "${json}" results 0 median_s)
string(JSON size GET "${json}" results 0 m)
string(JSON iqr GET "${json}" results 0 iqr_s)
string(REGEX MATCH "^([0-9]+)\\.?([0-9]*)e-05$" plain "${median}")
if(NOT plain)
  message(FATAL_ERROR "the first case of ${old} is expected to take some 10 us, not ${median}")
endif()
math(EXPR slower "${CMAKE_MATCH_1} * 1300 / 1000 + 1")
string(JSON json SET "${json}" results 0 median_s "${slower}.4e-05")
file(WRITE slow.json "${json}")
run(1 compare ${old} slow.json)
expect("${out}" "keramos +f32 NN right ${size} +SLOWER, FAIL")
expect("${out}" "1 slower beyond 1.25.*FAILED\n$")
run(0 compare ${old} slow.json --warn 2 --fail 3)
run(1 compare ${old} slow.json --format json)
string(JSON passed GET "${out}" passed)
if(passed)
  message(SEND_ERROR "passed is ${passed}")
endif()

# What must not be compared is not, until it is insisted on.
run(2 compare ${old} ${BASELINES}/emerald-rapids-1-thread.json)
expect("${err}" "^keramos-perf: different devices[^\n]*write --different-devices[^\n]*\n$")
run(1 compare ${old} ${BASELINES}/emerald-rapids-1-thread.json --different-devices --allow-gone)
foreach(arguments IN ITEMS "none.json;${old}" "${old}" "${old};${old};--warn;0.5" "${old};${old};--provider;magic"
                           "${old};${old};--where;type=f99" "${old};${CMAKE_CURRENT_LIST_FILE}")
  run(2 compare ${arguments})
  expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")
endforeach()

# The metric and its plot, over recorded platforms.
file(REMOVE cascade-application.svg cascade-architectural.svg)
run(0 portability ${old} ${BASELINES}/emerald-rapids-1-thread.json ${BASELINES}/emerald-rapids-16-threads.json
    --where type=f32 --plot cascade.svg --problems)
expect("${out}" "4 problems measured on all of 3 platforms")
expect("${out}" "cublas +none +none|cublas +1.000 +none +none +0.000")
foreach(kind IN ITEMS application architectural)
  file(READ cascade-${kind}.svg svg)
  expect("${svg}" "^<svg .*polyline.*</svg>\n$")
endforeach()
foreach(arguments IN ITEMS "${old}" "${old};${BASELINES}/emerald-rapids-1-thread.json;--efficiency;magic")
  run(2 portability ${arguments})
  expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")
endforeach()
