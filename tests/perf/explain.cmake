# keramos-perf explain as a user would call it.
#   cmake -DPROGRAM=keramos-perf -P explain.cmake
include(${CMAKE_CURRENT_LIST_DIR}/commands.cmake)

function(explain_json)  # the JSON that these arguments give, in `json`
  run(0 explain --format json ${ARGN})
  set(json "${out}" PARENT_SCOPE)
endfunction()
function(expect_field value)
  string(JSON got GET "${json}" ${ARGN})
  if(NOT got STREQUAL value)
    message(SEND_ERROR "${ARGN} is '${got}' instead of '${value}'")
  endif()
endfunction()

explain_json(--scratch-per-sm 48K --threads-per-sm 2048 --teams-per-sm 16 --tile 16)
expect_field(0.25 tile naive_intensity)
expect_field(4.0 tile intensity)
expect_field(512 tile loads_of_a_phase)
expect_field(8192 tile operations_of_a_phase)
expect_field(16.0 tile reduction)
expect_field(8 occupancy active_teams)
expect_field(threads occupancy limited_by)
expect_field(24 occupancy teams_by scratch)
explain_json(--scratch-per-sm 48K --threads-per-sm 2048 --teams-per-sm 16 --tile 32)
expect_field(2048 tile loads_of_a_phase)
expect_field(65536 tile operations_of_a_phase)
expect_field(2 occupancy active_teams)
explain_json(--scratch-per-sm 48K --threads-per-sm 2048 --teams-per-sm 16 --tile 16 --registers 128)
expect_field(2 occupancy active_teams)
expect_field(registers occupancy limited_by)
explain_json(--device-spec h200-sxm5 --tile 128x128x16 --thread-tile 8x8 --stages 2 --registers 128)
expect_field(2 occupancy active_teams)
expect_field(registers occupancy limited_by)
expect_field("NVIDIA H200 SXM5 141 GB" device)

# The words: what is read aloud from the table.
run(0 explain --scratch-per-sm 48K --threads-per-sm 2048 --teams-per-sm 16 --tile 16)
expect("${out}" "active teams +8 +limited by threads")
expect("${out}" "loads from global memory +512 ")
expect("${out}" "operations +8,192 ")
run(0 explain --device-spec a100-sxm4-40gb --tile 32)
expect("${out}" "ridge point, FLOP/B +12.5")
run(0 explain --device-spec xeon-8480 --type f64)
expect("${out}" "a team is one thread of the host")

# The library's own kernel on the machine at hand.
run(0 explain --type f64 --size 512)
expect("${out}" "keramos::gemm, f64 NN, m x n x k = 512 x 512 x 512")
expect("${out}" "512 x 512 of C: tiled, block tile [0-9]+x[0-9]+x[0-9]+, [0-9]+ stage")
explain_json(--type f32 --size 3)
expect_field(3 library m)
expect_field(3 library plan 0 n)

foreach(arguments IN ITEMS "--tile;0" "--tile;16x16" "--tile;x" "--thread-tile;3x3" "--type;f16" "--stages;0"
                           "--scratch-per-sm;48Q" "--threads-per-sm;-1" "--device-spec;none" "--format;xml"
                           "--op;XX" "--size;1x2" "--bogus" "--registers;-4")
  run(2 explain ${arguments})
  expect("${err}" "^keramos-perf: [^\n]*write [^\n]*\n$")
  expect("${out}" "^$")
endforeach()
run(0 explain --help)
expect("${out}" "--scratch-per-sm")
