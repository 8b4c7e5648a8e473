# keramos-perf compare and portability, as a user runs them on files.
#   cmake -DPROGRAM=keramos-perf -DDATA=tests/perf/data -P compare.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)
set(old ${DATA}/gpu.json)

# The same file: silent, status 0.
run(0 compare ${old} ${old})
expect("${out}" "16 cases of keramos: 0 slower beyond 1.25, 0 beyond 1.10.*passed\n$")

# One case is 30 % slower: found and named, status 1; a limit above it lets it pass.
set(slow ${DATA}/gpu-one-slower.json)
run(1 compare ${old} ${slow})
expect("${out}" "keramos +f32 NN right 256 +SLOWER, FAIL")
expect("${out}" "1 slower beyond 1.25.*FAILED\n$")
run(0 compare ${old} ${slow} --warn 2 --fail 3)
run(1 compare ${old} ${slow} --format json)
string(JSON passed GET "${out}" passed)
if(passed)
  message(SEND_ERROR "passed is ${passed}")
endif()

# What must not be compared is not, until it is insisted on.
run(2 compare ${old} ${DATA}/host-1-thread.json)
expect("${err}" "^keramos-perf: different devices[^\n]*write --different-devices[^\n]*\n$")
run(1 compare ${old} ${DATA}/host-1-thread.json --different-devices --allow-gone)
foreach(arguments IN ITEMS "none.json;${old}" "${old}" "${old};${old};--warn;0.5" "${old};${old};--provider;magic"
                           "${old};${old};--where;type=f99" "${old};${CMAKE_CURRENT_LIST_FILE}")
  run(2 compare ${arguments})
  expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")
endforeach()

# The metric and its plot, over recorded platforms.
file(REMOVE cascade-application.svg cascade-architectural.svg)
run(0 portability ${old} ${DATA}/host-1-thread.json ${DATA}/host-16-threads.json
    --where type=f32 --plot cascade.svg --problems)
expect("${out}" "4 problems measured on all of 3 platforms")
expect("${out}" "cublas +none +none|cublas +1.000 +none +none +0.000")
foreach(kind IN ITEMS application architectural)
  file(READ cascade-${kind}.svg svg)
  expect("${svg}" "^<svg .*polyline.*</svg>\n$")
endforeach()
foreach(arguments IN ITEMS "${old}" "${old};${DATA}/host-1-thread.json;--efficiency;magic")
  run(2 portability ${arguments})
  expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")
endforeach()
