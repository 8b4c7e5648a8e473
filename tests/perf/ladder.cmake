# keramos-perf ladder as a user would call it.
#   cmake -DPROGRAM=keramos-perf -P ladder.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)

file(REMOVE ladder.json)
run(0 ladder --type f32,i32 --tile 8,32 --m 37 --n 41 --k 29 --repetitions 2 --sets 2 --provider keramos
    --seed 5 --output ladder.json)
expect("${out}" " 1 naive")
expect("${out}" "\\(uncoalesced\\) +NT")
expect("${out}" "i32, tile width 32, m x n x k = 37 x 41 x 29")
expect("${out}" "GOP/s")
expect_json(ladder.json "keramos-perf/1" schema)
expect_json(ladder.json "keramos-perf ladder" context tool)
expect_json(ladder.json ON context complete)
expect_json(ladder.json "ladder-8/naive" results 0 provider)
expect_json(ladder.json ON results 0 verified)
expect_json(ladder.json ON results 9 verified)
expect_json(ladder.json "outer_product" results 6 ladder step)
expect_json(ladder.json "64x64x8" results 6 ladder tile)
expect("${out}" "keramos +NN")

# With counters where the machine has them; elsewhere a sentence, dashes and null, and the run is good.
file(REMOVE ladder.json)
run(0 ladder --type f32 --size 40 --repetitions 1 --sets 1 --time-limit 0 --provider keramos --counters
    --output ladder.json)
expect("${out}" "DRAM read")
expect_json(ladder.json ON context complete)
file(READ ladder.json json)
string(JSON missing ERROR_VARIABLE counted GET "${json}" context counters_missing)
string(JSON naive_bytes TYPE "${json}" results 0 dram_read_bytes)
if(counted)
  expect("${out}" "\nbytes counted by ")
  expect("${naive_bytes}" "NUMBER")
else()
  expect("${out}" "\nno bytes counted: [^\n]+\n")
  expect("${naive_bytes}" "NULL")
endif()

foreach(arguments IN ITEMS "--tile;12" "--type;f16" "--size;0" "--m;5" "--repetitions;0" "--provider;magic"
                           "--output;none/x.json" "--plot;none/x" "--bogus")
  run(2 ladder ${arguments})
  expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")
  expect("${out}" "^$")
endforeach()
run(0 ladder --help)
expect("${out}" "--tile")
expect("${out}" "--counters")
